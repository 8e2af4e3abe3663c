import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Desk, endDesk, openDesk } from "./desk.ts";
import { accepted, approve, holds, plan, results, rollback, run, undos } from "./path.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
  // Longer than the tenant needs on a busy machine, so that no request is given up that was not meant to be.
  desk.edit("provision.yaml", (yaml) =>
    yaml.replace("provider: sandbox", "provider: sandbox\n    timing: { request: 1s, lease: 10s }"),
  );
});
afterEach(() => desk.tenant.clearFaults());
afterAll(() => endDesk(desk));

interface Weather {
  fault: string;
  /** What the tenant meant to answer to each attempt; `applied` behind the one that changed something. */
  role: string[];
  group: string[];
  /** A read may find the change before the second attempt, which then is spared. */
  spared?: true;
}

const WEATHER: Weather[] = [
  { fault: "lost_before_commit", role: ["none", "200 applied"], group: ["none", "201 applied"] },
  { fault: "lost_after_commit", role: ["200 applied"], group: ["201 applied"] },
  { fault: "commit_late:200", role: ["200 applied", "200"], group: ["201 applied", "201"], spared: true },
  { fault: "status:503", role: ["503", "200 applied"], group: ["503", "201 applied"] },
  { fault: "status:500", role: ["500", "200 applied"], group: ["500", "201 applied"] },
  { fault: "delay:1200", role: ["200 applied", "200"], group: ["201 applied", "201"], spared: true },
  { fault: "async:150", role: ["202 applied"], group: ["202 applied"] },
  { fault: "stale_reads:2", role: ["200 applied"], group: ["201 applied"] },
  { fault: "ignore_if_match", role: ["200 applied"], group: ["201 applied"] },
  { fault: "error_though_applied", role: ["400 applied"], group: ["400 applied"] },
  { fault: "reset_mid_body", role: ["200 applied"], group: ["201 applied"] },
];

test.each(WEATHER)(
  "under $fault, role and group are changed once, proven as ours, and taken back",
  async ({ fault, role, group, spared }) => {
    const email = `${fault.replace(/\W/g, "-")}@example.test`;
    const op = await accepted(desk, email);
    const before = (await desk.tenant.requests()).length;
    for (const action of ["role.set", "group.add"]) await desk.tenant.fault(fault, { action });

    const { code, left } = await run(desk, op);

    expect([code, left.state]).toEqual([0, "completed"]);
    expect(results(left)).toEqual(["accepted", "observed", "changed", "added"]);
    expect(undos(left)).toEqual(["unavailable", "n/a", "ready: guest", "ready"]);
    expect(left.steps.slice(2).map(({ receipt }) => receipt?.attribution)).toEqual(["proven", "proven"]);
    expect(await holds(desk, email)).toEqual({ role: "member", status: "active", groups: ["engineering"] });
    const sent = (await desk.tenant.requests()).slice(before);
    for (const [step, action, answers] of [
      [2, "role.set", role],
      [3, "group.add", group],
    ] as const) {
      const rows = sent.filter((row) => row.action === action);
      const got = rows.map(({ status, applied }) => `${status ?? "none"}${applied ? " applied" : ""}`);
      expect(got).toEqual(spared ? answers.slice(0, got.length) : answers);
      expect(rows.filter(({ applied }) => applied)).toHaveLength(1);
      expect(new Set(rows.map((row) => row.idempotency_key)).size).toBe(1);
      expect(left.steps[step]?.transport?.attempts).toBe(rows.length);
    }

    expect((await rollback(desk, op)).code).toBe(0);
    expect(await holds(desk, email)).toEqual({ role: "guest", status: "active", groups: [] });
  },
);

test("a service that asks for a second of patience gets it, and then the request once more", async () => {
  const op = await accepted(desk, "patient@example.test");
  await desk.tenant.fault("throttle:1", { action: "group.add" });
  const began = performance.now();
  const { code, left } = await run(desk, op);
  expect(performance.now() - began).toBeGreaterThan(900);
  expect([code, results(left).at(-1)]).toEqual([0, "added"]);
  const rows = (await desk.tenant.writes("group.add")).slice(-2);
  expect(rows.map(({ status, applied }) => [status, applied])).toEqual([
    [429, false],
    [201, true],
  ]);
  expect(Date.parse(rows[1]?.at ?? "") - Date.parse(rows[0]?.at ?? "")).toBeGreaterThanOrEqual(950);
});

test("a service that asks for more patience than a run has leaves it paused, with the time to come back", async () => {
  const op = await accepted(desk, "impatient@example.test");
  await desk.tenant.fault("throttle:3600", { action: "role.set" });
  const { code, left } = await run(desk, op);
  expect([code, left.state, left.blocked?.step]).toEqual([12, "paused", 3]);
  expect([results(left)[2], left.residual_effects.filter(({ kind }) => kind === "unknown")]).toEqual(["-", []]);
  expect(Date.parse(left.blocked?.until ?? "") - Date.now()).toBeGreaterThan(3_500_000);
  expect(await holds(desk, "impatient@example.test")).toMatchObject({ role: "guest" });
});

test("an answer of success that no read bears out is no_effect, and the step after it never starts", async () => {
  const op = await accepted(desk, "claimed@example.test");
  await desk.tenant.fault("success_without_effect", { action: "role.set" });
  const { code, left } = await run(desk, op);
  expect([code, left.state, results(left).slice(2)]).toEqual([5, "partial_failure", ["no_effect", "-"]]);
  expect(await holds(desk, "claimed@example.test")).toEqual({ role: "guest", status: "active", groups: [] });
});

test.each(["lost_before_commit", "commit_late:200", "status:503", "async:150", "reset_mid_body"])(
  "under %s one invitation is made, and it can be cancelled",
  async (fault) => {
    const email = `invited-${fault.replace(/\W/g, "-")}@example.test`;
    const op = await plan(desk, email);
    await approve(desk, op);
    await desk.tenant.fault(fault, { action: "invitation.create" });
    const { code, left } = await run(desk, op);
    expect([code, left.state, results(left)[0], undos(left)[0]]).toEqual([4, "waiting", "pending", "ready: cancel"]);
    const made = (await desk.tenant.state()).invitations.filter((one) => one.email === email);
    expect(made).toMatchObject([{ state: "pending", role: "guest" }]);

    const back = await rollback(desk, op);
    expect([back.code, back.left.state]).toEqual([0, "rolled_back"]);
    const after = (await desk.tenant.state()).invitations.filter((one) => one.email === email);
    expect(after).toMatchObject([{ state: "cancelled" }]);
  },
);

test("what was lost on the way back is found, too, and nothing is taken back twice", async () => {
  const op = await accepted(desk, "lost-way-back@example.test");
  expect((await run(desk, op)).code).toBe(0);
  const before = (await desk.tenant.requests()).length;
  await desk.tenant.fault("lost_after_commit", { action: "group.remove" });
  await desk.tenant.fault("status:502", { action: "role.set" });
  const { code, left } = await rollback(desk, op);
  expect([code, left.state]).toEqual([0, "rolled_back"]);
  const applied = (await desk.tenant.requests()).slice(before).filter((row) => row.applied);
  expect(applied.map(({ action }) => action)).toEqual(["group.remove", "role.set"]);
  expect(await holds(desk, "lost-way-back@example.test")).toEqual({ role: "guest", status: "active", groups: [] });
});
