import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Desk } from "./desk.ts";
import { type Between, closeField, openField, sent, told } from "./field-between.ts";
import { accepted, holds, results, rollback, run, undos } from "./path.ts";

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

const httpDate = (seconds: number) => new Date(Date.now() + seconds * 1000).toUTCString();
const slow = (status: number, header: string | null, words = "Slow down.") =>
  told(status, { code: "slow", message: words }, header === null ? {} : { "retry-after": header });

/** Answers so to the first requests that are meant, and keeps when each of these came. */
function throttled(
  isMeant: (method: string, path: string) => boolean,
  answer: () => ReturnType<typeof told>,
  times = 1,
) {
  const came: number[] = [];
  between.instead = ({ method, path }) => {
    if (!isMeant(method, path)) return undefined;
    came.push(performance.now());
    return came.length <= times ? answer() : undefined;
  };
  return came;
}

const adds = (method: string, path: string) => method === "PUT" && path.startsWith("/groups/");
const looks = (method: string, path: string) => method === "GET" && path.startsWith("/groups/");
const takes = (method: string) => method === "DELETE";

const FORMS: [what: string, header: () => string | null, least: number, most: number][] = [
  ["a part of a second", () => "0.249", 249, 2_000],
  ["nothing", () => null, 100, 2_000],
  ["a time below none", () => "-5", 100, 2_000],
  ["no number and no date", () => "soon", 100, 2_000],
  ["a date in the past", () => httpDate(-60), 0, 2_000],
];

test.each(FORMS)(
  "a write that is throttled for %s is sent once more, no sooner than that, under one key",
  async (what, header, least, most) => {
    const email = `throttled-${what.split(" ").at(-1)}@example.test`;
    const op = await accepted(desk, email);
    const before = (await sent(desk)).length;
    const came = throttled(adds, () => slow(429, header()));
    const { code, left } = await run(desk, op);
    expect([code, results(left)[3], left.steps[3]?.transport?.attempts]).toEqual([0, "added", 2]);
    expect(came).toHaveLength(2);
    const waited = (came[1] ?? 0) - (came[0] ?? 0);
    expect(waited).toBeGreaterThanOrEqual(least - 5);
    expect(waited).toBeLessThan(most);
    expect(await sent(desk, before)).toEqual(["role.set 200 applied", "group.add 201 applied"]);
  },
);

const LONG: [what: string, header: () => string][] = [
  ["a day in seconds", () => "86400"],
  ["a date in two hours", () => httpDate(7200)],
];

test.each(LONG)(
  "asked to wait for %s, the run stops, says until when, and no later run asks before then",
  async (what, header) => {
    const email = `long-${what.split(" ").at(-1)}@example.test`;
    const op = await accepted(desk, email);
    throttled(adds, () => slow(429, header()), 100);
    const { code, left } = await run(desk, op);
    expect([code, left.state, results(left).slice(2)]).toEqual([12, "paused", ["changed", "-"]]);
    expect(Date.parse(left.blocked?.until ?? "") - Date.now()).toBeGreaterThan(7_100_000);
    between.calm();
    const again = await run(desk, op);
    expect([again.code, again.left.state]).toEqual([12, "paused"]);
    expect(between.asked).toEqual([]);
    // Who asks for the way back does not wait a day for what the way forward was told.
    const back = await rollback(desk, op);
    expect([back.code, back.left.state]).toEqual([0, "rolled_back"]);
    expect(between.asked.filter(({ method }) => method !== "GET")).toHaveLength(1);
  },
);

const WORDS: [words: string][] = [
  ["You have exceeded a secondary rate limit. Please wait a few minutes."],
  ["userRateLimitExceeded"],
  ["Quota exceeded for quota metric 'Queries'."],
];

test.each(WORDS)(
  "a refusal that says in words alone that it was too much is no denial, for a write, a look and the way back: %s",
  async (words) => {
    const email = `words-${words.length}@example.test`;
    const op = await accepted(desk, email);
    throttled(
      (method, path) => adds(method, path) || looks(method, path),
      () => slow(403, null, words),
      1,
    );
    expect((await run(desk, op)).code).toBe(0);
    throttled(adds, () => slow(403, null, words));
    expect(await holds(desk, email)).toEqual(DONE);
    throttled(takes, () => slow(403, null, words));
    const back = await rollback(desk, op);
    expect([back.code, undos(back.left).slice(2)]).toEqual([0, ["undone", "undone"]]);
    expect(await holds(desk, email)).toEqual(BACK);
  },
);

test("a plain refusal is not asked again and again, however much it looks like a limit", async () => {
  const op = await accepted(desk, "refused@example.test");
  const came = throttled(adds, () => slow(403, null, "This person may not be limited to that group."), 100);
  const { code, left } = await run(desk, op);
  expect([code, left.state, results(left)[3], left.blocked?.code]).toEqual([5, "partial_failure", "denied", "slow"]);
  expect(came).toHaveLength(1);
});

test("a service that is throttled without end uses up the run's attempts and no more, and nothing is called refused", async () => {
  const op = await accepted(desk, "endless@example.test");
  await desk.tenant.fault("throttle:0", { action: "group.add", times: 100 });
  const before = (await sent(desk)).length;
  const { code, left } = await run(desk, op);
  expect([code, left.state, results(left)[3]]).toEqual([12, "paused", "-"]);
  expect((await sent(desk, before)).filter((row) => row === "group.add 429")).toHaveLength(5);
  await desk.tenant.clearFaults();
  expect((await run(desk, op)).code).toBe(0);
});

test("a look that is throttled waits as it is told, and the write after it is sent once", async () => {
  const op = await accepted(desk, "look@example.test");
  const came = throttled(looks, () => slow(429, "1"));
  const before = (await sent(desk)).length;
  expect((await run(desk, op)).code).toBe(0);
  expect((came[1] ?? 0) - (came[0] ?? 0)).toBeGreaterThanOrEqual(950);
  expect(await sent(desk, before)).toEqual(["role.set 200 applied", "group.add 201 applied"]);
});

test("a time to come back counts by the service's own clock, not by ours", async () => {
  const op = await accepted(desk, "clocks@example.test");
  // Its clock is an hour ahead: an hour and a part of a second from now is that part of a second.
  const ahead = 3600;
  const came = throttled(adds, () => {
    const date = new Date(Date.now() + ahead * 1000);
    return told(429, { code: "slow" }, { date: date.toUTCString(), "retry-after": date.toUTCString() });
  });
  const { code } = await run(desk, op);
  expect(code).toBe(0);
  expect((came[1] ?? 0) - (came[0] ?? 0)).toBeLessThan(2_000);
});
