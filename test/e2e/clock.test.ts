import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { DAY, timesOf, type Wall, wallOf } from "./clock-wall.ts";
import { type Desk, endDesk, openDesk } from "./desk.ts";
import { accepted, approve, holds, plan, results, run } from "./path.ts";
import { type Between, between, type Passing } from "./store-between.ts";

let desk: Desk;
let door: Between;
let wall: Wall;
let people = 0;
beforeAll(async () => {
  desk = await openDesk();
  desk.edit("provision.yaml", (yaml) =>
    yaml.replace("provider: sandbox", "provider: sandbox\n    timing: { request: 1s, settle: 200ms, lease: 10s }"),
  );
  door = await between(desk);
  wall = wallOf(desk);
});
afterEach(async () => {
  door.calm();
  wall.off(0);
  await desk.tenant.clearFaults();
});
afterAll(async () => {
  await door.close();
  await endDesk(desk);
});

function somebody(): string {
  people += 1;
  return `clock-${people}@example.test`;
}

describe("a wall clock that jumps under a run", () => {
  type When = (by: number) => (request: Passing) => void;
  const MOMENTS: [string, When][] = [
    [
      "at its first read",
      (by) =>
        ({ n }) =>
          n === 0 && wall.off(by),
    ],
    [
      "as its first write is answered",
      (by) =>
        ({ method }) =>
          method !== "GET" && wall.off(by),
    ],
    [
      "at every request, to and fro",
      (by) =>
        ({ n }) =>
          wall.off(n % 2 === 0 ? by : -by),
    ],
  ];
  const ways = [
    ["forward", DAY],
    ["back", -DAY],
  ] as const;

  test.each(ways.flatMap(([way, by]) => MOMENTS.map(([when, moment]) => ({ way, by, when, moment }))))(
    "a day $way $when: nothing lapses, nothing hangs, and the entries stand in the order of their times",
    async ({ by, moment }) => {
      const op = await accepted(desk, somebody());
      // A second attempt, which waits first: the approval covers it although it is begun after the jump.
      await desk.tenant.fault("status:503", { action: "group.add" });
      wall.off(0);
      door.calm();
      door.behind = moment(by);
      const began = Date.now();
      const { code, left, tookMs } = await wall.run("run", op);
      expect([code, results(left).slice(2)]).toEqual([0, ["changed", "added"]]);
      expect(left.steps[3]?.transport?.attempts).toBe(2);
      expect(tookMs).toBeLessThan(7_000);
      const times = timesOf(desk, op);
      expect(times).toEqual([...times].sort((a, b) => a - b));
      expect(Math.abs((times.at(-1) ?? 0) - began)).toBeLessThan(60_000);
    },
  );

  test.each(ways)("a day %s: another executor takes no lease from the living one", async (_way, by) => {
    const op = await accepted(desk, somebody());
    wall.off(0);
    door.calm();
    let rival: { code: number | null } | undefined;
    door.behind = ({ method }) => {
      if (method === "GET" || rival !== undefined) return;
      wall.off(by);
      rival = wall.runNow(-by, "run", op);
    };
    const { code } = await wall.run("run", op);
    expect([code, rival?.code]).toEqual([0, 10]);
    // Where the rival took longer than a request may, the same write is sent again with its key; none is the rival's.
    const writes = door.seen.filter(({ method }) => method !== "GET").map(({ method, path }) => `${method} ${path}`);
    expect(new Set(writes).size).toBe(2);
  });
});

describe("a wall clock that was wrong in one run and is right in the next", () => {
  test.each([DAY, -DAY])(
    "by %i ms: what one left settles in the other, and is taken back, without a day of waiting",
    async (by) => {
      const email = somebody();
      const op = await plan(desk, email);
      await approve(desk, op);
      wall.off(Math.max(0, by));
      const first = await wall.run("run", op);
      expect([first.code, first.left.state]).toEqual([4, "waiting"]);
      await desk.tenant.accept(email);
      wall.off(by);
      const ahead = await wall.run("run", op);
      if (by < 0) expect([ahead.code, ahead.left.error?.code]).toEqual([13, "not_yet_valid"]);
      else expect([ahead.code, ahead.left.state]).toEqual([0, "completed"]);
      wall.off(0);
      const right = await wall.run("run", op);
      expect([right.code, right.left.state]).toEqual([0, "completed"]);
      const back = await wall.run("rollback", op);
      expect([back.code, back.left.state]).toEqual([0, "rolled_back"]);
      expect(await holds(desk, email)).toEqual({ role: "guest", status: "active", groups: [] });
    },
  );

  test("an answer that was lost a day ahead is settled today", async () => {
    const op = await accepted(desk, somebody());
    wall.off(DAY);
    door.calm();
    const writes = () => door.seen.filter(({ method }) => method !== "GET").length;
    // Every attempt is answered with a failure that may hide a success, until the run gives up.
    door.ahead = ({ method }) =>
      method === "GET" ? undefined : { status: 503, headers: { "retry-after": "3600" }, body: "{}" };
    const first = await wall.run("run", op);
    expect([first.code, first.left.state, writes()]).toEqual([12, "paused", 1]);
    expect(Date.parse(first.left.blocked?.until ?? "") - Date.now()).toBeGreaterThan(DAY + 3_500_000);
    door.calm();
    wall.off(0);
    const second = await wall.run("run", op);
    expect([second.code, results(second.left).slice(2)]).toEqual([0, ["changed", "added"]]);
  });

  test.each([DAY, -DAY])("by %i ms: the time that a service asked for is not kept for a day", async (by) => {
    const op = await accepted(desk, somebody());
    await desk.tenant.fault("throttle:3600", { action: "role.set" });
    // A clock that is behind: the time asked for was written down by one that was right, and is read by one ahead.
    wall.off(Math.max(0, by));
    const first = await wall.run("run", op);
    expect([first.code, first.left.state]).toEqual([12, "paused"]);
    wall.off(by < 0 ? DAY : 0);
    const second = await wall.run("run", op);
    expect([second.code, second.left.state]).toEqual([0, "completed"]);
  });
});

test("a clock that is right all along gives the service the hour that it asked for", async () => {
  const op = await accepted(desk, somebody());
  await desk.tenant.fault("throttle:3600", { action: "role.set" });
  expect((await run(desk, op)).code).toBe(12);
  const before = (await desk.tenant.requests()).length;
  const { code, left } = await run(desk, op);
  expect([code, left.state]).toEqual([12, "paused"]);
  expect((await desk.tenant.requests()).length).toBe(before);
  expect(left.blocked?.until).toEqual(expect.any(String));
});
