import { expect, test } from "vitest";
import { planOf, role, roleIs } from "./build.ts";
import { LIMITS, running, type Story } from "./story.ts";

const TEN_MINUTES = 600_000;

/** Paused since the service asked for ten minutes. */
function throttled(): Story {
  const story = running(planOf([role()])).saw(1, roleIs("guest"));
  story.decide();
  const retryAt = new Date(story.clock + TEN_MINUTES).toISOString();
  story.replied(1, { kind: "throttled", status: 429, retryAt, detail: "slow down" });
  story.after(1).saw(1, roleIs("guest"), "settle").after(LIMITS.settleMs);
  story.saw(1, roleIs("guest"), "settle");
  story.decide();
  expect(story.name()).toBe("paused");
  return story;
}

test("the time that a service asked for is given to it by the next run, too: it reads and sends nothing", () => {
  const story = throttled().lease();
  const count = story.entries.length;
  expect(story.decide()).toEqual({ kind: "halt" });
  expect(story.entries.slice(count).map(({ kind }) => kind)).toEqual(["op.state"]);
  expect([story.name(), story.document().blocked?.until]).toEqual(["paused", story.state.askedToWait?.until]);
});

test("what is left of it is sat out where that is short, and then the run goes on", () => {
  const story = throttled()
    .after(TEN_MINUTES - 10_000)
    .lease();
  const move = story.decide();
  expect(move).toEqual({ kind: "wait", until: Date.parse(story.state.askedToWait?.until ?? ""), why: "backoff" });
  if (move.kind === "wait") story.clock = move.until;
  expect(story.decide()).toMatchObject({ kind: "observe", step: 1, purpose: "before" });
});

test("a clock that was set back since keeps nobody waiting for it", () => {
  const story = throttled()
    .after(-24 * 3_600_000)
    .lease();
  expect(story.decide()).toMatchObject({ kind: "observe", step: 1 });
});
