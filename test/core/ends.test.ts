import { describe, expect, test } from "vitest";
import { absent, group, joiner, member, ok, planOf } from "./build.ts";
import { running } from "./story.ts";

const one = planOf([group()]);

describe("an end", () => {
  test("that was told by another journal or plan is final: nothing is read or sent any more", () => {
    for (const event of ["cancelled", "superseded"] as const) {
      const story = running(one).add({ kind: "op.state", event, detail: null });
      expect(story.lease().play({ read: () => absent })).toMatchObject({ sends: [], reads: [] });
    }
  });

  test("by a pause or a signal is over with the next run", () => {
    for (const event of ["paused", "interrupted"] as const) {
      const story = running(one).add({ kind: "op.state", event, detail: null });
      expect(story.move()).toEqual({ kind: "halt" });
      story.lease().play({
        read: ({ step }) => (story.state.steps[step - 1]?.apply.intent ? member() : absent),
        reply: () => ok,
      });
      expect(story.name()).toBe("completed");
    }
  });

  test("in doubt stays in doubt under a stop: the stop does not hide it", () => {
    const story = running(joiner()).receipt(1, { result: "unknown" });
    expect(story.add({ kind: "op.stopped", by: "os:kim", reason: null }).name()).toBe("needs_reconciliation");
  });

  test("by an interruption over an announced write is in doubt, not interrupted", () => {
    const story = running(one).saw(1, absent);
    story.decide();
    expect(story.add({ kind: "op.state", event: "interrupted", detail: null }).name()).toBe("needs_reconciliation");
  });
});
