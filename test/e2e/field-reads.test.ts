import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Desk } from "./desk.ts";
import {
  type Asked,
  altered,
  type Between,
  closeField,
  colleague,
  invitationsOf,
  openField,
  perhapsThere,
  sent,
  type Told,
  told,
} from "./field-between.ts";
import { accepted, approve, holds, ordinaryOnly, plan, results, rollback, run, undos } from "./path.ts";

let desk: Desk;
let between: Between;
beforeAll(async () => {
  ({ desk, between } = await openField());
});
afterEach(() => {
  between.calm();
  return desk.tenant.clearFaults();
});
afterAll(() => closeField({ desk, between }));

const DONE = { role: "member", status: "active", groups: ["engineering"] };
const BACK = { role: "guest", status: "active", groups: [] };
const FOREIGN = {
  id: "usr_1003",
  email: "mira@example.test",
  role: "member",
  status: "active",
  restore_until: null,
  etag: '"1"',
};

interface Page {
  items: object[];
  next?: string | null;
  total: number;
}

const isList = ({ method, path }: Asked) => method === "GET" && path.includes("email=");
const shortened = (page: Page) => ({ ...page, items: page.items.slice(1), next: null });

/** What a read of a list can look like without being the whole list that was asked for. */
const LIES: [string, string, (asked: Asked, answer: Told) => Told][] = [
  [
    "is cut",
    "truncated",
    (_, answer) => altered(answer, (page: Page) => (page.items.length > 0 ? shortened(page) : { ...page, total: 1 })),
  ],
  ["does not say where it ends", "truncated", (_, answer) => altered(answer, ({ next: _next, ...page }: Page) => page)],
  [
    "was not filtered as asked",
    "filter_ignored",
    (asked, answer) =>
      asked.path.startsWith("/users")
        ? altered(answer, (page: Page) => ({ ...page, items: [...page.items, FOREIGN], total: page.total + 1 }))
        : answer,
  ],
  [
    "has a status that nobody documented",
    "malformed",
    (_, answer) => altered(answer, (page: Page) => ({ ...page, status: "ok" })),
  ],
  [
    "is not found, as for want of a permission,",
    "forbidden",
    () => told(404, { code: "not_found", message: "Not found." }),
  ],
  ["breaks off", "malformed", (_, answer) => ({ ...answer, body: answer.body.slice(0, -4) })],
];

test.each(LIES)(
  "a list that %s proves nothing: there is no plan, no end of the wait, and nothing gone already",
  async (what, reason, lie) => {
    const email = `${what.replaceAll(/\W/g, "-").slice(0, 24)}@example.test`;
    const lying = () => {
      between.after = (asked, answer) => (isList(asked) ? lie(asked, answer) : answer);
    };
    lying();
    const planned = await desk.quick("plan", desk.request(email, ordinaryOnly), "--json");
    expect(planned.code).toBe(12);
    expect(planned.json<{ error: object }>().error).toMatchObject({ code: "unreadable", details: [{ code: reason }] });

    between.calm();
    const op = await plan(desk, email);
    await approve(desk, op);
    expect((await run(desk, op)).code).toBe(4);
    lying();
    const before = (await sent(desk)).length;
    const waiting = await run(desk, op);
    expect([waiting.code, waiting.left.state, waiting.left.blocked?.step]).toEqual([12, "paused", 2]);
    expect(waiting.left.blocked?.detail).toContain(reason);

    const back = await rollback(desk, op);
    expect([back.code, back.left.state, undos(back.left)[0]]).toEqual([8, "rollback_pending", "ready: cancel"]);
    expect(back.left.blocked).toMatchObject({ step: 1, code: "paused", detail: expect.stringContaining(reason) });
    expect(await sent(desk, before)).toEqual([]);
    expect(await invitationsOf(desk, email)).toEqual(["guest pending"]);

    between.calm();
    expect((await rollback(desk, op)).code).toBe(0);
    expect(await invitationsOf(desk, email)).toEqual(["guest cancelled"]);
  },
);

test("where a list was empty by mistake the tenant refuses the invitation, and nothing comes of it", async () => {
  const email = "overlooked@example.test";
  await colleague(desk, "POST", "/users", { email, role: "billing" });
  between.after = (asked, answer) => (isList(asked) ? told(200, { items: [], next: null, total: 0 }) : answer);
  const op = await plan(desk, email);
  await approve(desk, op);
  const { code, left } = await run(desk, op);
  expect([code, left.state, left.blocked?.code]).toEqual([6, "diverged", "already_member"]);
  between.calm();
  expect((await run(desk, op)).code).toBe(6);
  expect((await rollback(desk, op)).code).toBe(0);
  expect(await holds(desk, email)).toMatchObject({ role: "billing", status: "active" });
  expect(await invitationsOf(desk, email)).toEqual([]);
});

test("a membership that is not found for want of a permission is neither absent before the write nor gone after it", async () => {
  const email = "masked@example.test";
  const op = await accepted(desk, email);
  const masked: Between["instead"] = ({ method, path }) =>
    method === "GET" && path.startsWith("/groups/grp_77/members/") ? told(404, { code: "not_found" }) : undefined;
  between.instead = masked;
  let before = (await sent(desk)).length;
  const { code, left } = await run(desk, op);
  expect([code, left.state, left.blocked?.step]).toEqual([12, "paused", 4]);
  expect(left.blocked?.detail).toContain("proves no absence");
  expect(await sent(desk, before)).toEqual(["role.set 200 applied"]);

  between.calm();
  expect((await run(desk, op)).code).toBe(0);
  between.instead = masked;
  before = (await sent(desk)).length;
  const back = await rollback(desk, op);
  expect([back.code, back.left.state, undos(back.left)[3]]).toEqual([8, "rollback_pending", "ready"]);
  expect(back.left.blocked).toMatchObject({ step: 4, code: "paused" });
  expect(await sent(desk, before)).toEqual([]);
  expect(await holds(desk, email)).toEqual(DONE);

  between.calm();
  expect((await rollback(desk, op)).code).toBe(0);
  expect(await holds(desk, email)).toEqual(BACK);
});

test("an absence that is told by its right name counts only where the same token sees the account", async () => {
  const op = await accepted(desk, "uncontrolled@example.test");
  between.instead = ({ method, path }) => {
    if (method !== "GET") return undefined;
    if (path.startsWith("/groups/")) return told(404, { code: "not_a_member", message: "No member." });
    return /^\/users\/usr_\d+$/.test(path) ? told(404, { code: "not_found", message: "Not found." }) : undefined;
  };
  const before = (await sent(desk)).length;
  const { code, left } = await run(desk, op);
  expect([code, left.state, left.blocked?.step]).toEqual([12, "paused", 4]);
  expect(await sent(desk, before)).toEqual(["role.set 200 applied"]);
});

test("a group that is gone by its id is no group of the same name, and nothing is sent for it", async () => {
  const op = await accepted(desk, "no-group@example.test");
  between.instead = ({ path }) =>
    path.startsWith("/groups/grp_77/")
      ? told(404, { code: "group_not_found", message: "There is no group." })
      : undefined;
  const before = (await sent(desk)).length;
  const { code, left } = await run(desk, op);
  expect([code, left.state, left.blocked?.step]).toEqual([12, "paused", 4]);
  expect(left.blocked?.detail).toContain("group_not_found");
  expect(await sent(desk, before)).toEqual(["role.set 200 applied"]);
});

test("an account that is in no list any more, and whose id answers, is found by its id on the way back", async () => {
  const email = "unlisted@example.test";
  const op = await accepted(desk, email);
  expect((await run(desk, op)).code).toBe(0);
  between.after = (asked, answer) => (isList(asked) ? told(200, { items: [], next: null, total: 0 }) : answer);
  const seen = await desk.quick("status", op, "--refresh", "--json");
  expect(seen.code).toBe(6);
  expect((await rollback(desk, op)).code).toBe(0);
  expect(await holds(desk, email)).toEqual(BACK);
});

test("a refresh that cannot read says so, and calls nothing the same or different", async () => {
  const op = await accepted(desk, "unrefreshed@example.test");
  expect((await run(desk, op)).code).toBe(0);
  between.instead = () => told(404, { code: "not_found", message: "Not found." });
  const seen = await desk.quick("status", op, "--refresh", "--json");
  const { refreshed } = seen.json<{ refreshed: { verdict: string }[] }>();
  expect([seen.code, new Set(refreshed.map(({ verdict }) => verdict))]).toEqual([12, new Set(["unreadable"])]);
});

const token = (name: string) => desk.file(`.provision/sandbox/${name}.token`);

test("a read credential that is dead is named as such, ahead of anything about the person, and nothing is lost by it", async () => {
  const email = "dead-reader@example.test";
  const op = await accepted(desk, email);
  const good = readFileSync(token("read"), "utf8");
  writeFileSync(token("read"), "sbx_nobody\n");
  const planned = await desk.quick("plan", desk.request("dead-plan@example.test", ordinaryOnly), "--json");
  expect([planned.code, planned.stdout]).toEqual([12, expect.stringContaining("the credential is no longer accepted")]);
  const { code, left } = await run(desk, op);
  expect([code, left.state, left.blocked?.step]).toEqual([12, "paused", 2]);
  expect(left.blocked?.detail).toContain("the credential is no longer accepted");
  writeFileSync(token("read"), good);
  expect((await run(desk, op)).code).toBe(0);
  expect(await holds(desk, email)).toEqual(DONE);
});

test("a token that dies in the middle of a run pauses it: the step is open, not denied, and the next run goes on", async () => {
  const email = "dies@example.test";
  const op = await accepted(desk, email);
  await desk.tenant.fault("status:401", { action: "group.add", times: 100 });
  const before = (await sent(desk)).length;
  const { code, left } = await run(desk, op);
  expect([code, left.state, results(left).slice(2)]).toEqual([12, "paused", ["changed", "-"]]);
  expect(left.blocked?.detail).toContain("the credential is no longer accepted");
  // Refreshed once, tried once more, and no other class.
  expect(await sent(desk, before)).toEqual(["role.set 200 applied", "group.add 401", "group.add 401"]);
  await desk.tenant.clearFaults();
  expect((await run(desk, op)).code).toBe(0);
  expect(await holds(desk, email)).toEqual(DONE);
});

test("a token that lapses while an invitation is open is read anew by the run that finds it accepted", async () => {
  const email = "renewed@example.test";
  const op = await accepted(desk, email);
  const good = readFileSync(token("ordinary"), "utf8");
  writeFileSync(token("ordinary"), "sbx_lapsed\n");
  const { code, left } = await run(desk, op);
  expect([code, left.state, results(left).slice(1)]).toEqual([12, "paused", ["observed", "-", "-"]]);
  expect(left.blocked?.detail).toContain("the credential is no longer accepted");
  writeFileSync(token("ordinary"), good);
  expect((await run(desk, op)).code).toBe(0);
  expect(await holds(desk, email)).toEqual(DONE);
});

test.each(["ordinary", "read"])("no way back is begun with a dead %s token", async (name) => {
  const email = `dead-${name}@example.test`;
  const op = await accepted(desk, email);
  expect((await run(desk, op)).code).toBe(0);
  const good = readFileSync(token(name), "utf8");
  writeFileSync(token(name), "sbx_dead\n");
  const [entries, before] = [await desk.entries(), (await sent(desk)).length];
  const { code, left } = await rollback(desk, op);
  expect([code, left.state, left.error?.code]).toEqual([12, "completed", "credential_dead"]);
  expect([await desk.entries(), await sent(desk, before)]).toEqual([entries, []]);
  writeFileSync(token(name), good);
  expect((await rollback(desk, op)).code).toBe(0);
  expect(await holds(desk, email)).toEqual(BACK);
});

test("a plan for somebody with an account is not made where one of its readings failed", async () => {
  const email = "half-read@example.test";
  await colleague(desk, "POST", "/users", { email, role: "guest" });
  between.instead = ({ path }) => (path.startsWith("/groups/grp_77/") ? told(403, { code: "scope" }) : undefined);
  const planned = await desk.quick("plan", desk.request(email, perhapsThere), "--json");
  expect(planned.code).toBe(12);
  expect(planned.json<{ error: object }>().error).toMatchObject({
    details: [{ path: "group grp_77", code: "forbidden" }],
  });
});
