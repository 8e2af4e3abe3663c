import { expect, test } from "vitest";
import type { Reply } from "../../src/model/reply.ts";
import {
  absent,
  DAY,
  expired401,
  group,
  invite,
  invited,
  member,
  notInvited,
  planOf,
  role,
  roleIs,
  wait,
} from "./build.ts";
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

test("a cancelling that came after the acceptance leaves no doubt behind: the way back ends, and the account is named", () => {
  const ours = {
    ours: true,
    attribution: "proven",
    compensation: { kind: "cancel_invitation", while: "pending" },
  } as const;
  const story = running(planOf([invite(), wait()])).receipt(1, {
    result: "pending",
    after: invited("pending"),
    ...ours,
  });
  story.after(LIMITS.settleMs).lease().rollback();
  story.saw(1, invited("pending"), "before", "rollback");
  expect(story.decide()).toMatchObject({ kind: "send", phase: "rollback" });
  story.replied(1, { kind: "conflict", status: 409, code: "not_pending", detail: "accepted" }, "rollback");
  const there = { id: "usr_1938", email: "priya@example.test", status: "active" as const };
  story.after(LIMITS.settleMs + 1).saw(1, invited("accepted", { account: there }), "settle", "rollback");
  expect(story.decide()).toEqual({ kind: "halt" });
  expect([story.state.steps[0]?.receipt?.result, story.name()]).toEqual(["accepted", "rolled_back"]);
  expect(story.lease().name()).toBe("rolled_back");
});

test("a conflict that was found ahead of a rollback stays found when the rollback is asked for again", () => {
  const story = running(planOf([role(), group()])).receipt(2, { result: "conflict", code: "not_as_expected" });
  story.lease().rollback();
  expect(story.state.steps[1]?.receipt?.result).toBe("conflict");
  expect(story.lease().state.steps[1]?.receipt?.result).toBe("conflict");
});

test("a way back that somebody asks for does not wait for what the way forward was told; its own answers count", () => {
  const told = (story: Story) => new Date(story.clock + 30 * DAY).toISOString();
  const story = running(planOf([role(), group()]));
  const left = { result: "changed", ours: true, attribution: "proven", after: roleIs("member") } as const;
  story.receipt(1, { ...left, compensation: { kind: "set_role", role: "guest" } }).saw(2, absent);
  story.decide();
  story.replied(2, { kind: "throttled", status: 429, retryAt: told(story), detail: "slow down" });
  story.after(1).saw(2, absent, "settle").after(LIMITS.settleMs).saw(2, absent, "settle");
  story.decide();
  expect(story.name()).toBe("paused");
  story.after(DAY).lease();
  expect(story.decide()).toEqual({ kind: "halt" });
  story.lease().rollback();
  expect(story.decide()).toMatchObject({ kind: "observe", phase: "rollback" });
});
