import { describe, expect, test } from "vitest";
import { instant } from "../../src/core/move.ts";
import { backoff, limitsFor, pollDelay, settleWindow } from "../../src/core/pace.ts";
import type { Reply } from "../../src/model/reply.ts";
import {
  ACCOUNT,
  absent,
  expired401,
  group,
  invite,
  invited,
  lost,
  member,
  notInvited,
  ok,
  planOf,
  START,
  unreadable,
  wait,
} from "./build.ts";
import { LIMITS, running } from "./story.ts";

const PLAN = planOf([group()]);
const notSent: Reply = { kind: "not_sent", detail: "connection refused" };

describe("the bounds of one step", () => {
  test("are five attempts, two minutes, and a minute where the service asks for a pause", () => {
    expect(LIMITS).toMatchObject({ attempts: 5, elapsedMs: 120_000, retryAfterMs: 60_000 });
  });

  test("reads go on after an accepted write for the settle time, a quarter of a second at least", () => {
    expect(settleWindow(limitsFor({ requestMs: 500, settleMs: 0 }), false)).toBe(250);
    expect(settleWindow(limitsFor({ requestMs: 500, settleMs: 5000 }), false)).toBe(5000);
    expect(settleWindow(limitsFor({ requestMs: 500, settleMs: 5000 }), true)).toBe(5000);
    expect(settleWindow(limitsFor({ requestMs: 500, settleMs: 0 }), true)).toBe(2000);
  });

  test("polls and resends are farther apart each time", () => {
    const polls = [1, 2, 3, 4, 20].map((n) => pollDelay(n, 500));
    expect(polls).toEqual([20, 40, 80, 160, 500]);
    expect([1, 2, 3].map((n) => backoff(n, LIMITS))).toEqual([100, 200, 400]);
    expect(backoff(1, limitsFor({ requestMs: 60_000, settleMs: 0 }))).toBe(1000);
  });
});

describe("nothing happened", () => {
  const inAir = LIMITS.requestMs + LIMITS.settleMs;

  test("is proven without keys only by a read that began when no request can be in the air any more", () => {
    const story = running(PLAN);
    story.facts = { keys: false };
    const { sends, reads } = story.play({ read: () => absent, reply: () => lost });
    const [first, second] = sends.map(({ at }) => at) as [number, number];
    expect(second).toBeGreaterThanOrEqual(first + inAir);
    const last = reads.filter(({ at }) => at < second).at(-1);
    expect(last?.at).toBeGreaterThanOrEqual(first + inAir);
  });

  test("needs no such wait where the service remembers keys", () => {
    const { sends } = running(PLAN).play({ read: () => absent, reply: () => lost });
    const [first, second] = sends.map(({ at }) => at) as [number, number];
    expect(second - first).toBeLessThan(LIMITS.requestMs);
  });

  test("is not concluded for a last lost attempt before its time, with keys or without", () => {
    const story = running(PLAN);
    const { sends, reads } = story.play({ read: () => absent, reply: () => lost });
    expect(story.name()).toBe("paused");
    expect(reads.at(-1)?.at).toBeGreaterThanOrEqual((sends.at(-1)?.at ?? 0) + inAir);
  });

  test("of an intent whose process died is proven no earlier than that request may have died", () => {
    const story = running(PLAN).saw(1, absent);
    story.facts = { keys: false };
    expect(story.decide().kind).toBe("send");
    story.after(50).lease();
    const { sends, reads } = story.play({ read: () => absent, reply: () => ok });
    expect(sends[0]?.at).toBeGreaterThanOrEqual(inAir);
    expect(reads.filter(({ at }) => at < (sends[0]?.at ?? 0)).at(-1)?.at).toBeGreaterThanOrEqual(inAir);
  });

  test("never follows from one negative read after an accepted write", () => {
    const story = running(PLAN);
    let reads = 0;
    story.play({ read: ({ purpose }) => (purpose === "before" || reads++ < 3 ? absent : member()), reply: () => ok });
    expect(story.state.steps[0]?.receipt).toMatchObject({ result: "added", attribution: "proven" });
  });

  test("follows from complete reads over the whole settle time", () => {
    const story = running(PLAN);
    const { sends, reads } = story.play({ read: () => absent, reply: () => ok });
    expect(story.state.steps[0]?.receipt?.result).toBe("no_effect");
    expect(reads.at(-1)?.at).toBeGreaterThanOrEqual((sends[0]?.at ?? 0) + settleWindow(LIMITS, false));
  });
});

describe("a budget", () => {
  test("of attempts ends in a pause, and the next run has a fresh one", () => {
    const story = running(PLAN);
    const tenant = { read: () => absent, reply: () => notSent };
    expect(story.play(tenant).sends).toHaveLength(5);
    expect(story.name()).toBe("paused");
    expect(story.play(tenant).sends).toEqual([]);
    expect(story.lease().play(tenant).sends).toHaveLength(5);
  });

  test("of time ends in a pause that says when to come back", () => {
    const story = running(PLAN);
    let told = 0;
    const { sends } = story.play({
      read: () => absent,
      reply: () => {
        told = story.clock + 50_000;
        return { kind: "throttled", status: 429, retryAt: instant(told), detail: "slow down" };
      },
    });
    expect(sends).toHaveLength(3);
    expect(story.document()).toMatchObject({ state: "paused", blocked: { by: "tenant", until: instant(told) } });
  });

  test.each([
    ["sits out what a service asks for, up to a minute", 60_000, [0, 60_000]],
    ["does not sit out more than a minute", 60_500, [0]],
  ])("%s", (_, ms, at) => {
    const story = running(PLAN);
    const retryAt = instant(START + ms);
    const replies: Reply[] = [{ kind: "throttled", status: 429, retryAt, detail: "slow down" }, ok];
    let sent = 0;
    const { sends } = story.play({
      read: () => (sent > 1 ? member() : absent),
      reply: () => replies[sent++] ?? ok,
    });
    expect(sends.map((send) => Math.floor(send.at / 60_000) * 60_000)).toEqual(at);
    expect(sends.every((send, n) => n === 0 || send.at >= ms)).toBe(true);
    if (at.length === 1) expect(story.document().blocked).toMatchObject({ code: "paused", until: retryAt });
    else expect(story.name()).toBe("completed");
  });

  test("of reads is five failures one after another, with pauses between them", () => {
    const story = running(PLAN);
    const { reads, sends } = story.play({ read: () => unreadable });
    expect(sends).toEqual([]);
    expect(reads).toHaveLength(5);
    const pauses = reads.slice(1).map(({ at }, n) => at - (reads[n]?.at ?? 0));
    expect(pauses).toEqual([...pauses].sort((a, b) => a - b));
    expect(story.name()).toBe("paused");
  });
});

test("only an answer that got lost is asked for again to prove whose the change is", () => {
  const story = running(PLAN);
  const retryAt = instant(START + 30_000);
  const { sends } = story.play({
    read: ({ purpose }) => (purpose === "before" ? absent : member()),
    reply: () => ({ kind: "throttled", status: 429, retryAt, detail: "slow down" }),
  });
  expect(sends).toHaveLength(1);
  expect(story.state.steps[0]?.receipt).toMatchObject({ result: "added", attribution: "presumed" });
});

test("a token that is no longer accepted is refreshed once, in the same try", () => {
  const story = running(PLAN);
  const replies = [expired401, ok];
  const { sends } = story.play({
    read: () => (replies.length === 0 ? member() : absent),
    reply: () => replies.shift() ?? ok,
  });
  expect(sends.map(({ refresh }) => refresh)).toEqual([false, true]);
  expect(story.state.steps[0]?.receipt).toMatchObject({ result: "added", attribution: "proven" });
  expect(story.state.steps[0]?.apply.try).toBe(1);
});

test("not found for an account that was made moments ago is waited out", () => {
  const story = running(planOf([invite(), wait(), group()]));
  const gone: Reply = { kind: "gone", status: 404, code: "not_found", detail: "no such account" };
  const replies = [ok, gone, ok];
  const left = () => replies.length;
  const played = story.play({
    read: ({ step }) => {
      if (step === 1) return left() === 3 ? notInvited : invited("pending");
      if (step === 2) return invited("accepted");
      return left() === 0 ? member() : absent;
    },
    reply: () => replies.shift() ?? ok,
  });
  expect(played.sends.map(({ step }) => step)).toEqual([1, 3, 3]);
  expect(story.name()).toBe("completed");
  expect(story.state.subjectId).toBe(ACCOUNT);
});
