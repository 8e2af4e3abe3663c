import { describe, expect, test } from "vitest";
import { rereadAt } from "../../src/core/move.ts";
import { limitsFor } from "../../src/core/pace.ts";
import { freshTry, type Seen, type Work } from "../../src/core/state.ts";
import type { UnreadableReason } from "../../src/model/reading.ts";

const NOW = Date.parse("2026-07-24T10:00:00.000Z");
const limits = limitsFor({ requestMs: 1_000, settleMs: 0 });
const iso = (ms: number) => new Date(ms).toISOString();

/** How long a run waits before it reads again, from now; null where it does not. */
function pause(reason: UnreadableReason, more: { inMs?: number; failed?: number; agoMs?: number } = {}): number | null {
  const { inMs, failed = 1, agoMs = 0 } = more;
  const until = inMs === undefined ? {} : { until: iso(NOW + inMs) };
  const seen: Seen = {
    reading: { kind: "unreadable", reason, detail: "", ...until },
    at: iso(NOW),
    refusal: null,
    rises: null,
  };
  const work: Work = { ...freshTry(1), unreadable: failed, startedAt: iso(NOW - agoMs) };
  const at = rereadAt(work, seen, { now: NOW, limits });
  return at === null ? null : at - NOW;
}

describe("a read that failed", () => {
  test("is made again soon, and less soon each time", () => {
    expect([1, 2, 3, 4].map((failed) => pause("timeout", { failed }))).toEqual([20, 40, 80, 160]);
  });

  test("for too many requests, by words alone, is made again after a pause that grows as that of a write", () => {
    expect([1, 2, 3, 4].map((failed) => pause("throttled", { failed }))).toEqual([200, 400, 800, 1_600]);
  });

  test.each(["throttled", "server_error"] as const)("(%s) with a time is made again then, up to a minute", (reason) => {
    expect(pause(reason, { inMs: 30_000 })).toBe(30_000);
    expect(pause(reason, { inMs: 60_000 })).toBe(60_000);
    expect(pause(reason, { inMs: 60_001 })).toBeNull();
  });

  test("waits for no time that lies beyond what a step may take", () => {
    expect(pause("throttled", { inMs: 50_000, agoMs: 69_000 })).toBe(50_000);
    expect(pause("throttled", { inMs: 50_000, agoMs: 71_000 })).toBeNull();
  });

  test("five times is not made a sixth time, and one whose credential is dead not a second time", () => {
    expect(pause("timeout", { failed: 5 })).toBeNull();
    expect(pause("throttled", { failed: 5, inMs: 10 })).toBeNull();
    expect(pause("unauthenticated")).toBeNull();
  });
});
