import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { startTenant } from "../../providers/sandbox/tenant/index.ts";
import { bench, GUEST, PRIYA } from "./sandbox-io.ts";

const folder = mkdtempSync(join(tmpdir(), "sandbox-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("pages and lag", () => {
  test("pages lead to every item once, the newest first, and a foreign cursor is refused", async () => {
    const users = Array.from({ length: 7 }, (_, at) => ({ email: `p${at}@example.test`, role: "guest" }));
    const { call } = await bench({ seed: { users } });
    const emails: unknown[] = [];
    let next: unknown = "";
    while (next !== null) {
      const { body } = await call("read", `GET /users?limit=3${next === "" ? "" : `&cursor=${next}`}`);
      expect(body.total).toBe(7);
      emails.push(...body.items.map((item) => item.email));
      next = body.next;
    }
    expect(emails).toEqual(users.map((user) => user.email).reverse());
    expect((await call("read", "GET /users?cursor=nonsense")).body.code).toBe("invalid_cursor");
    expect((await call("read", "GET /users?limit=0")).body.code).toBe("invalid_limit");
  });

  test("reads lag behind writes, and writes are checked against the primary", async () => {
    const { call } = await bench({ lagMs: 80 });
    const read = () => call("read", "GET /users/usr_1005/role");
    const old = (await read()).headers.get("etag") ?? "";
    const set = await call("ordinary", "PUT /users/usr_1005/role", { role: "member" });
    expect((await read()).body.role).toBe("guest");
    const stale = await call("ordinary", "PUT /users/usr_1005/role", { role: "guest" }, { "if-match": old });
    expect(stale.status).toBe(412);
    expect((await call("read", "GET /audit")).body.total).toBe(2);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const late = await read();
    expect([late.body.role, late.headers.get("etag")]).toEqual(["member", set.headers.get("etag")]);
  });
});

describe("seeds and state files", () => {
  test("what the state shows is a seed", async () => {
    const first = await bench();
    await first.call("ordinary", "POST /invitations", GUEST);
    const { requests: _, ...state } = first.tenant.state();
    const second = await bench({ seed: JSON.parse(JSON.stringify({ ...state, requests: [] })) });
    expect(second.tenant.state()).toEqual({ ...state, requests: [] });
    expect((await second.call("ordinary", "POST /invitations", { ...GUEST, email: "ana@example.test" })).body.id).toBe(
      "inv_8422",
    );
  });

  test("a seed that does not fit is refused with all that is wrong in it", async () => {
    const wrong = { users: [{ email: "nobody", role: "god" }], colour: 1 };
    await expect(startTenant({ seed: wrong })).rejects.toMatchObject({
      code: "sandbox_seed",
      exit: 2,
      details: { length: 3 },
    });
    const twice = {
      users: [
        { email: PRIYA, role: "guest" },
        { email: PRIYA.toUpperCase(), role: "guest" },
      ],
    };
    await expect(startTenant({ seed: twice })).rejects.toThrow("stands twice");
    const unknown = { users: [], groups: [{ id: "grp_77", name: "engineering", members: [PRIYA] }] };
    await expect(startTenant({ seed: unknown })).rejects.toThrow(`nobody among the users is ${PRIYA}`);
  });

  test("a tenant with a state file goes on where it stood, keys, versions and record included", async () => {
    const stateFile = join(folder, "deep", "state.json");
    const first = await bench({ stateFile });
    const key = { "idempotency-key": "k" };
    const made = await first.call("ordinary", "POST /invitations", GUEST, key);
    const before = first.tenant.state();
    expect(statSync(stateFile).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(stateFile, "utf8")).world.invitations).toHaveLength(1);
    const tokens = first.tenant.tokens;
    await first.tenant.close();
    const second = await bench({ stateFile, tokens });
    expect(second.tenant.state()).toEqual(before);
    const again = await second.call("ordinary", "POST /invitations", GUEST, key);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(again.body.id).toBe(made.body.id);
    const add = await second.call("ordinary", "PUT /groups/grp_77/members/usr_1005");
    expect(Number(add.headers.get("etag")?.slice(1, -1))).toBeGreaterThan(
      Number(made.headers.get("etag")?.slice(1, -1)),
    );
  });

  test("a file that is no state of a sandbox is refused by name", async () => {
    const stateFile = join(folder, "not.json");
    writeFileSync(stateFile, '{"version":1}');
    await expect(startTenant({ stateFile })).rejects.toMatchObject({ code: "sandbox_state", exit: 2 });
    writeFileSync(stateFile, "{");
    await expect(startTenant({ stateFile })).rejects.toThrow(stateFile);
  });
});

describe("start and end", () => {
  test("tokens are drawn anew each time, are told apart by sight, and can be given", async () => {
    const [one, two] = [await bench(), await bench({ tokens: { read: "sbx_read_fixed" } })];
    for (const value of Object.values(one.tenant.tokens))
      expect(value).toMatch(/^sbx_(read|ordinary|privileged|control)_\S{20,}$/);
    expect(new Set([...Object.values(one.tenant.tokens), ...Object.values(two.tenant.tokens)]).size).toBe(8);
    expect(two.tenant.tokens.read).toBe("sbx_read_fixed");
    expect(one.tenant.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  test("closing ends at once, with requests in the air and changes still to come", async () => {
    const { call, fault, tenant } = await bench();
    await fault("delay:5000");
    await fault("commit_late:5000", { action: "role.set" });
    const hanging = call("read", "GET /users").catch(() => "cut");
    while (tenant.state().requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await call("ordinary", "PUT /users/usr_1005/role", { role: "member" }).catch(() => "cut");
    const began = performance.now();
    await tenant.close();
    expect(await hanging).toBe("cut");
    expect(performance.now() - began).toBeLessThan(500);
  });

  test("a port that is taken is an error", async () => {
    const { tenant } = await bench();
    await expect(startTenant({ port: Number(new URL(tenant.url).port) })).rejects.toThrow("EADDRINUSE");
  });
});
