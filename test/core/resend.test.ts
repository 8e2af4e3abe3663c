import { describe, expect, test } from "vitest";
import type { Reply } from "../../src/model/reply.ts";
import { absent, expired401, group, lost, member, ok, planOf, role, roleIs } from "./build.ts";
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

test("a rule that denies the step now lets nothing be sent again", () => {
  const story = running(PLAN);
  const { sends } = story.play({
    read: () => absent,
    reply: () => {
      story.denied.set(1, { code: "policy_denied", exit: 13, message: "A rule denies it." });
      return lost;
    },
  });
  expect(sends).toHaveLength(1);
});

test("a run after one that a dead token paused reads before it sends", () => {
  const story = running(PLAN);
  story.play({ read: () => absent, reply: () => expired401 });
  expect(story.name()).toBe("paused");
  expect(story.lease().decide()).toMatchObject({ kind: "observe" });
});

test("a compensation whose approval does not verify any more is not sent again", () => {
  const story = running(planOf([role("guest", "member", { direction: "reduce" })]));
  let now = roleIs("member", '"1"');
  const reply = () => {
    now = roleIs("guest", '"2"');
    return ok;
  };
  story.play({ read: () => now, reply });
  story
    .lease()
    .rollback()
    .play({ read: () => now });
  const id = story.approve().state.decisions.at(-1)?.approval_id ?? "";
  const { sends } = story.lease().play({
    read: () => now,
    reply: () => {
      story.refusals.set(id, { code: "revoked_key", exit: 13, message: "The key was revoked." });
      return lost;
    },
  });
  expect(sends).toHaveLength(1);
});
