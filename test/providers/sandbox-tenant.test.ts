import { describe, expect, test } from "vitest";
import { bench, GUEST, PRIYA } from "./sandbox-io.ts";

const ETAG = /^"\d+"$/;

describe("tokens", () => {
  test("a read token reads and is refused every write", async () => {
    const { call } = await bench();
    expect((await call("read", "GET /users")).status).toBe(200);
    for (const line of ["POST /invitations", "PUT /groups/grp_77/members/usr_1005", "DELETE /users/usr_1005"]) {
      const sent = await call("read", line);
      expect([sent.status, sent.body.code]).toEqual([403, "read_only_token"]);
    }
  });

  test("an unknown token is refused, and the record has no class for it", async () => {
    const { tenant, call } = await bench();
    const sent = await call("read", "GET /users", undefined, { authorization: "Bearer sbx_nobody" });
    expect([sent.status, sent.body.code]).toEqual([401, "unknown_token"]);
    expect(tenant.state().requests[0]).toMatchObject({ token: null, status: 401 });
  });

  test("the ordinary token lacks authority where elevated roles or sensitive memberships are at stake", async () => {
    const { call } = await bench();
    const refusedLines: [string, unknown?][] = [
      ["PUT /users/usr_1003/role", { role: "admin" }],
      ["PUT /users/usr_1003/role", { role: "billing" }],
      ["PUT /users/usr_1002/role", { role: "member" }],
      ["POST /invitations", { ...GUEST, role: "owner" }],
      ["POST /users", { email: PRIYA, role: "admin" }],
      ["PUT /groups/grp_81/members/usr_1005"],
      ["DELETE /groups/grp_81/members/usr_1003"],
    ];
    for (const [line, body] of refusedLines) {
      const sent = await call("ordinary", line, body);
      expect([line, sent.status, sent.body.code]).toEqual([line, 403, "insufficient_authority"]);
      expect([line, (await call("privileged", line, body)).status]).toEqual([line, expect.toSatisfy((s) => s < 300)]);
    }
  });

  test("the ordinary token may do everything else, also to the account of an administrator", async () => {
    const { call } = await bench();
    const lines: [string, unknown?][] = [
      ["PUT /users/usr_1003/role", { role: "guest" }],
      ["DELETE /groups/grp_77/members/usr_1002"],
      ["POST /users/usr_1002/suspend"],
      ["DELETE /users/usr_1002"],
      ["DELETE /users/usr_1003/credentials"],
    ];
    for (const [line, body] of lines) expect([line, (await call("ordinary", line, body)).status]).toEqual([line, 200]);
  });

  test("the account behind a token is an app, a person where the seed says so, or nobody", async () => {
    const seed = {
      users: [{ email: "bot@acme-sandbox.test", role: "admin" }],
      token_users: { privileged: "bot@acme-sandbox.test" },
    };
    const { call } = await bench({ seed });
    expect((await call("read", "GET /me")).body.code).toBe("no_account");
    expect((await call("ordinary", "GET /me")).body).toMatchObject({ id: "app_ordinary", email: null });
    expect((await call("privileged", "GET /me")).body).toMatchObject({
      id: "usr_1938",
      email: "bot@acme-sandbox.test",
    });
  });
});

describe("invitations", () => {
  test("an invitation is pending until the person accepts it, and then names the account", async () => {
    const { call, accept, tenant } = await bench();
    const made = await call("ordinary", "POST /invitations", GUEST);
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ state: "pending", role: "guest", mailed: false, accepted_by: null });
    expect(made.body.redeem_url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/redeem\/\S{20,}$/);
    expect(made.headers.get("etag")).toMatch(ETAG);
    await accept(PRIYA);
    const read = await call("read", `GET /invitations/${made.body.id}`);
    expect(read.body).toMatchObject({ state: "accepted", accepted_by: { id: "usr_1938", email: PRIYA } });
    expect(JSON.stringify(read.body)).not.toContain("redeem");
    expect(tenant.state().users.at(-1)).toEqual({ id: "usr_1938", email: PRIYA, role: "guest", status: "active" });
    expect(tenant.state().invitations).toEqual([
      { id: made.body.id, email: PRIYA, role: "guest", state: "accepted", accepted_by: "usr_1938" },
    ]);
  });

  test("mail goes out only where it was asked for", async () => {
    const { call, tenant } = await bench();
    await call("ordinary", "POST /invitations", GUEST);
    await call("ordinary", "POST /invitations", { ...GUEST, email: "ana@example.test", send_email: true });
    expect(tenant.state().mails).toEqual([{ seq: 1, to: "ana@example.test", kind: "invitation" }]);
  });

  test("an address that is invited or has an account cannot be invited, whatever its case", async () => {
    const { call, accept } = await bench();
    await call("ordinary", "POST /invitations", GUEST);
    const again = { ...GUEST, email: "Priya@Example.test" };
    expect((await call("ordinary", "POST /invitations", again)).body.code).toBe("already_invited");
    await accept(PRIYA);
    const third = await call("ordinary", "POST /invitations", again);
    expect([third.status, third.body.code]).toEqual([409, "already_member"]);
  });

  test("one can be cancelled while it is open, and invited again after that", async () => {
    const { call, accept } = await bench();
    const first = await call("ordinary", "POST /invitations", GUEST);
    expect((await call("ordinary", `DELETE /invitations/${first.body.id}`)).body).toMatchObject({
      state: "cancelled",
      changed: true,
    });
    expect((await call("ordinary", `DELETE /invitations/${first.body.id}`)).body).toMatchObject({ changed: false });
    const second = await call("ordinary", "POST /invitations", GUEST);
    expect(second.body.id).not.toBe(first.body.id);
    const listed = await call("read", `GET /invitations?email=${encodeURIComponent(PRIYA)}`);
    expect(listed.body.items.map((one) => one.state)).toEqual(["pending", "cancelled"]);
    await accept(PRIYA);
    const late = await call("ordinary", `DELETE /invitations/${second.body.id}`);
    expect([late.status, late.body.code]).toEqual([409, "already_accepted"]);
  });

  test("after its deadline it reads expired, with a new version, and nobody can accept it", async () => {
    const { call, accept, tenant } = await bench();
    const made = await call("ordinary", "POST /invitations", {
      ...GUEST,
      accept_by: new Date(Date.now() + 40).toISOString(),
    });
    expect(made.body.state).toBe("pending");
    await new Promise((resolve) => setTimeout(resolve, 60));
    const read = await call("read", `GET /invitations/${made.body.id}`);
    expect(read.body.state).toBe("expired");
    expect(read.headers.get("etag")).not.toBe(made.headers.get("etag"));
    expect((await accept(PRIYA)).status).toBe(409);
    expect(tenant.state().users).toHaveLength(5);
  });

  test("bodies with unknown keys, missing keys or unknown roles are refused", async () => {
    const { call, tenant } = await bench();
    const { send_email: _, ...without } = GUEST;
    for (const body of [{ ...GUEST, groups: [] }, without, { ...GUEST, role: "god" }, { ...GUEST, send_email: "no" }]) {
      expect((await call("ordinary", "POST /invitations", body)).body.code).toBe("invalid_body");
    }
    expect(tenant.state().invitations).toEqual([]);
  });
});

describe("groups", () => {
  test("direct membership is told from what is inherited, and only the direct one has a version", async () => {
    const { call, tenant } = await bench();
    const inherited = await call("read", "GET /groups/grp_77/members/usr_1004");
    expect(inherited.body).toMatchObject({ direct: false, via: ["grp_78"] });
    expect(inherited.headers.get("etag")).toBeNull();
    expect((await call("ordinary", "PUT /groups/grp_77/members/usr_1004")).status).toBe(201);
    const both = await call("read", "GET /groups/grp_77/members/usr_1004");
    expect(both.body).toMatchObject({ direct: true, via: ["direct", "grp_78"] });
    expect(both.headers.get("etag")).toMatch(ETAG);
    await call("ordinary", "DELETE /groups/grp_77/members/usr_1004");
    const members = tenant.state().groups.find((group) => group.id === "grp_77")?.members;
    expect(members?.filter((member) => member.user_id === "usr_1004")).toEqual([
      { user_id: "usr_1004", via: "grp_78" },
    ]);
  });

  test("adding who is there changes nothing, removing who is not there is a 404", async () => {
    const { call } = await bench();
    const before = await call("read", "GET /groups/grp_77/members/usr_1003");
    const again = await call("ordinary", "PUT /groups/grp_77/members/usr_1003");
    expect([again.status, again.body.changed]).toEqual([200, false]);
    expect(again.headers.get("etag")).toBe(before.headers.get("etag"));
    const gone = await call("ordinary", "DELETE /groups/grp_77/members/usr_1005");
    expect([gone.status, gone.body.code]).toEqual([404, "not_a_member"]);
    expect((await call("read", "GET /groups/grp_77/members/usr_1005")).body.code).toBe("not_a_member");
    expect((await call("read", "GET /groups/grp_77/members/usr_9")).body.code).toBe("user_not_found");
    expect((await call("read", "GET /groups/grp_9/members/usr_1005")).body.code).toBe("group_not_found");
  });

  test("groups that a rule or a directory fills refuse writes", async () => {
    const { call, tenant } = await bench();
    const before = tenant.state().groups;
    expect((await call("privileged", "PUT /groups/grp_1/members/usr_1005")).body.code).toBe("managed_by_rule");
    expect((await call("privileged", "DELETE /groups/grp_90/members/usr_1005")).body.code).toBe("managed_by_directory");
    expect(tenant.state().groups).toEqual(before);
  });

  test("everyone who is active is in the group of everyone", async () => {
    const { call, tenant } = await bench();
    const everyone = () =>
      tenant
        .state()
        .groups.find((group) => group.name === "everyone")
        ?.members.map((one) => one.user_id);
    expect(everyone()).toContain("usr_1005");
    await call("ordinary", "POST /users/usr_1005/suspend");
    expect(everyone()).not.toContain("usr_1005");
  });

  test("all memberships of one person are listed, each with its ways", async () => {
    const { call } = await bench();
    const { body } = await call("read", "GET /users/usr_1004/groups");
    expect(body.items.map((item) => [item.group_id, item.via])).toEqual([
      ["grp_77", ["grp_78"]],
      ["grp_1", ["grp_1"]],
      ["grp_78", ["direct"]],
    ]);
  });
});
