import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Desk, endDesk, openDesk } from "./desk.ts";
import { accepted, results, run } from "./path.ts";
import { type Between, between, type Given, type Passing } from "./store-between.ts";

let desk: Desk;
let door: Between;
beforeAll(async () => {
  desk = await openDesk();
  desk.edit("provision.yaml", (yaml) =>
    yaml.replace("provider: sandbox", "provider: sandbox\n    timing: { request: 1s, lease: 10s }"),
  );
  door = await between(desk);
});
afterEach(() => door.calm());
afterAll(async () => {
  await door.close();
  await endDesk(desk);
});

let people = 0;
async function next(): Promise<string> {
  people += 1;
  const op = await accepted(desk, `throttled-${people}@example.test`);
  door.calm();
  return op;
}

type Wanted = (request: Passing) => boolean;
const writes: Wanted = ({ method }) => method !== "GET";
const reads: Wanted = ({ method }) => method === "GET";

/** Answers the first `times` of these in place of the tenant, and notes when each of them came. */
function answer(which: Wanted, given: Given, times: number): number[] {
  const came: number[] = [];
  door.ahead = (request) => {
    if (!which(request)) return undefined;
    came.push(performance.now());
    return came.length > times ? undefined : given;
  };
  return came;
}

const told = (headers: Record<string, string>, status = 429): Given => ({
  status,
  headers,
  body: '{"code":"slow_down"}',
});
const DATE = "Wed, 26 Aug 2020 10:00:00 GMT";
const text: Given = { status: 403, body: '{"message":"You have exceeded a secondary rate limit."}' };

describe("a write that is throttled", () => {
  test.each([
    ["whole seconds", told({ "retry-after": "1" }), 990],
    ["a part of a second, rounded up", told({ "retry-after": "0.2" }), 990],
    ["a date by a clock years behind ours", told({ date: DATE, "retry-after": "Wed, 26 Aug 2020 10:00:01 GMT" }), 990],
    ["the same date in the second form", told({ date: DATE, "retry-after": "Wednesday, 26-Aug-20 10:00:01 GMT" }), 990],
    ["the same date in the third form", told({ date: DATE, "retry-after": "Wed Aug 26 10:00:01 2020" }), 990],
    ["a negative number", told({ "retry-after": "-5" }), 190],
    ["an absurd number", told({ "retry-after": "99999999999" }), 190],
    ["rubbish", told({ "retry-after": "soon" }), 190],
    ["nothing", told({}), 190],
    ["words alone", text, 190],
    ["a failing service that names a time", told({ "retry-after": "1" }, 503), 990],
  ])("by %s is sent once more, and no sooner", async (_what, given, atLeast) => {
    const op = await next();
    const came = answer(writes, given, 1);
    const { code, left } = await run(desk, op);
    expect([code, results(left).slice(2), left.steps[2]?.transport?.attempts]).toEqual([0, ["changed", "added"], 2]);
    const [first = 0, second = 0] = came;
    expect(second - first).toBeGreaterThan(atLeast);
  });

  test.each([
    ["61 seconds", told({ "retry-after": "61" }), 61_000],
    ["a day", told({ "retry-after": "86400" }), 86_400_000],
    ["an hour, while it fails", told({ "retry-after": "3600" }, 503), 3_600_000],
  ])("for %s pauses the run, with the time to come back", async (_what, given, ms) => {
    const op = await next();
    const began = Date.now();
    const came = answer(writes, given, 99);
    const { code, left } = await run(desk, op);
    expect([code, left.state, results(left).slice(2), came.length]).toEqual([12, "paused", ["-", "-"], 1]);
    const until = Date.parse(left.blocked?.until ?? "") - began;
    expect([until > ms - 1_000, until < ms + 20_000]).toEqual([true, true]);
  });

  test("by words alone for ever is tried five times, each after a longer pause, and leaves the run paused", async () => {
    desk.edit("provision.yaml", (yaml) => yaml.replace("request: 1s", "request: 300ms"));
    const op = await next();
    const came = answer(writes, text, 99);
    const { code, left } = await run(desk, op);
    desk.edit("provision.yaml", (yaml) => yaml.replace("request: 300ms", "request: 1s"));
    expect([code, left.state, came.length]).toEqual([12, "paused", 5]);
    const pauses = came.slice(1).map((at, n) => at - (came[n] ?? 0));
    expect(pauses.every((pause, n) => pause > 55 * 2 ** n)).toBe(true);
  });
});

describe("a read that is throttled", () => {
  test("by words alone is made again after a pause", async () => {
    const op = await next();
    const came = answer(reads, text, 1);
    expect((await run(desk, op)).code).toBe(0);
    expect((came[1] ?? 0) - (came[0] ?? 0)).toBeGreaterThan(190);
  });

  test("for a second is made again after it", async () => {
    const op = await next();
    const came = answer(reads, told({ "retry-after": "1" }), 1);
    expect((await run(desk, op)).code).toBe(0);
    expect((came[1] ?? 0) - (came[0] ?? 0)).toBeGreaterThan(990);
  });

  test.each([
    ["throttled", told({ "retry-after": "90" })],
    ["failing", told({ "retry-after": "90" }, 503)],
  ])(
    "for longer than a run waits pauses it at once, with the time to come back, where the service is %s",
    async (_what, given) => {
      const op = await next();
      const began = Date.now();
      const came = answer(reads, given, 99);
      const { code, left } = await run(desk, op);
      expect([code, left.state, came.length]).toEqual([12, "paused", 1]);
      expect(Date.parse(left.blocked?.until ?? "") - began).toBeGreaterThan(89_000);
      door.calm();
      expect([(await run(desk, op)).code, door.seen.length]).toEqual([12, 0]);
    },
  );
});
