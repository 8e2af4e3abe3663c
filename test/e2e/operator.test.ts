import { existsSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Desk, endDesk, type Operation, openDesk } from "./desk.ts";
import { accepted, approve, ordinaryOnly, plan, results, rollback, run, undos } from "./path.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});
afterEach(() => desk.tenant.clearFaults());
afterAll(() => endDesk(desk));

const commands = ({ next, operation_id }: Operation) =>
  next.map(({ command }) => command.replace(operation_id.slice(-8), "OP"));
const status = async (op: string) => (await desk.quick("status", op, "--json")).json<Operation>();

test("a run that may wait goes on once somebody approves, and asks nobody twice", async () => {
  const op = await plan(desk, "patient@example.test");
  const running = desk.provision("run", op, "--wait", "30s", "--json");
  await pause(1500);
  await approve(desk, op);
  for (let tries = 0; tries < 60 && (await status(op)).steps[0]?.result !== "pending"; tries++) await pause(200);
  await desk.tenant.accept("patient@example.test");
  const ran = await running;
  expect([ran.code, ran.json<Operation>().state]).toEqual([0, "completed"]);
});

test("a run that waited in vain for a decision ends as one that did not wait", async () => {
  const op = await plan(desk, "in-vain@example.test");
  const { code, left } = await run(desk, op, "--wait", "1s");
  expect([code, left.state, results(left)[0]]).toEqual([3, "awaiting_approval", "-"]);
});

test("who stopped it, and why, is said; what follows is a new decision, or the way back", async () => {
  const op = await plan(desk, "stopped@example.test");
  await approve(desk, op);
  expect((await run(desk, op)).code).toBe(4);
  const stopped = await desk.quick("stop", op, "--reason", "wrong person", "--json");
  const left = stopped.json<Operation>();
  expect(left).toMatchObject({ state: "stopped", stopped: { reason: "wrong person" }, denied: null });
  expect(commands(left)).toEqual(["provision rollback OP", "provision approve OP"]);
  const shown = await desk.quick("status", op);
  expect(shown.stderr).toMatch(/^stopped +by os:\S+ at \S+: wrong person$/m);
});

test("beside a compensation that diverged, status shows what is there now, and no command that does nothing", async () => {
  const email = "diverged@example.test";
  const op = await accepted(desk, email);
  await run(desk, op);
  await desk.tenant.act("edit/role", { email, role: "billing" });
  const { left } = await rollback(desk, op);
  expect(undos(left)).toEqual(["unavailable", "n/a", "diverged", "undone"]);
  expect(left.has_now).toContain("role billing");
  expect(left.compensations.find(({ step }) => step === 3)).toMatchObject({ result: "diverged", found: "billing" });
  expect(commands(left)).toEqual(["provision resolve OP --step 3 --undo --as left", "provision rollback OP"]);
  const word = await desk.quick("resolve", op, "--step", "3", "--undo", "--as", "left", "--yes", "--json");
  const { state, residual_effects } = word.json<Operation>();
  expect([state, residual_effects[0]?.kind]).toEqual(["rolled_back", "left"]);
  expect(word.json<Operation>().has_now).toContain("role billing");
});

test("what the wait found stays found when it is rolled back", async () => {
  const op = await plan(desk, "stranger@example.test");
  await approve(desk, op);
  await run(desk, op);
  await desk.tenant.accept("stranger@example.test", "mallory@example.test");
  expect((await run(desk, op)).code).toBe(6);
  const { left } = await rollback(desk, op);
  expect([left.state, results(left)[1]]).toEqual(["rolled_back", "conflict"]);
  expect(left.residual_effects[0]).toMatchObject({ kind: "account" });
});

test("a rollback that keeps everything up to a refused step is no dead end", async () => {
  const op = await accepted(desk, "kept@example.test", (yaml) => yaml);
  expect((await run(desk, op)).code).toBe(3);
  await approve(desk, op);
  expect((await run(desk, op)).code).toBe(5);
  const part = await desk.quick("rollback", op, "--to-step", "4", "--json");
  const left = part.json<Operation>();
  expect([part.code, left.state]).toEqual([8, "rolled_back_in_part"]);
  expect(commands(left)).toEqual(["provision run OP --retry-step 5", "provision rollback OP"]);
  const again = await run(desk, op, "--retry-step", "5");
  expect([again.code, again.left.state]).toEqual([3, "awaiting_approval"]);
});

test("a plan that cannot be written where it should is refused before anything is read", async () => {
  const reads = (await desk.tenant.state()).requests.length;
  for (const [name, code] of [
    ["missing/plan.json", "no_such_folder"],
    ["plans", "is_a_folder"],
  ]) {
    const planned = await desk.quick("plan", desk.request("out@example.test"), "--out", name as string, "--json");
    expect([planned.code, planned.json<{ error: { code: string } }>().error.code]).toEqual([2, code]);
  }
  expect((await desk.tenant.state()).requests.length).toBe(reads);
  expect(existsSync(desk.file("missing"))).toBe(false);
});

test("a dry run names no operation", async () => {
  const planned = await desk.quick("plan", desk.request("dry@example.test", ordinaryOnly), "--dry-run");
  expect(planned.code).toBe(0);
  expect(`${planned.stdout}${planned.stderr}`).not.toMatch(/prov_\d{4}/);
});
