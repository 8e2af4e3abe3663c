import { type ChildProcess, spawn } from "node:child_process";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { PROVISION } from "./built.ts";
import { type Desk, endDesk, type Operation, openDesk, until } from "./desk.ts";
import { accepted, holds, results, rollback, run } from "./path.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
  // Longer than the tenant needs on a busy machine: what is lost here is lost because its process was killed.
  desk.edit("provision.yaml", (yaml) =>
    yaml.replace("provider: sandbox", "provider: sandbox\n    timing: { request: 3s, lease: 10s }"),
  );
});
afterEach(() => desk.tenant.clearFaults());
afterAll(() => endDesk(desk));

/** A run whose request lies at the tenant's door, and its answer is still to come. */
async function inFlight(
  op: string,
  command: string,
  action: string,
): Promise<{ child: ChildProcess; ended: Promise<number | null> }> {
  await desk.tenant.fault("delay:400", { action });
  const count = (await desk.tenant.writes(action)).length;
  const child = spawn(process.execPath, [PROVISION, command, op, "--json"], {
    cwd: desk.dir,
    env: desk.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => desk.printed.push(text));
  const ended = new Promise<number | null>((done) => child.once("exit", done));
  await until(async () => (await desk.tenant.writes(action)).length > count, `${action} is at the tenant`);
  return { child, ended };
}

test("a run that is killed before its answer came is taken over, and the change is made once", async () => {
  const email = "killed@example.test";
  const op = await accepted(desk, email);
  const { child, ended } = await inFlight(op, "run", "role.set");
  child.kill("SIGKILL");
  await ended;
  const seen = await desk.quick("status", op, "--json", "--exit-code");
  expect([seen.code, seen.json<Operation>().state]).toEqual([7, "needs_reconciliation"]);
  expect(seen.json<Operation>().in_flight).toMatchObject({ step: 3, action: "role.set" });
  expect(results(seen.json<Operation>())[2]).toBe("unknown");

  const again = await desk.provision("run", op, "--json");
  expect([again.code, again.json<Operation>().state]).toEqual([0, "completed"]);
  expect(results(again.json<Operation>())).toEqual(["accepted", "observed", "changed", "added"]);
  expect((await desk.tenant.writes("role.set")).filter(({ applied }) => applied)).toHaveLength(1);
  expect(new Set((await desk.tenant.writes("role.set")).map((row) => row.idempotency_key)).size).toBe(1);
  expect((await rollback(desk, op)).code).toBe(0);
  expect(await holds(desk, email)).toEqual({ role: "guest", status: "active", groups: [] });
});

test("a rollback that is killed before its answer came goes on where the journal stands", async () => {
  const email = "killed-back@example.test";
  const op = await accepted(desk, email);
  expect((await run(desk, op)).code).toBe(0);
  const before = (await desk.tenant.requests()).length;
  const { child, ended } = await inFlight(op, "rollback", "group.remove");
  child.kill("SIGKILL");
  await ended;
  const { code, left } = await rollback(desk, op);
  expect([code, left.state]).toEqual([0, "rolled_back"]);
  const applied = (await desk.tenant.requests()).slice(before).filter((row) => row.applied);
  expect(applied.map(({ action }) => action)).toEqual(["group.remove", "role.set"]);
  expect(await holds(desk, email)).toEqual({ role: "guest", status: "active", groups: [] });
});

test("while one process holds an operation another one is told who it is, and sends nothing", async () => {
  const op = await accepted(desk, "held@example.test");
  const before = (await desk.tenant.requests()).length;
  const { child, ended } = await inFlight(op, "run", "role.set");
  const second = await run(desk, op);
  expect(second.code).toBe(10);
  expect(JSON.stringify(second.left)).toContain(String(child.pid));
  const seen = (await desk.quick("status", op, "--json")).json<Operation>();
  expect([seen.state, seen.in_flight?.holder?.pid]).toEqual(["running", child.pid]);
  expect(await ended).toBe(0);
  const applied = (await desk.tenant.requests()).slice(before).filter((row) => row.applied);
  expect(applied.map(({ action }) => action)).toEqual(["role.set", "group.add"]);
});

test("a signal lets the request in the air be settled, begins nothing new and exits 130; the next run goes on", async () => {
  const op = await accepted(desk, "signalled@example.test");
  const groups = (await desk.tenant.writes("group.add")).length;
  const { child, ended } = await inFlight(op, "run", "role.set");
  child.kill("SIGINT");
  expect(await ended).toBe(130);
  const seen = (await desk.quick("status", op, "--json")).json<Operation>();
  expect([seen.state, results(seen)[2], seen.in_flight]).toEqual(["interrupted", "changed", null]);
  expect((await desk.tenant.writes("group.add")).length).toBe(groups);
  expect((await run(desk, op)).code).toBe(0);
});

test("a stop while a run is under way is seen before its next write", async () => {
  const op = await accepted(desk, "stopped@example.test");
  const groups = (await desk.tenant.writes("group.add")).length;
  const { ended } = await inFlight(op, "run", "role.set");
  expect((await desk.quick("stop", op, "--reason", "wrong person")).code).toBe(0);
  expect(await ended).toBe(13);
  const seen = (await desk.quick("status", op, "--json")).json<Operation>();
  expect([seen.state, results(seen).slice(2)]).toEqual(["stopped", ["changed", "-"]]);
  expect((await desk.tenant.writes("group.add")).length).toBe(groups);
});
