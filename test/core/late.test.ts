import { expect, test } from "vitest";
import type { Reply } from "../../src/model/reply.ts";
import { absent, DAY, expired401, group, invite, member, notInvited, planOf, role, roleIs, wait } from "./build.ts";
import { LIMITS, running, type Story } from "./story.ts";

const later: Reply = { kind: "accepted", status: 202, asynchronous: true };

/** Announced and sent; the answer is this. */
function answered(story: Story, reply: Reply): Story {
  story.decide();
  return story.replied(1, reply).after(1);
}

test("after a refused token, a later run sends nothing over what somebody else has set meanwhile", () => {
  const story = answered(running(planOf([role()])).saw(1, roleIs("guest")), expired401).lease();
  story.saw(1, roleIs("admin"), "settle").after(LIMITS.settleMs + LIMITS.requestMs);
  story.saw(1, roleIs("admin"), "settle");
  expect(story.decide()).toEqual({ kind: "halt" });
  expect(story.state.steps[0]?.receipt).toMatchObject({ result: "conflict", code: "changed_since", ours: false });
});

test("what the service said it would do later is waited for before it is taken back", () => {
  const story = answered(running(planOf([group()])).saw(1, absent), later).saw(1, member(), "settle");
  const sentAt = story.clock - 1;
  story.decide();
  expect(story.state.steps[0]?.receipt?.result).toBe("added");
  story.lease().rollback().after(LIMITS.settleMs);
  expect(story.decide()).toEqual({ kind: "wait", until: sentAt + 1 + LIMITS.asyncMs, why: "settle" });
});

test("so is a request of which no answer came, when another one was answered", () => {
  const story = answered(running(planOf([group()])).saw(1, absent), { kind: "lost", detail: "cut off" });
  const sentAt = story.clock - 1;
  story.saw(1, absent, "settle").after(LIMITS.requestMs);
  story.saw(1, absent, "settle");
  answered(story, { kind: "accepted", status: 200 }).saw(1, member(), "settle");
  story.decide();
  story.lease().rollback();
  const move = story.decide();
  expect(move).toMatchObject({ kind: "wait", why: "settle" });
  expect(move.kind === "wait" && move.until).toBeGreaterThanOrEqual(sentAt + LIMITS.requestMs + LIMITS.settleMs);
});

test("an invitation is not sent once the time to accept it by has passed, and that is what the operation says", () => {
  const story = running(planOf([invite(), wait()])).after(7 * DAY);
  story.approve().lease().saw(1, notInvited);
  expect(story.decide()).toEqual({ kind: "halt" });
  expect(story.state.steps[0]?.receipt).toMatchObject({ result: "expired", code: "too_late", ours: false });
  expect([story.name(), story.document().blocked?.by]).toEqual(["expired", "clock"]);
  expect(story.entries.some(({ kind }) => kind === "step.requested")).toBe(false);
});

test("nor is it sent again then, where the first request did not get through", () => {
  const story = running(planOf([invite(), wait()])).saw(1, notInvited);
  answered(story, { kind: "not_sent", detail: "connection refused" })
    .saw(1, notInvited, "settle")
    .after(7 * DAY);
  story.saw(1, notInvited, "settle");
  expect(story.decide()).toEqual({ kind: "halt" });
  expect([story.name(), story.entries.filter(({ kind }) => kind === "step.requested").length]).toEqual(["paused", 1]);
  story.approve().lease().saw(1, notInvited);
  story.decide();
  expect(story.name()).toBe("expired");
});
