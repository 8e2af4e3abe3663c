import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Desk } from "./desk.ts";
import { type Asked, type Between, closeField, openField, overtaken, sent, told } from "./field-between.ts";
import { accepted, approve, holds, ordinaryOnly, results, rollback, run, undos } from "./path.ts";

let desk: Desk;
let between: Between;
beforeAll(async () => {
  ({ desk, between } = await openField());
  // With the authority for the sensitive group there are three changes to take back.
  desk.edit("provision.yaml", (yaml) => yaml.replace("# privileged:", "privileged:"));
});
afterEach(() => {
  between.calm();
  return desk.tenant.clearFaults();
});
afterAll(() => closeField({ desk, between }));

const ALL = ["engineering", "on-call-readers"];
const BACK = { role: "guest", status: "active", groups: [] };
const ENGINEERING = "group.remove engineering";

/** Role and two groups, all of them changed. */
async function three(email: string): Promise<string> {
  const op = await accepted(desk, email, (yaml) => yaml);
  expect((await run(desk, op)).code).toBe(3);
  await approve(desk, op);
  expect((await run(desk, op)).code).toBe(0);
  expect(await holds(desk, email)).toEqual({ role: "member", status: "active", groups: ALL });
  return op;
}

/** What was sent, each kind once: not found is asked again where the account was made moments ago. */
const kinds = async (from: number) => [...new Set(await sent(desk, from))];

const REFUSALS: [what: string, fault: string, undo: string, code: string, status: string][] = [
  ["forbidden", "status:403", "ready", "fault_403", "403"],
  ["not found, as for want of a permission", "masked_403_as_404", "diverged", "not_found", "404"],
  ["not valid", "status:422", "ready", "fault_422", "422"],
  ["accepted and without effect", "success_without_effect", "ready", "no_effect", "200"],
];

test.each(REFUSALS)(
  "where the second of three compensations is %s, the others go on, it is not rolled back, and a later rollback tries that one alone",
  async (_what, fault, undo, code, status) => {
    const email = `${fault.replaceAll(/\W|_/g, "-")}@example.test`;
    const op = await three(email);
    await desk.tenant.fault(fault, { action: ENGINEERING, times: 100 });
    const before = (await sent(desk)).length;
    const { code: exit, left } = await rollback(desk, op);
    expect([exit, left.state, undos(left).slice(2)]).toEqual([8, "rollback_pending", ["undone", undo, "undone"]]);
    expect(left.blocked).toMatchObject({ step: 4, code, by: "tenant" });
    expect(left.residual_effects[0]).toMatchObject({ step: 4 });
    expect(await kinds(before)).toEqual(["group.remove 200 applied", `group.remove ${status}`, "role.set 200 applied"]);
    expect(await holds(desk, email)).toEqual({ ...BACK, groups: ["engineering"] });

    // Tried once more it is refused once more, and nothing else is touched.
    const second = (await sent(desk)).length;
    const again = await rollback(desk, op);
    expect([again.code, again.left.state]).toEqual([8, "rollback_pending"]);
    expect(await kinds(second)).toEqual([`group.remove ${status}`]);

    await desk.tenant.clearFaults();
    const third = (await sent(desk)).length;
    const last = await rollback(desk, op);
    expect([last.code, last.left.state, undos(last.left).slice(2)]).toEqual([
      0,
      "rolled_back",
      ["undone", "undone", "undone"],
    ]);
    expect(await sent(desk, third)).toEqual(["group.remove 200 applied"]);
    expect(await holds(desk, email)).toEqual(BACK);
  },
);

test("a group is not taken back before the licence that needs it, whose removal is refused; then both are", async () => {
  const email = "licensed@example.test";
  const op = await accepted(desk, email, (yaml) =>
    ordinaryOnly(yaml).replace("preconditions:", "licenses: [pro]\npreconditions:"),
  );
  expect((await run(desk, op)).code).toBe(0);
  await desk.tenant.fault("status:403", { action: "license.remove", times: 100 });
  const before = (await sent(desk)).length;
  const { code, left } = await rollback(desk, op);
  expect([code, undos(left).slice(2)]).toEqual([8, ["undone", "ready", "ready"]]);
  expect(await sent(desk, before)).toEqual(["license.remove 403", "role.set 200 applied"]);
  await desk.tenant.clearFaults();
  expect((await rollback(desk, op)).code).toBe(0);
  expect(await sent(desk, before + 2)).toEqual(["license.remove 200 applied", "group.remove 200 applied"]);
});

test("a way back that the tenant's trouble interrupts says where it stands and why, and the next one goes on", async () => {
  const email = "troubled@example.test";
  const op = await three(email);
  await desk.tenant.fault("throttle:3600", { action: ENGINEERING, times: 100 });
  const { code, left } = await rollback(desk, op);
  expect([code, left.state, undos(left).slice(2)]).toEqual([
    8,
    "rollback_pending",
    ["ready: guest", "ready", "undone"],
  ]);
  expect(left.blocked).toMatchObject({ step: 4, code: "paused", by: "tenant", detail: "Too many requests." });
  expect(Date.parse(left.blocked?.until ?? "") - Date.now()).toBeGreaterThan(3_500_000);
  const seen = await desk.quick("status", op);
  expect(seen.stderr).toContain("Too many requests.");

  // Asked again ahead of its time, the tenant is left in peace.
  const before = (await sent(desk)).length;
  expect((await rollback(desk, op)).code).toBe(8);
  expect(await sent(desk, before)).toEqual([]);
});

test("a token that dies on the way back leaves what is done done and the rest ready", async () => {
  const email = "dies-back@example.test";
  const op = await three(email);
  await desk.tenant.fault("status:401", { action: ENGINEERING, times: 100 });
  const { code, left } = await rollback(desk, op);
  expect([code, left.state, undos(left).slice(2)]).toEqual([
    8,
    "rollback_pending",
    ["ready: guest", "ready", "undone"],
  ]);
  expect(left.blocked).toMatchObject({ step: 4, code: "paused" });
  expect(left.blocked?.detail).toContain("the credential is no longer accepted");
  await desk.tenant.clearFaults();
  const before = (await sent(desk)).length;
  expect((await rollback(desk, op)).code).toBe(0);
  expect(await sent(desk, before)).toEqual(["group.remove 200 applied", "role.set 200 applied"]);
  expect(await holds(desk, email)).toEqual(BACK);
});

test("a group that somebody gave again between our look and our taking it back is theirs", async () => {
  const email = "raced-group@example.test";
  const op = await accepted(desk, email, ordinaryOnly);
  expect((await run(desk, op)).code).toBe(0);
  const add = () => desk.tenant.act("edit/group", { email, op: "add", group: "engineering" });
  const { code, left } = await overtaken(desk, "group.remove", () => rollback(desk, op), add);
  expect([code, left.state, undos(left).slice(2)]).toEqual([8, "rollback_pending", ["undone", "diverged"]]);
  expect(await holds(desk, email)).toEqual({ ...BACK, groups: ["engineering"] });
});

test("a role that somebody set anew between our look and our restoring it is theirs", async () => {
  const email = "raced-role@example.test";
  const op = await accepted(desk, email, ordinaryOnly);
  expect((await run(desk, op)).code).toBe(0);
  const set = async () => {
    for (const role of ["guest", "member"]) await desk.tenant.act("edit/role", { email, role });
  };
  const { code, left } = await overtaken(desk, "role.set", () => rollback(desk, op), set);
  expect([code, left.state, undos(left).slice(2)]).toEqual([8, "rollback_pending", ["diverged", "undone"]]);
  expect(await holds(desk, email)).toEqual({ ...BACK, role: "member" });
});

test("what somebody took back between our look and our taking it back is gone already, and not called ours", async () => {
  const email = "raced-gone@example.test";
  const op = await accepted(desk, email, ordinaryOnly);
  expect((await run(desk, op)).code).toBe(0);
  const remove = () => desk.tenant.act("edit/group", { email, op: "remove", group: "engineering" });
  const { code, left } = await overtaken(desk, "group.remove", () => rollback(desk, op), remove);
  expect([code, left.state, undos(left).slice(2)]).toEqual([0, "rolled_back", ["undone", "already gone"]]);
  expect(await holds(desk, email)).toEqual(BACK);
});

test("somebody who was taken out and put back by hand keeps what the colleague gave, also under an operation that ended", async () => {
  const email = "by-hand-again@example.test";
  const op = await accepted(desk, email, ordinaryOnly);
  expect((await run(desk, op)).code).toBe(0);
  for (const op of ["remove", "add"]) await desk.tenant.act("edit/group", { email, op, group: "engineering" });
  const before = (await sent(desk)).length;
  const { code, left } = await rollback(desk, op);
  expect([code, undos(left)[3]]).toEqual([8, "diverged"]);
  const word = await desk.quick("resolve", op, "--step", "4", "--undo", "--as", "left", "--yes", "--json");
  expect(word.code, word.stdout).toBe(0);
  const over = await rollback(desk, op);
  expect([over.code, over.left.state, undos(over.left)[3]]).toEqual([0, "rolled_back", "left"]);
  expect(over.left.residual_effects[0]).toMatchObject({ step: 4, kind: "left" });
  expect(await sent(desk, before)).toEqual(["role.set 200 applied"]);
  expect(await holds(desk, email)).toEqual({ ...BACK, groups: ["engineering"] });
});

test("an account that was suspended since is still taken back from, and stays suspended", async () => {
  const email = "asleep@example.test";
  const op = await three(email);
  await desk.tenant.act("edit/user", { email, op: "suspend" });
  const { code, left } = await rollback(desk, op);
  expect([code, left.state]).toEqual([0, "rolled_back"]);
  expect(await holds(desk, email)).toEqual({ ...BACK, status: "suspended" });
});

test("taking back never asks for more than the step did: each goes by the credential of its own", async () => {
  const op = await three("classes@example.test");
  const from = (await desk.tenant.writes()).length;
  expect((await rollback(desk, op)).code).toBe(0);
  expect((await desk.tenant.writes()).slice(from).map(({ action, token }) => `${action} ${token}`)).toEqual([
    "group.remove privileged",
    "group.remove ordinary",
    "role.set ordinary",
  ]);
});

test("a compensation whose outcome nobody can read stays in doubt by name, is no success, and is found later", async () => {
  const email = "doubtful-back@example.test";
  const op = await accepted(desk, email, ordinaryOnly);
  expect((await run(desk, op)).code).toBe(0);
  const blind = ({ method }: Asked) => (method === "GET" ? told(404, { code: "not_found" }) : undefined);
  between.after = (asked, answer) => {
    if (asked.method === "DELETE") between.instead = blind;
    return asked.method === "DELETE" ? told(502, { code: "bad_gateway" }) : answer;
  };
  const { code, left } = await rollback(desk, op);
  expect([code, left.state]).toEqual([7, "needs_reconciliation"]);
  expect(left.residual_effects).toContainEqual(expect.objectContaining({ step: 4, kind: "unknown" }));
  between.calm();
  const before = (await sent(desk)).length;
  const again = await rollback(desk, op);
  expect([again.code, again.left.state, results(again.left)[3], undos(again.left)[3]]).toEqual([
    0,
    "rolled_back",
    "added",
    "undone",
  ]);
  expect((await sent(desk, before)).filter((row) => row.startsWith("group"))).toEqual([]);
  expect(await holds(desk, email)).toEqual(BACK);
});

test("the plan of the way back names what it takes and leaves, ahead of anything being sent", async () => {
  const op = await three("previewed@example.test");
  const [before, entries] = [(await sent(desk)).length, await desk.entries()];
  const shown = await desk.quick("rollback", op, "--dry-run", "--json");
  const { compensations } = shown.json<{ compensations: { step: number; action: string; value: string | null }[] }>();
  expect([shown.code, compensations.map(({ step, action, value }) => [step, action, value])]).toEqual([
    0,
    [
      [5, "group.remove", null],
      [4, "group.remove", null],
      [3, "role.set", "guest"],
    ],
  ]);
  expect([await sent(desk, before), await desk.entries()]).toEqual([[], entries]);
});
