import { describe, expect, test } from "vitest";
import { bench, GUEST, PRIYA } from "./sandbox-io.ts";

describe("versions", () => {
  test("a stale If-Match is refused and changes nothing, the right one goes through", async () => {
    const { call } = await bench();
    const version = (await call("read", "GET /users/usr_1003/role")).headers.get("etag") ?? "";
    const set = (role: string, match: string) =>
      call("ordinary", "PUT /users/usr_1003/role", { role }, { "if-match": match });
    expect((await set("guest", '"1"')).body.code).toBe("precondition_failed");
    expect((await set("guest", version)).status).toBe(200);
    expect((await set("member", version)).status).toBe(412);
    expect((await call("read", "GET /users/usr_1003/role")).body.role).toBe("guest");
  });

  test("If-None-Match: * adds only where nobody is yet", async () => {
    const { call } = await bench();
    const add = (id: string) =>
      call("ordinary", `PUT /groups/grp_77/members/${id}`, undefined, { "if-none-match": "*" });
    expect((await add("usr_1005")).status).toBe(201);
    expect((await add("usr_1005")).body.code).toBe("already_exists");
  });

  test("no version is ever given twice, neither after delete and re-create nor after a reset", async () => {
    const { call, accept } = await bench();
    const seen: string[] = [];
    const note = async (line: string, body?: unknown) => {
      const version = (await call("privileged", line, body)).headers.get("etag");
      if (version !== null) seen.push(version);
    };
    for (let round = 0; round < 3; round++) {
      await note("PUT /groups/grp_81/members/usr_1005");
      await note("DELETE /groups/grp_81/members/usr_1005");
      await note("PUT /users/usr_1005/role", { role: round % 2 === 0 ? "member" : "guest" });
      await note("POST /invitations", { ...GUEST, email: `p${round}@example.test` });
      await accept(`p${round}@example.test`);
      await note("POST /users/usr_1005/suspend");
      await note("POST /users/usr_1005/restore");
      await note("PUT /licenses/lic_1/assignments/usr_1002");
      await note("DELETE /licenses/lic_1/assignments/usr_1002");
    }
    await call("control", "POST /_sandbox/reset");
    await note("PUT /groups/grp_81/members/usr_1005");
    expect(seen).toHaveLength(19);
    expect(new Set(seen).size).toBe(seen.length);
  });
});

describe("accounts, licences and sessions", () => {
  test("who is suspended keeps role, groups and licences and loses the sessions", async () => {
    const { call, tenant } = await bench();
    await call("ordinary", "POST /users/usr_1003/suspend");
    const state = tenant.state();
    expect(state.users.find((user) => user.id === "usr_1003")).toMatchObject({ role: "member", status: "suspended" });
    expect(state.groups.find((group) => group.id === "grp_77")?.members.map((one) => one.user_id)).toContain(
      "usr_1003",
    );
    expect(state.licenses).toEqual([{ id: "lic_1", members: ["usr_1003"] }]);
    expect(state.sessions).toEqual([{ user_id: "usr_1001" }, { user_id: "usr_1004" }]);
    expect((await call("ordinary", "POST /users/usr_1003/restore")).body.status).toBe("active");
  });

  test("a deleted account can be restored for thirty days, unless someone has its address by then", async () => {
    const { call, accept } = await bench();
    const gone = await call("ordinary", "DELETE /users/usr_1005");
    const days = (Date.parse(String(gone.body.restore_until)) - Date.now()) / 86_400_000;
    expect(days).toBeCloseTo(30, 2);
    expect((await call("ordinary", "PUT /users/usr_1005/role", { role: "member" })).body.code).toBe("account_deleted");
    await call("ordinary", "POST /invitations", { ...GUEST, email: "lena@acme-sandbox.test" });
    await accept("lena@acme-sandbox.test");
    expect((await call("ordinary", "POST /users/usr_1005/restore")).body.code).toBe("address_taken");
  });

  test("the last owner is not protected by the tenant", async () => {
    const { call } = await bench();
    expect((await call("privileged", "PUT /users/usr_1001/role", { role: "guest" })).status).toBe(200);
  });

  test("an account can be made, once for an address", async () => {
    const { call } = await bench();
    const made = await call("ordinary", "POST /users", { email: PRIYA, role: "guest" });
    expect([made.status, made.body.id]).toEqual([201, "usr_1938"]);
    expect((await call("ordinary", "POST /users", { email: PRIYA, role: "guest" })).body.code).toBe("already_member");
  });

  test("a licence is for members of the group that it requires, also for inherited ones", async () => {
    const { call } = await bench();
    const put = (id: string) => call("ordinary", `PUT /licenses/lic_1/assignments/${id}`);
    expect((await put("usr_1005")).body.code).toBe("requires_group");
    expect((await put("usr_1004")).status).toBe(201);
    expect((await call("read", "GET /licenses/lic_1/assignments/usr_1004")).body.assigned).toBe(true);
    expect((await call("ordinary", "DELETE /licenses/lic_1/assignments/usr_1004")).status).toBe(200);
    expect((await call("read", "GET /licenses/lic_1/assignments/usr_1004")).body.code).toBe("not_assigned");
  });

  test("sessions and credentials end all at once", async () => {
    const { call } = await bench();
    expect((await call("read", "GET /users/usr_1003/sessions")).body.total).toBe(2);
    expect((await call("ordinary", "DELETE /users/usr_1003/sessions")).body).toMatchObject({
      revoked: 2,
      changed: true,
    });
    expect((await call("read", "GET /users/usr_1003/sessions")).body.total).toBe(0);
    expect((await call("ordinary", "DELETE /users/usr_1003/credentials")).body).toMatchObject({ revoked: 1 });
    expect((await call("ordinary", "DELETE /users/usr_1003/credentials")).body).toMatchObject({
      revoked: 0,
      changed: false,
    });
  });
});

describe("paths", () => {
  test("what is not there is a 404, what cannot be done there a 405, and percent signs name nothing else", async () => {
    const { call } = await bench();
    expect((await call("read", "GET /nothing")).body.code).toBe("unknown_path");
    expect((await call("ordinary", "PATCH /users/usr_1003/role")).status).toBe(405);
    expect((await call("read", "GET /users/usr_1003%2Frole")).body.code).toBe("user_not_found");
    expect((await call("read", "GET /users/%E0%A4%A")).body.code).toBe("user_not_found");
  });

  test("every answer has a request id of its own", async () => {
    const { call, tenant } = await bench();
    const sent = [
      await call("read", "GET /users"),
      await call("read", "GET /nothing"),
      await call("read", "POST /users"),
    ];
    const ids = sent.map((one) => one.headers.get("x-request-id"));
    expect(tenant.state().requests.map((row) => row.request_id)).toEqual(ids);
    expect(new Set(ids).size).toBe(3);
  });
});
