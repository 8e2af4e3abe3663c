import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Desk, endDesk, openDesk, until } from "./desk.ts";
import { accepted, approve, holds, plan, results, rollback, run, undos } from "./path.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
  // Longer than the tenant needs on a busy machine, so that no request is given up that was not meant to be.
  desk.edit("provision.yaml", (yaml) =>
    yaml.replace("provider: sandbox", "provider: sandbox\n    timing: { request: 3s, lease: 10s }"),
  );
});
afterEach(() => desk.tenant.clearFaults());
afterAll(() => endDesk(desk));

/** The request of the story with its sensitive group. */
const whole = (yaml: string) => yaml;

test("an invitation that somebody else redeemed ends diverged, before any role is set", async () => {
  const email = "redeemed@example.test";
  const op = await plan(desk, email, whole);
  await approve(desk, op);
  expect((await run(desk, op)).code).toBe(4);
  const before = (await desk.tenant.writes()).length;
  expect((await desk.provision("sandbox", "accept", email, "--as", "other@example.test")).code).toBe(0);
  const ran = await desk.provision("run", op, "--json");
  expect(ran.code).toBe(6);
  const left = ran.json<{ state: string; blocked: { code: string }; steps: { result: string }[] }>();
  expect([left.state, left.blocked.code]).toEqual(["diverged", "other_redeemer"]);
  expect(left.steps.map(({ result }) => result)).toEqual(["accepted", "conflict", "-", "-", "-"]);
  expect((await desk.tenant.writes()).length).toBe(before);
  expect((await run(desk, op)).code).toBe(6);
  expect((await desk.tenant.writes()).length).toBe(before);
});

test("a role that another administrator set before ours is a conflict, and nothing is sent", async () => {
  const op = await accepted(desk, "before@example.test");
  await desk.tenant.act("edit/role", { email: "before@example.test", role: "billing" });
  const before = (await desk.tenant.writes()).length;
  const { code, left } = await run(desk, op);
  expect([code, left.state, results(left).slice(2)]).toEqual([6, "diverged", ["conflict", "-"]]);
  expect((await desk.tenant.writes()).length).toBe(before);
  expect(await holds(desk, "before@example.test")).toMatchObject({ role: "billing" });
});

test("a role that another administrator changes between two runs ends the second one as diverged, with nothing sent", async () => {
  const op = await accepted(desk, "between@example.test", whole);
  expect((await run(desk, op)).code).toBe(3);
  expect(await approve(desk, op)).toEqual([5]);
  await desk.tenant.act("edit/role", { email: "between@example.test", role: "billing" });
  const before = (await desk.tenant.writes()).length;
  const ran = await desk.provision("run", op, "--json");
  expect([ran.code, ran.json().state]).toEqual([6, "diverged"]);
  expect((await desk.tenant.writes()).length).toBe(before);

  await desk.tenant.act("edit/role", { email: "between@example.test", role: "member" });
  expect((await run(desk, op)).code).toBe(5);
  expect((await desk.tenant.writes()).length).toBe(before + 1);
});

test("a decision is spent when what it was made on has changed, and is asked for again", async () => {
  const email = "spent@example.test";
  const op = await accepted(desk, email, whole);
  expect((await run(desk, op)).code).toBe(3);
  expect(await approve(desk, op)).toEqual([5]);
  await desk.tenant.act("edit/group", { email, op: "add", group: "on-call-readers" });
  const { code, left } = await run(desk, op);
  expect([code, left.state, results(left).at(-1), undos(left).at(-1)]).toEqual([
    0,
    "completed",
    "already_present",
    "none",
  ]);
  expect((await rollback(desk, op)).code).toBe(0);
  expect((await holds(desk, email))?.groups).toEqual(["on-call-readers"]);
});

test("a group that another administrator gave again stays, and the rollback says that it is not finished", async () => {
  const email = "again@example.test";
  const op = await accepted(desk, email);
  expect((await run(desk, op)).code).toBe(0);
  await desk.tenant.act("edit/group", { email, op: "add", group: "engineering" });
  const { code, left } = await rollback(desk, op);
  expect([code, left.state]).toEqual([8, "rollback_pending"]);
  expect(undos(left).slice(2)).toEqual(["undone", "diverged"]);
  expect(await holds(desk, email)).toEqual({ role: "guest", status: "active", groups: ["engineering"] });
  const before = (await desk.tenant.writes()).length;
  expect((await rollback(desk, op)).code).toBe(8);
  expect((await run(desk, op)).code).toBe(8);
  expect((await desk.tenant.writes()).length).toBe(before);
});

test("a role that another administrator changed since is not restored, and the rest of the way back goes on", async () => {
  const email = "since@example.test";
  const op = await accepted(desk, email);
  expect((await run(desk, op)).code).toBe(0);
  await desk.tenant.act("edit/role", { email, role: "billing" });
  const { code, left } = await rollback(desk, op);
  expect([code, left.state, undos(left).slice(2)]).toEqual([8, "rollback_pending", ["diverged", "undone"]]);
  expect(left.residual_effects).toContainEqual(expect.objectContaining({ step: 3, kind: "diverged" }));
  expect(await holds(desk, email)).toEqual({ role: "billing", status: "active", groups: [] });
});

test("a group that another administrator took already is gone, and there is nothing to take back", async () => {
  const email = "taken@example.test";
  const op = await accepted(desk, email);
  expect((await run(desk, op)).code).toBe(0);
  await desk.tenant.act("edit/group", { email, op: "remove", group: "engineering" });
  const { code, left } = await rollback(desk, op);
  expect([code, left.state, undos(left).slice(2)]).toEqual([0, "rolled_back", ["undone", "already gone"]]);
});

/** Holds our write at the door of the tenant, and lets another administrator in first. */
async function overtaken(op: string, action: string, first: () => Promise<void>) {
  await desk.tenant.fault("delay:250", { action });
  const count = (await desk.tenant.writes(action)).length;
  const running = run(desk, op);
  await until(async () => (await desk.tenant.writes(action)).length > count, "the change is asked for");
  await first();
  return running;
}

test("a role that another administrator touched between our reading and our writing is not overwritten", async () => {
  const email = "overtaken@example.test";
  const op = await accepted(desk, email);
  const { code, left } = await overtaken(op, "role.set", async () => {
    for (const role of ["member", "guest"]) await desk.tenant.act("edit/role", { email, role });
  });
  expect([code, left.state, results(left)[2]]).toEqual([6, "diverged", "conflict"]);
  expect(left.steps[2]?.transport).toMatchObject({ attempts: 1, last_status: 412 });
  expect(await holds(desk, email)).toMatchObject({ role: "guest", groups: [] });

  const again = await run(desk, op, "--retry-step", "3");
  expect([again.code, again.left.state]).toEqual([3, "awaiting_approval"]);
  expect(await approve(desk, op)).toEqual([3]);
  expect((await run(desk, op)).code).toBe(0);
});

test("a group that another administrator gave between our reading and our writing is theirs", async () => {
  const email = "given@example.test";
  const op = await accepted(desk, email);
  const { code, left } = await overtaken(op, "group.add", () =>
    desk.tenant.act("edit/group", { email, op: "add", group: "engineering" }),
  );
  expect([code, results(left)[3], undos(left)[3]]).toEqual([0, "already_present", "none"]);
  expect((await rollback(desk, op)).code).toBe(0);
  expect(await holds(desk, email)).toEqual({ role: "guest", status: "active", groups: ["engineering"] });
});

test("where the tenant ignores the guard, what another administrator did first is not taken for ours", async () => {
  const email = "unguarded@example.test";
  const op = await accepted(desk, email);
  await desk.tenant.fault("ignore_if_match", { action: "role.set" });
  const { code, left } = await overtaken(op, "role.set", () => desk.tenant.act("edit/role", { email, role: "member" }));
  expect([code, left.state, results(left)[2], undos(left)[2]]).toEqual([0, "completed", "unchanged", "none"]);
  expect((await rollback(desk, op)).code).toBe(0);
  expect(await holds(desk, email)).toEqual({ role: "member", status: "active", groups: [] });
});
