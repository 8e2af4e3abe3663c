import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Desk, endDesk, type Operation, openDesk, until } from "./desk.ts";
import { accepted, approve, ordinaryOnly, plan, results, rollback, run } from "./path.ts";
import { anotherExecutor, heldElsewhere, inTheAir, startChild } from "./signals.child.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
  // Longer than the tenant needs on a busy machine: a request is given up where a test says so, and nowhere else.
  desk.edit("provision.yaml", (yaml) =>
    yaml.replace("provider: sandbox", "provider: sandbox\n    timing: { request: 5s, settle: 1s, lease: 10s }"),
  );
});
afterEach(() => desk.tenant.clearFaults());
afterAll(() => endDesk(desk));

async function seen(op: string): Promise<Operation> {
  return (await desk.quick("status", op, "--json")).json<Operation>();
}

async function applied(action: string, since = 0): Promise<number> {
  return (await desk.tenant.writes(action)).slice(since).filter((row) => row.applied).length;
}

describe.each(SIGNALS)("%s", (signal) => {
  const name = signal.toLowerCase();

  test("while a write is in the air: it is settled, nothing new begins, 130, and the next run goes on", async () => {
    const op = await accepted(desk, `${name}@example.test`);
    const groups = (await desk.tenant.writes("group.add")).length;
    const child = await inTheAir(desk, ["run", op, "--json"], "role.set");
    child.kill(signal);
    expect(await child.ended).toEqual({ code: 130, signal: null });
    const said = child.json<Operation>();
    expect([said.state, said.in_flight, results(said).slice(2)]).toEqual(["interrupted", null, ["changed", "-"]]);
    expect((await desk.tenant.writes("group.add")).length).toBe(groups);
    expect((await seen(op)).state).toBe("interrupted");
    expect((await run(desk, op)).code).toBe(0);
    expect(await applied("group.add", groups)).toBe(1);
  });

  test("a second one leaves at once, whatever is in the air, and not with 0", async () => {
    const op = await accepted(desk, `twice-${name}@example.test`);
    const roles = (await desk.tenant.writes("role.set")).length;
    const child = await inTheAir(desk, ["run", op, "--json"], "role.set", 900);
    child.kill(signal);
    child.kill(signal === "SIGINT" ? "SIGTERM" : "SIGINT");
    expect((await child.ended).code).toBe(130);
    const left = await seen(op);
    expect([left.state, results(left)[2]]).toEqual(["needs_reconciliation", "unknown"]);
    expect((await run(desk, op)).code).toBe(0);
    expect(await applied("role.set", roles)).toBe(1);
  });
});

test("a signal while a compensation is in the air: it is settled, the next one waits for the next rollback", async () => {
  const op = await accepted(desk, `back-signalled@example.test`);
  expect((await run(desk, op)).code).toBe(0);
  const roles = (await desk.tenant.writes("role.set")).length;
  const child = await inTheAir(desk, ["rollback", op, "--json"], "group.remove");
  child.kill("SIGTERM");
  expect(await child.ended).toEqual({ code: 130, signal: null });
  const said = child.json<Operation>();
  expect([said.state, said.in_flight]).toEqual(["rollback_pending", null]);
  expect(said.compensations.map(({ result }) => result)).toEqual(["undone", null]);
  expect((await desk.tenant.writes("role.set")).length).toBe(roles);
  expect((await rollback(desk, op)).left.state).toBe("rolled_back");
  expect(await applied("role.set", roles)).toBe(1);
});

test("a signal while the invitation is open and waited for: 130 at once, and the next run looks again", async () => {
  const op = await plan(desk, `open-signalled@example.test`);
  await approve(desk, op);
  const child = startChild(desk, ["run", op, "--wait", "10m", "--json"]);
  await until(async () => results(await seen(op))[0] === "pending", "the invitation is seen");
  child.kill("SIGHUP");
  expect(await child.ended).toEqual({ code: 130, signal: null });
  expect(child.json<Operation>()).toMatchObject({ state: "interrupted", in_flight: null });
  expect((await run(desk, op)).code).toBe(4);
});

test("planning and looking are left at the first signal, with one document that says so, and nothing is kept", async () => {
  const op = await accepted(desk, `look-signalled@example.test`);
  const before = await desk.entries();
  const request = desk.request(`plan-signalled@example.test`);
  for (const [signal, ...args] of [
    ["SIGINT", "plan", request, "--json"],
    ["SIGTERM", "status", op, "--refresh", "--json"],
  ] as const) {
    await desk.tenant.fault("delay:400");
    const count = (await desk.tenant.requests()).length;
    const child = startChild(desk, args);
    await until(async () => (await desk.tenant.requests()).length > count, "a read is at the tenant");
    child.kill(signal);
    expect(await child.ended).toEqual({ code: 130, signal: null });
    const { error } = child.json<{ error: { code: string; message: string } }>();
    expect([error.code, error.message]).toEqual(["interrupted", expect.stringContaining(signal)]);
  }
  expect(await desk.entries()).toBe(before);
  expect((await desk.quick("plan", request, "--json")).code).toBe(0);
});
test("a signal while a change has been accepted and does not show yet: 130, in doubt, and never sent again", async () => {
  const op = await accepted(desk, "settling@example.test");
  const roles = (await desk.tenant.writes("role.set")).length;
  await desk.tenant.fault("async:900", { action: "role.set" });
  const child = startChild(desk, ["run", op, "--json"]);
  await until(async () => (await desk.tenant.writes("role.set"))[roles]?.status === 202, "it is accepted");
  await pause(100);
  child.kill("SIGTERM");
  expect(await child.ended).toEqual({ code: 130, signal: null });
  const left = child.json<Operation>();
  expect([left.state, results(left)[2], left.steps[2]?.transport?.last_status]).toEqual([
    "needs_reconciliation",
    "unknown",
    202,
  ]);
  expect((await run(desk, op)).code).toBe(0);
  expect(await desk.tenant.writes("role.set")).toHaveLength(roles + 1);
});

test("a signal while a request is in the air whose answer never comes: it is recorded as lost, and settled by the next run", async () => {
  const op = await accepted(desk, "never@example.test");
  const roles = (await desk.tenant.writes("role.set")).length;
  desk.edit("provision.yaml", (yaml) => yaml.replace("request: 5s", "request: 700ms"));
  try {
    const child = await inTheAir(desk, ["run", op, "--json"], "role.set", 2_000);
    child.kill("SIGINT");
    expect(await child.ended).toEqual({ code: 130, signal: null });
    const left = child.json<Operation>();
    expect([left.state, results(left)[2]]).toEqual(["needs_reconciliation", "unknown"]);
  } finally {
    desk.edit("provision.yaml", (yaml) => yaml.replace("request: 700ms", "request: 5s"));
  }
  expect((await run(desk, op)).code).toBe(0);
  expect(await applied("role.set", roles)).toBe(1);
});

test("a signal while another executor is waited for: 130 at once, with the document, and nothing is sent", async () => {
  const email = "queue@example.test";
  const op = await accepted(desk, email);
  const journal = anotherExecutor(desk);
  const lease = await heldElsewhere(journal, op, { email }, { host: "host-b", boot_id: "0f0c", user: "lee" });
  const sent = (await desk.tenant.requests()).length;
  const child = startChild(desk, ["run", op, "--json"]);
  await pause(700);
  child.kill("SIGTERM");
  const asked = performance.now();
  expect(await child.ended).toEqual({ code: 130, signal: null });
  expect(performance.now() - asked).toBeLessThan(5_000);
  expect(child.json<Operation>().error).toMatchObject({ code: "interrupted" });
  expect(await desk.tenant.requests()).toHaveLength(sent);
  lease.release();
  journal.close();
  expect((await run(desk, op)).code).toBe(0);
});

test("a reader that goes away early does not end what is under way, and is no success of its own", async () => {
  const op = await accepted(desk, "gone@example.test");
  await desk.tenant.fault("delay:300", { action: "role.set" });
  const child = startChild(desk, ["run", op]);
  child.hangUp();
  expect(await child.ended).toEqual({ code: 0, signal: null });
  expect((await seen(op)).state).toBe("completed");
  const asked = await plan(desk, "unread@example.test", ordinaryOnly);
  const unread = startChild(desk, ["run", asked]);
  unread.hangUp();
  expect((await unread.ended).code).toBe(3);
});
