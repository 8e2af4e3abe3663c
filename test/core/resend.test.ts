import { describe, expect, test } from "vitest";
import type { Reply } from "../../src/model/reply.ts";
import { absent, group, lost, member, ok, planOf } from "./build.ts";
import { running } from "./story.ts";

const PLAN = planOf([group()]);
const notSent: Reply = { kind: "not_sent", detail: "connection refused" };
const answers = [
  ["whose answer was lost", lost],
  ["that was not sent", notSent],
] as const;

describe.each(answers)("a write %s is not sent again", (_, reply) => {
  test("once somebody stopped the operation, until it is approved again", () => {
    const story = running(PLAN);
    const { sends } = story.play({
      read: () => absent,
      reply: () => {
        story.add({ kind: "op.stopped", by: "os:kim", reason: null });
        return reply;
      },
    });
    expect(sends).toHaveLength(1);
    expect(story.lease().play({ read: () => absent }).sends).toEqual([]);
    expect(story.pending().steps).toEqual([1]);
    story.approve();
    let added = false;
    const again = story.lease().play({
      read: () => (added ? member() : absent),
      reply: () => {
        added = true;
        return ok;
      },
    });
    expect(again.sends).toHaveLength(1);
    expect(story.name()).toBe("completed");
  });

  test("once its approval does not verify any more", () => {
    const story = running(PLAN);
    const id = story.state.decisions[0]?.approval_id ?? "";
    const { sends, end } = story.play({
      read: () => absent,
      reply: () => {
        story.refusals.set(id, { code: "revoked_key", exit: 13, message: "The key was revoked." });
        return reply;
      },
    });
    expect(sends).toHaveLength(1);
    expect(end.refusal).toMatchObject({ code: "revoked_key", exit: 13 });
  });
});

test("a window limits the start of a step: what was begun inside it may be sent again after it", () => {
  const story = running(PLAN);
  const id = story.state.decisions[0]?.approval_id ?? "";
  const { sends } = story.play({
    read: () => absent,
    reply: () => {
      story.refusals.set(id, { code: "lapsed", exit: 13, message: "The approval has lapsed." });
      return lost;
    },
  });
  expect(sends.length).toBeGreaterThan(1);
});
