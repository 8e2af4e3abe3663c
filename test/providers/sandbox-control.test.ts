import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { bench, GUEST, PRIYA } from "./sandbox-io.ts";

const folder = mkdtempSync(join(tmpdir(), "sandbox-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("what the invited person does", () => {
  test("declines, and the invitation is closed for good", async () => {
    const { call, accept, tenant } = await bench();
    await call("ordinary", "POST /invitations", GUEST);
    expect((await call("control", "POST /_sandbox/decline", { email: PRIYA })).body.state).toBe("declined");
    const late = await accept(PRIYA);
    expect([late.status, late.body.message]).toEqual([409, `The invitation of ${PRIYA} is declined.`]);
    expect(tenant.state().users).toHaveLength(5);
  });

  test("redeems with another address: an account is made for that one, and it is named", async () => {
    const { call, accept, tenant } = await bench();
    await call("ordinary", "POST /invitations", GUEST);
    const { body } = await accept(PRIYA, "someone@elsewhere.test");
    expect(body.accepted_by).toEqual({ id: "usr_1938", email: "someone@elsewhere.test" });
    expect(tenant.state().users.some((user) => user.email === PRIYA)).toBe(false);
  });

  test("redeems with an account that exists: it joins as it is", async () => {
    const { call, accept, tenant } = await bench();
    await call("ordinary", "POST /invitations", GUEST);
    const { body } = await accept(PRIYA, "mira@acme-sandbox.test");
    expect(body.accepted_by).toEqual({ id: "usr_1003", email: "mira@acme-sandbox.test" });
    expect(tenant.state().users).toHaveLength(5);
    expect(tenant.state().users.find((user) => user.id === "usr_1003")?.role).toBe("member");
  });

  test("cannot accept what was never sent, or what ran out", async () => {
    const { call, accept } = await bench();
    const never = await accept(PRIYA);
    expect([never.status, never.body.message]).toEqual([404, `Nobody invited ${PRIYA}.`]);
    await call("ordinary", "POST /invitations", GUEST);
    await call("control", "POST /_sandbox/expire", { email: PRIYA });
    expect((await accept(PRIYA)).status).toBe(409);
  });
});

describe("what another administrator does", () => {
  test("sets a role without limit of authority, and gives it a new version even where it was so", async () => {
    const { call, edit } = await bench();
    const version = async () => (await call("read", "GET /users/usr_1005/role")).headers.get("etag");
    const first = await version();
    expect((await edit("role", { email: "lena@acme-sandbox.test", role: "owner" })).body.role).toBe("owner");
    const second = await version();
    await edit("role", { email: "usr_1005", role: "owner" });
    expect(new Set([first, second, await version()]).size).toBe(3);
  });

  test("affirms a membership, which is then a decision of its own with a version of its own", async () => {
    const { call, edit } = await bench();
    const version = async () => (await call("read", "GET /groups/grp_77/members/usr_1003")).headers.get("etag");
    const before = await version();
    expect((await edit("group", { email: "mira@acme-sandbox.test", op: "add", group: "engineering" })).status).toBe(
      200,
    );
    expect(await version()).not.toBe(before);
    const { body } = await call("read", "GET /audit?target=group:grp_77/member:usr_1003");
    expect(body.items[0]).toMatchObject({ actor: "administrator", idempotency_key: null, token: null, applied: true });
  });

  test("removes, suspends, restores, deletes and renames", async () => {
    const { edit, tenant } = await bench();
    const jonas = () => tenant.state().users.find((user) => user.id === "usr_1004");
    await edit("group", { email: "jonas@acme-sandbox.test", op: "remove", group: "platform" });
    expect(tenant.state().groups.find((group) => group.name === "platform")?.members).toEqual([]);
    for (const [op, status] of [
      ["suspend", "suspended"],
      ["restore", "active"],
      ["delete", "deleted"],
    ] as const) {
      await edit("user", { email: "jonas@acme-sandbox.test", op });
      expect(jonas()?.status).toBe(status);
    }
    await edit("user", { email: "jonas@acme-sandbox.test", op: "restore" });
    await edit("user", { email: "jonas@acme-sandbox.test", op: "rename", to: "jon@acme-sandbox.test" });
    expect(jonas()?.email).toBe("jon@acme-sandbox.test");
    expect((await edit("user", { email: "usr_1004", op: "rename", to: "mira@acme-sandbox.test" })).body.code).toBe(
      "address_taken",
    );
  });

  test("is told who and what is not there", async () => {
    const { edit } = await bench();
    const nobody = await edit("role", { email: "nobody@example.test", role: "guest" });
    expect([nobody.status, nobody.body.message]).toEqual([
      404,
      "No account has the address or id nobody@example.test.",
    ]);
    const nowhere = await edit("group", { email: "usr_1004", op: "add", group: "enginering" });
    expect([nowhere.status, nowhere.body.message]).toEqual([
      404,
      expect.stringContaining("engineering, on-call-readers"),
    ]);
    expect((await edit("role", { email: "usr_1004", role: "god" })).status).toBe(400);
    expect((await edit("group", { email: "usr_1004", op: "toggle", group: "engineering" })).status).toBe(400);
    expect((await edit("user", { email: "usr_1004", op: "rename" })).status).toBe(400);
  });

  test("needs the control token, and leaves no line in the record", async () => {
    const { call, edit, tenant } = await bench();
    for (const as of ["read", "ordinary", "privileged"] as const)
      expect((await call(as, "GET /_sandbox/state")).status).toBe(401);
    await edit("role", { email: "usr_1004", role: "guest" });
    expect(tenant.state().requests).toEqual([]);
  });
});

describe("the record and the state", () => {
  test("the state over HTTP is the whole truth, in the promised shape", async () => {
    const { call, tenant } = await bench();
    await call("ordinary", "PUT /groups/grp_77/members/usr_1005?why=a%20b", undefined, {
      "idempotency-key": "k",
      "if-match": "*",
    });
    await call("read", "GET /users?email=a%2Bb@example.test");
    const { body } = await call("control", "GET /_sandbox/state");
    expect(body).toEqual(tenant.state());
    expect(Object.keys(body)).toEqual(["users", "groups", "invitations", "licenses", "sessions", "mails", "requests"]);
    expect(body.groups).toContainEqual({
      id: "grp_90",
      name: "contractors",
      members: [{ user_id: "usr_1005", via: "grp_90" }],
    });
    expect(tenant.state().requests).toEqual([
      {
        seq: 1,
        at: expect.stringMatching(/^\d{4}-.*Z$/),
        method: "PUT",
        path: "/groups/grp_77/members/usr_1005?why=a%20b",
        action: "group.add",
        token: "ordinary",
        idempotency_key: "k",
        if_match: "*",
        status: 412,
        applied: false,
        request_id: expect.stringMatching(/^req_\d+$/),
      },
      expect.objectContaining({
        seq: 2,
        path: "/users?email=a%2Bb@example.test",
        action: null,
        token: "read",
        status: 200,
      }),
    ]);
  });

  test("a reset brings back the seed and forgets requests, keys, mails and faults", async () => {
    const { call, fault, tenant } = await bench();
    const before = tenant.state();
    const key = { "idempotency-key": "k" };
    await call("ordinary", "POST /invitations", { ...GUEST, send_email: true }, key);
    await fault("status:500");
    await call("control", "POST /_sandbox/reset");
    expect(tenant.state()).toEqual(before);
    const again = await call("ordinary", "POST /invitations", GUEST, key);
    expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([201, null]);
  });

  test("the audit log names token, key and request of every change, and of every refusal", async () => {
    const { call } = await bench();
    const sent = await call("ordinary", "PUT /groups/grp_77/members/usr_1005", undefined, { "idempotency-key": "k" });
    await call("ordinary", "PUT /groups/grp_81/members/usr_1005", undefined, { "idempotency-key": "m" });
    const { body } = await call("read", "GET /audit?key=k");
    expect(body.items).toEqual([
      {
        id: "aud_1",
        at: expect.any(String),
        token: "ordinary",
        actor: "app_ordinary",
        action: "group.add",
        target: "group:grp_77/member:usr_1005",
        idempotency_key: "k",
        request_id: sent.headers.get("x-request-id"),
        applied: true,
        status: 201,
      },
    ]);
    expect((await call("read", "GET /audit?key=m")).body.items).toMatchObject([{ applied: false, status: 403 }]);
  });
});
