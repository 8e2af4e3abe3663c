import { describe, expect, test } from "vitest";
import { KNOWN_PROVIDERS, loadProvider } from "../../providers/index.ts";
import { role as roleAnswer } from "../../providers/sandbox/answers.ts";
import { provider } from "../../providers/sandbox/index.ts";
import { ID } from "../../src/model/ids.ts";
import { STEP_KINDS } from "../../src/model/plan.ts";
import { sourcesIn } from "../../src/runtime/sources.ts";
import { actionOf, bench, PRIYA, steps } from "./sandbox-io.ts";

const key = "k".repeat(52);
const LENA = { id: "usr_1005" };
const found = (value: object) => ({ kind: "found", value, version: expect.stringMatching(/^"\d+"$/) });

describe("authorship", () => {
  const add = steps.group("add_group");

  test("is ours after our change, theirs after somebody decided anew, and nobody's where nothing is recorded", async () => {
    const { session, edit, fault } = await bench();
    const author = () => actionOf(session("read"), "add_group").authorship?.(add, LENA, key);
    expect(await author()).toEqual({ kind: "absent", proof: "complete_scan" });
    await fault("lost_after_commit");
    await actionOf(session("ordinary"), "add_group").send(add, LENA, { key });
    expect(await author()).toEqual({ kind: "found", value: "ours" });
    await edit("group", { email: "usr_1005", op: "add", group: "engineering" });
    expect(await author()).toEqual({ kind: "found", value: "theirs" });
    await fault("truncate_page");
    expect(await author()).toMatchObject({ kind: "unreadable", reason: "truncated" });
  });

  test("an invitation stays ours when the person accepts it", async () => {
    const { session, accept } = await bench();
    await actionOf(session("ordinary"), "invite").send(steps.invite(), { email: PRIYA }, { key });
    await accept(PRIYA);
    const author = actionOf(session("read"), "invite").authorship;
    expect(await author?.(steps.invite(), { email: PRIYA }, key)).toEqual({ kind: "found", value: "ours" });
    expect(await author?.(steps.invite(), { email: PRIYA }, "other")).toEqual({ kind: "found", value: "theirs" });
  });

  test("whoever's request was refused is not the author: whatever is there now, another made it", async () => {
    const { session } = await bench();
    const sensitive = steps.group("add_group", "grp_81");
    await actionOf(session("ordinary"), "add_group").send(sensitive, LENA, { key });
    const author = actionOf(session("read"), "add_group").authorship;
    expect(await author?.(sensitive, LENA, key)).toEqual({ kind: "found", value: "theirs" });
    expect(await author?.(sensitive, LENA, "another")).toMatchObject({ kind: "absent" });
  });

  test("every kind of write is found again in the log", async () => {
    const { session, call } = await bench();
    await call("ordinary", "PUT /groups/grp_77/members/usr_1004");
    const who = { id: "usr_1004", email: "jonas@acme-sandbox.test" };
    const arriving = { email: PRIYA };
    const made = { email: "ana@example.test" };
    const all = [
      [steps.invite(), arriving],
      [steps.cancel(), arriving],
      [steps.account("create_account"), made],
      [steps.role("guest", "member"), who],
      [steps.group("remove_group"), who],
      [steps.license("assign_license"), who],
      [steps.license("remove_license"), who],
      [steps.revoke("revoke_sessions"), who],
      [steps.revoke("revoke_credentials"), { id: "usr_1003" }],
      [steps.account("suspend_account"), who],
      [steps.account("restore_account"), who],
      [steps.account("delete_account"), who],
    ] as const;
    for (const [step, subject] of all) {
      const action = actionOf(session("ordinary"), step.kind);
      expect([step.kind, await action.send(step, subject, { key: step.kind })]).toEqual([
        step.kind,
        expect.objectContaining({ kind: "accepted" }),
      ]);
      expect([step.kind, await action.authorship?.(step, subject, step.kind)]).toEqual([
        step.kind,
        { kind: "found", value: "ours" },
      ]);
    }
  });
});

describe("the tenant as a whole", () => {
  test("a subject is found by id or address, also when suspended or deleted, and proven absent otherwise", async () => {
    const { session, edit } = await bench();
    const read = session("read");
    const lena = { id: "usr_1005", email: "lena@acme-sandbox.test", login: null, status: "active" };
    expect(await read.findSubject({ email: "LENA@acme-sandbox.test" })).toEqual(found(lena));
    expect(await read.findSubject({ id: "usr_1005" })).toEqual(found(lena));
    await edit("user", { email: "usr_1005", op: "delete" });
    expect(await read.findSubject({ email: lena.email })).toMatchObject({ value: { status: "deleted" } });
    expect(await read.findSubject({ email: PRIYA })).toEqual({ kind: "absent", proof: "complete_scan" });
    expect(await read.findSubject({ id: "usr_9" })).toEqual({ kind: "absent", proof: "exact" });
    expect(await read.findSubject({ login: "lena" })).toMatchObject({ kind: "unreadable" });
  });

  test("an address with signs in it finds the one account that has it", async () => {
    const email = "a+b&c%20d#e@example.test";
    const { session } = await bench({
      seed: {
        users: [
          { email, role: "guest" },
          { email: "a@example.test", role: "guest" },
        ],
      },
    });
    expect(await session("read").findSubject({ email })).toMatchObject({ kind: "found", value: { email } });
  });

  test("holders of roles are counted among the active alone, over all pages", async () => {
    const users = Array.from({ length: 230 }, (_, at) => ({
      email: `p${at}@example.test`,
      role: at % 2 === 0 ? "owner" : "guest",
    }));
    const { session, edit } = await bench({ seed: { users } });
    await edit("user", { email: "p0@example.test", op: "suspend" });
    const reading = await session("read").holders(["owner", "admin"]);
    expect(reading).toMatchObject({ kind: "found", value: { length: 114 } });
  });

  test("the account behind the credential: an app, or nobody", async () => {
    const { session } = await bench();
    expect(await session("read").self()).toEqual({ kind: "absent", proof: "exact" });
    expect(await session("privileged").self()).toMatchObject({
      kind: "found",
      value: { id: "app_privileged", email: null },
    });
  });

  test("groups and roles are listed as the tenant has them", async () => {
    const { session } = await bench();
    const groups = await session("read").listGroups();
    expect(groups).toMatchObject({ kind: "found", value: { length: 5 } });
    if (groups.kind === "found")
      expect(groups.value).toContainEqual({ id: "grp_78", name: "platform", membership: "nested" });
    const roles = await session("read").listRoles();
    if (roles.kind === "found")
      expect(roles.value.map((role) => role.id)).toEqual(["guest", "member", "admin", "owner", "billing"]);
  });

  test("an id never reaches another path than its own", async () => {
    const { session, tenant } = await bench();
    await actionOf(session("read"), "set_role").observe(steps.role("member"), { id: "../users?x=1/y" });
    expect(tenant.state().requests[0]?.path).toBe("/users/..%2Fusers%3Fx%3D1%2Fy/role");
  });
});

describe("what is said ahead of any call", () => {
  test("every step kind but one has an action, and the capabilities say the same", async () => {
    const { session } = await bench();
    const there = STEP_KINDS.filter((kind) => session("read").action(kind) !== undefined);
    expect(there).toEqual(STEP_KINDS.filter((kind) => kind !== "remove_member"));
    expect([...provider.capabilities.stepKinds].sort()).toEqual([...there].sort());
  });

  test("how far each step can be taken back, and by what", async () => {
    const { session } = await bench();
    const told = (step: Parameters<ReturnType<typeof actionOf>["describe"]>[0]) => {
      const { undo, reversibility } = actionOf(session("read"), step.kind).describe(step);
      return [step.kind, reversibility, undo];
    };
    expect([
      told(steps.invite()),
      told(steps.role("member")),
      told({ kind: "set_role" }),
      told(steps.group("add_group")),
      told(steps.group("remove_group")),
      told(steps.license("assign_license")),
      told(steps.account("create_account")),
      told(steps.account("suspend_account")),
      told(steps.account("delete_account")),
      told(steps.cancel()),
      told(steps.revoke("revoke_sessions")),
    ]).toEqual([
      ["invite", "compensable", { kind: "cancel_invitation", while: "pending" }],
      ["set_role", "reversible", { kind: "set_role", role: "guest" }],
      ["set_role", "reversible", null],
      ["add_group", "reversible", { kind: "remove_group" }],
      ["remove_group", "reversible", { kind: "add_group" }],
      ["assign_license", "reversible", { kind: "remove_license" }],
      ["create_account", "compensable", { kind: "suspend_account" }],
      ["suspend_account", "reversible", { kind: "restore_account" }],
      ["delete_account", "compensable", { kind: "restore_account" }],
      ["cancel_invitation", "irreversible", null],
      ["revoke_sessions", "irreversible", null],
    ]);
  });

  test("mail is an effect of an invitation only where it is sent", async () => {
    const { session } = await bench();
    const kinds = (mailed: boolean) =>
      actionOf(session("read"), "invite")
        .describe(steps.invite("guest", mailed))
        .effects.map((effect) => effect.kind);
    expect(kinds(true)).toEqual(["mail", "audit_event"]);
    expect(kinds(false)).toEqual(["audit_event"]);
  });

  test("an id that would be a step of a path is none, whoever names it", () => {
    for (const [id, fits] of [
      ["usr:..:1", true],
      ["...", true],
      [".", false],
      ["..", false],
      ["a/b", false],
    ] as const) {
      expect(roleAnswer.safeParse({ user_id: id, role: "guest" }).error === undefined).toBe(fits);
      expect(ID.test(id)).toBe(fits);
    }
  });

  test("addresses are one without case", () => {
    expect(provider.fold({ email: "Priya@Example.test", id: "usr_1" })).toEqual([`email:${PRIYA}`, "id:usr_1"]);
  });
});

describe("loading", () => {
  test("the sandbox is there; of the others the names are known and nothing more", async () => {
    expect((await loadProvider("sandbox", sourcesIn))?.name).toBe("sandbox");
    expect(KNOWN_PROVIDERS).toEqual(["sandbox", "github", "scim", "entra", "google", "slack", "okta"]);
    for (const name of ["github", "okta", "nobody", "constructor", "__proto__"])
      expect(await loadProvider(name, sourcesIn)).toBeUndefined();
  });
});
