import { afterAll, beforeAll, expect, test } from "vitest";
import { type Answer, type Desk, endDesk, openDesk } from "./desk.ts";
import { accepted, approve, ordinaryOnly, plan, rollback, run } from "./path.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => endDesk(desk));

/** Entries of the journal, and all that the tenant holds and got: what a second command must leave as it is. */
async function everything() {
  return { entries: await desk.entries(), tenant: await desk.tenant.state() };
}

/** Does it once more, and gives what was said; nothing may be other than before. */
async function again(...args: string[]): Promise<Answer> {
  const before = await everything();
  const said = await desk.quick(...args);
  expect(await everything()).toEqual(before);
  return said;
}

test("planning what is planned gives the same operation and says so", async () => {
  const op = await plan(desk, "planned@example.test");
  const before = await everything();
  const second = await desk.quick("plan", "plans/planned.yaml", "--json");
  expect([second.code, second.json().operation_id]).toEqual([0, op]);
  expect(second.stderr).toContain("this was planned before and is not finished");
  expect(await everything()).toEqual(before);
  const fresh = await desk.quick("plan", "plans/planned.yaml", "--new", "--json");
  expect(fresh.json().operation_id).not.toBe(op);
});

test("running what waits for a decision changes nothing, however often", async () => {
  const op = await plan(desk, "asked@example.test");
  expect((await run(desk, op)).code).toBe(3);
  const said = await again("run", op);
  expect(said.code).toBe(3);
  expect(said.stdout).toMatch(/STATE awaiting_approval\n$/);
  expect(said.stderr).toContain(`provision approve ${op.slice(-8)}`);
});

test("approving twice decides nothing the second time and says so", async () => {
  const op = await plan(desk, "approved@example.test");
  expect(await approve(desk, op)).toEqual([1, 3, 4]);
  const said = await again("approve", op, "--yes");
  expect([said.code, said.stderr, said.stdout]).toEqual([0, "Nothing is to be decided now.\n", "STATE approved\n"]);
  expect(await approve(desk, op)).toEqual([]);
});

test("running and rolling back what is finished change nothing and show that it is", async () => {
  const op = await accepted(desk, "finished@example.test", ordinaryOnly);
  expect((await run(desk, op)).code).toBe(0);
  const ran = await again("run", op);
  expect([ran.code, ran.stdout.trim().split("\n").at(-1)]).toEqual([0, "STATE completed"]);

  expect((await rollback(desk, op)).code).toBe(0);
  const back = await again("rollback", op);
  expect([back.code, back.stdout.trim().split("\n").at(-1)]).toEqual([0, "STATE rolled_back"]);
  const late = await again("run", op);
  expect([late.code, late.stdout.trim().split("\n").at(-1)]).toEqual([0, "STATE rolled_back"]);
});

test("running past a denied step sends it no second time", async () => {
  const op = await accepted(desk, "denied@example.test", (yaml) => yaml);
  expect((await run(desk, op)).code).toBe(3);
  expect(await approve(desk, op)).toEqual([5]);
  expect((await run(desk, op)).code).toBe(5);
  expect((await again("run", op)).code).toBe(5);
});

test("looking twice whether an invitation was accepted sends nothing and asks for it no second time", async () => {
  const op = await plan(desk, "looked@example.test");
  await approve(desk, op);
  expect((await run(desk, op)).code).toBe(4);
  const writes = await desk.tenant.writes();
  for (let times = 0; times < 2; times++) expect((await run(desk, op)).code).toBe(4);
  expect(await desk.tenant.writes()).toEqual(writes);
});

test("what was stopped or denied stays so, and nothing is sent for it", async () => {
  const stopped = await plan(desk, "stopped@example.test");
  await approve(desk, stopped);
  expect((await desk.quick("stop", stopped, "--reason", "wrong person")).code).toBe(0);
  expect((await again("stop", stopped)).code).toBe(0);
  expect((await again("run", stopped)).code).toBe(13);
  const denied = await plan(desk, "refused@example.test");
  const said = await desk.quick("deny", denied, "--reason", "not in this team", "--json");
  expect(said.json()).toMatchObject({ decided: [1, 3, 4], state: "cancelled" });
  expect((await again("run", denied)).code).toBe(13);
  const rolled = await again("rollback", denied);
  expect(rolled.code).toBe(13);
});
