import { describe, expect, test } from "vitest";
import { actionOf, bench, GUEST, PRIYA, steps } from "./sandbox-io.ts";

const key = "k".repeat(52);
const LENA = { id: "usr_1005" };
const found = (value: object) => ({ kind: "found", value, version: expect.stringMatching(/^"\d+"$/) });
const accepted = { kind: "accepted", status: expect.any(Number), version: expect.stringMatching(/^"\d+"$/) };

describe("the step of an invitation", () => {
  const subject = { email: PRIYA };

  test("nothing is there: found, and empty", async () => {
    const { session } = await bench();
    expect(await actionOf(session("read"), "invite").observe(steps.invite(), subject)).toEqual({
      kind: "found",
      value: { of: "invitation", invitation: null, account: null },
    });
  });

  test("is sent, seen pending, then accepted by the account that the tenant names", async () => {
    const { session, accept, tenant } = await bench();
    const reply = await actionOf(session("ordinary"), "invite").send(steps.invite("guest", true), subject, { key });
    expect(reply).toEqual({ ...accepted, status: 201, remoteId: "inv_8421" });
    const pending = { id: "inv_8421", status: "pending", role: "guest", accepted_by: null, mailed: true };
    const observe = () => actionOf(session("read"), "wait_for_acceptance").observe(steps.wait(), subject);
    expect(await observe()).toEqual(found({ of: "invitation", invitation: pending, account: null }));
    await accept(PRIYA, "other@elsewhere.test");
    const accepted_by = { id: "usr_1938", email: "other@elsewhere.test" };
    expect(await observe()).toEqual(
      found({ of: "invitation", invitation: { ...pending, status: "accepted", accepted_by }, account: null }),
    );
    expect(tenant.state().requests.filter((row) => row.action !== null)).toMatchObject([
      { action: "invitation.create", idempotency_key: key, applied: true, token: "ordinary" },
    ]);
  });

  test("the link to redeem it leaves no trace in what the provider gives back", async () => {
    const { session, fault } = await bench();
    const all: unknown[] = [];
    for (const kind of ["error_though_applied", "lost_after_commit", "malformed_body", "async:1", "delay:1"]) {
      await fault(kind, { action: "invitation.create" });
      const who = { email: `${kind.slice(0, 3)}@example.test` };
      const action = actionOf(session("ordinary"), "invite");
      all.push(
        await action.send(steps.invite(), who, { key: kind }),
        await action.send(steps.invite(), who, { key: kind }),
      );
      all.push(await action.observe(steps.invite(), who));
    }
    expect(JSON.stringify(all)).not.toContain("redeem");
  });

  test("the newest one counts, and the account beside it", async () => {
    const { session, call, accept } = await bench();
    await call("ordinary", "POST /invitations", GUEST);
    await call("control", "POST /_sandbox/decline", { email: PRIYA });
    await call("ordinary", "POST /invitations", GUEST);
    await accept(PRIYA);
    const reading = await actionOf(session("read"), "invite").observe(steps.invite(), subject);
    expect(reading).toMatchObject({
      value: {
        invitation: { id: "inv_8422", status: "accepted" },
        account: { id: "usr_1938", email: PRIYA, status: "active" },
      },
    });
  });

  test("is cancelled by the version that was read, and only that one", async () => {
    const { session, call, tenant } = await bench();
    const cancel = (ifVersion: string, again: string) =>
      actionOf(session("ordinary"), "cancel_invitation").send(steps.cancel(), subject, { key: again, ifVersion });
    expect(await cancel('"1"', "a")).toMatchObject({ kind: "gone", code: "invitation_not_found" });
    const made = await call("ordinary", "POST /invitations", GUEST);
    expect(await cancel('"1"', "b")).toMatchObject({ kind: "conflict", status: 412 });
    expect(await cancel(made.headers.get("etag") ?? "", "c")).toEqual({ ...accepted, status: 200 });
    expect(tenant.state().invitations[0]?.state).toBe("cancelled");
    expect(await cancel('"1"', "d")).toMatchObject({ kind: "conflict", code: "unchanged" });
  });

  test("where the list cannot be read, nothing is cancelled and it is known that nothing was sent", async () => {
    const { session, call, fault, tenant } = await bench();
    await call("ordinary", "POST /invitations", GUEST);
    await fault("truncate_page");
    const reply = await actionOf(session("ordinary"), "cancel_invitation").send(steps.cancel(), subject, { key });
    expect(reply).toMatchObject({ kind: "not_sent", detail: expect.stringContaining("truncated") });
    expect(tenant.state().invitations[0]?.state).toBe("pending");
  });
});

describe("the steps of an account", () => {
  test("role: read with its version, set under that version, refused under an older one", async () => {
    const { session, edit } = await bench();
    const observe = () => actionOf(session("read"), "set_role").observe(steps.role("member"), LENA);
    const before = await observe();
    expect(before).toEqual(found({ of: "role", role: "guest" }));
    const ifVersion = "version" in before ? (before.version ?? "") : "";
    await edit("role", { email: "usr_1005", role: "guest" });
    const send = (version: string, again: string) =>
      actionOf(session("ordinary"), "set_role").send(steps.role("member"), LENA, { key: again, ifVersion: version });
    expect(await send(ifVersion, "a")).toMatchObject({ kind: "conflict", status: 412, code: "precondition_failed" });
    const now = await observe();
    expect(await send("version" in now ? (now.version ?? "") : "", "b")).toEqual({ ...accepted, status: 200 });
    expect(await observe()).toEqual(found({ of: "role", role: "member" }));
  });

  test("elevated role and sensitive group: denied to the ordinary token, done by the privileged one", async () => {
    const { session } = await bench();
    for (const step of [steps.role("admin"), steps.group("add_group", "grp_81")]) {
      const send = (as: "ordinary" | "privileged") =>
        actionOf(session(as), step.kind).send(step, LENA, { key: step.kind + as });
      expect(await send("ordinary")).toMatchObject({ kind: "denied", status: 403, code: "insufficient_authority" });
      expect(await send("privileged")).toMatchObject({ kind: "accepted" });
    }
  });

  test("group: absent, added, found, removed, absent; an inherited membership is not a direct one", async () => {
    const { session } = await bench();
    const add = steps.group("add_group");
    const remove = steps.group("remove_group");
    const observe = (who = LENA) => actionOf(session("read"), "add_group").observe(add, who);
    const absent = { kind: "absent", proof: "exact" };
    expect(await observe({ id: "usr_1004" })).toEqual(absent);
    expect(await observe()).toEqual(absent);
    const added = await actionOf(session("ordinary"), "add_group").send(add, LENA, { key: "a" });
    expect(added).toEqual({ ...accepted, status: 201 });
    const there = await observe();
    expect(there).toEqual(found({ of: "membership", member: true }));
    const ifVersion = "version" in there ? (there.version ?? "") : "";
    const removed = await actionOf(session("ordinary"), "remove_group").send(remove, LENA, { key: "b", ifVersion });
    expect(removed).toMatchObject({ kind: "accepted", status: 200 });
    expect(await observe()).toEqual(absent);
    const again = await actionOf(session("ordinary"), "remove_group").send(remove, LENA, { key: "c" });
    expect(again).toMatchObject({ kind: "gone", code: "not_a_member" });
  });

  test("whoever is added by another meanwhile is not taken for ours, also where the guard is ignored", async () => {
    const { session, edit, fault } = await bench();
    const add = steps.group("add_group");
    const send = (again: string) => actionOf(session("ordinary"), "add_group").send(add, LENA, { key: again });
    await edit("group", { email: "usr_1005", op: "add", group: "engineering" });
    expect(await send("a")).toMatchObject({ kind: "conflict", code: "already_exists" });
    await fault("ignore_if_match");
    expect(await send("b")).toMatchObject({ kind: "conflict", code: "unchanged" });
    const author = actionOf(session("read"), "add_group").authorship;
    expect(await author?.(add, LENA, "b")).toEqual({ kind: "found", value: "theirs" });
  });

  test("licence: absent, assigned, removed; refused to who lacks the group", async () => {
    const { session, call } = await bench();
    const assign = steps.license("assign_license");
    const observe = () => actionOf(session("read"), "assign_license").observe(assign, LENA);
    const send = (again: string) => actionOf(session("ordinary"), "assign_license").send(assign, LENA, { key: again });
    expect(await observe()).toEqual({ kind: "absent", proof: "exact" });
    expect(await send("a")).toMatchObject({ kind: "rejected", status: 422, code: "requires_group" });
    await call("ordinary", "PUT /groups/grp_77/members/usr_1005");
    expect(await send("b")).toEqual({ ...accepted, status: 201 });
    expect(await observe()).toEqual(found({ of: "license", assigned: true }));
    const remove = steps.license("remove_license");
    expect(await actionOf(session("ordinary"), "remove_license").send(remove, LENA, { key: "c" })).toMatchObject({
      kind: "accepted",
    });
    expect(await observe()).toEqual({ kind: "absent", proof: "exact" });
  });

  test("sessions and credentials: counted, revoked, absent by a whole list", async () => {
    const { session } = await bench();
    for (const [kind, of, count] of [
      ["revoke_sessions", "sessions", 2],
      ["revoke_credentials", "credentials", 1],
    ] as const) {
      const step = steps.revoke(kind);
      const observe = () => actionOf(session("read"), kind).observe(step, { id: "usr_1003" });
      expect(await observe()).toEqual({ kind: "found", value: { of, count } });
      expect(await actionOf(session("ordinary"), kind).send(step, { id: "usr_1003" }, { key: kind })).toMatchObject({
        kind: "accepted",
      });
      expect(await observe()).toEqual({ kind: "absent", proof: "complete_scan" });
    }
  });

  test("an account is created, suspended, restored and deleted, each under its version", async () => {
    const { session } = await bench();
    const subject: { email: string; id?: string } = { email: PRIYA };
    const observe = (kind: "create_account" | "suspend_account") =>
      actionOf(session("read"), kind).observe(steps.account(kind), subject);
    expect(await observe("create_account")).toEqual({ kind: "absent", proof: "complete_scan" });
    const made = await actionOf(session("ordinary"), "create_account").send(steps.account("create_account"), subject, {
      key: "a",
    });
    expect(made).toEqual({ ...accepted, status: 201, remoteId: "usr_1938" });
    expect(await observe("create_account")).toEqual(found({ of: "account", id: "usr_1938", status: "active" }));
    subject.id = "usr_1938";
    let version = made.kind === "accepted" ? (made.version ?? "") : "";
    for (const [kind, status] of [
      ["suspend_account", "suspended"],
      ["restore_account", "active"],
      ["delete_account", "deleted"],
    ] as const) {
      const reply = await actionOf(session("ordinary"), kind).send(steps.account(kind), subject, {
        key: kind,
        ifVersion: version,
      });
      expect([kind, reply]).toEqual([kind, { ...accepted, status: 200 }]);
      version = reply.kind === "accepted" ? (reply.version ?? "") : "";
      expect(await observe("suspend_account")).toMatchObject({
        value: { of: "account", id: "usr_1938", status },
        version,
      });
    }
    expect(await observe("suspend_account")).toMatchObject({ value: { restore_until: expect.stringMatching(/Z$/) } });
  });
});
