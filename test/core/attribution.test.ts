import { expect, test } from "vitest";
import type { Reply } from "../../src/model/reply.ts";
import { absent, forbidden, group, lost, member, ok, planOf, role, roleIs, unreadable } from "./build.ts";
import { running, type Story, type Tenant } from "./story.ts";

const PLAN = planOf([group()]);
const notSent: Reply = { kind: "not_sent", detail: "connection refused" };
const conflict: Reply = { kind: "conflict", status: 409, code: "exists", detail: "it is there" };

/** Absent before, present after, with these replies one after another; the last one stands for those that follow. */
function answering(...replies: Reply[]): Tenant {
  let at = 0;
  return {
    read: ({ purpose }) => (purpose === "before" ? absent : member()),
    reply: () => replies[Math.min(at++, replies.length - 1)] as Reply,
  };
}

function receipt(story: Story) {
  const { result, ours, attribution, compensation } = story.state.steps[0]?.receipt ?? {};
  return { result, ours, attribution, compensation };
}

const taken = { kind: "remove_group" };

test("a change is proven ours by the reply to it", () => {
  const story = running(PLAN);
  story.play(answering(ok));
  expect(receipt(story)).toEqual({ result: "added", ours: true, attribution: "proven", compensation: taken });
});

test("a lost reply is made good by the reply to a resend with the same key", () => {
  const story = running(PLAN);
  const { sends } = story.play(answering(lost, ok));
  expect(sends).toHaveLength(2);
  expect(receipt(story)).toMatchObject({ ours: true, attribution: "proven" });
  const keys = story.entries.flatMap((entry) => (entry.kind === "step.requested" ? [entry.key] : []));
  expect(keys).toEqual([keys[0], keys[0]]);
});

test("a change is proven ours by the tenant's own record, and then nothing is sent again", () => {
  const story = running(PLAN);
  story.facts = { authorship: true };
  const { sends } = story.play({ ...answering(lost), author: () => ({ kind: "found", value: "ours" }) });
  expect(sends).toHaveLength(1);
  expect(receipt(story)).toMatchObject({ result: "added", ours: true, attribution: "proven" });
});

test("a change that the tenant's own record gives to another is not ours, and is never taken back", () => {
  const story = running(PLAN);
  story.facts = { authorship: true };
  story.play({ ...answering(lost), author: () => ({ kind: "found", value: "theirs" }) });
  expect(receipt(story)).toEqual({
    result: "already_present",
    ours: false,
    attribution: null,
    compensation: null,
  });
  expect(story.rollback().name()).toBe("rolled_back");
});

test.each([
  ["is silent", { kind: "absent", proof: "exact" } as const],
  ["cannot be read", { kind: "unreadable", reason: "forbidden", detail: "403" } as const],
])("where the tenant's record %s, a resend with the same key proves it", (_, author) => {
  const story = running(PLAN);
  story.facts = { authorship: true };
  const { sends } = story.play({ ...answering(lost, ok), author: () => author });
  expect(sends).toHaveLength(2);
  expect(receipt(story)).toMatchObject({ ours: true, attribution: "proven" });
});

test("where neither reply, record nor key tells, the change is presumed ours", () => {
  const story = running(PLAN);
  story.facts = { keys: false };
  story.play(answering(lost));
  expect(receipt(story)).toMatchObject({ result: "added", ours: true, attribution: "presumed" });
  expect(story.name()).toBe("completed");
});

test("where nothing of ours reached the service, what is there now is not ours", () => {
  const story = running(PLAN);
  story.play(answering(notSent));
  expect(receipt(story)).toEqual({
    result: "already_present",
    ours: false,
    attribution: null,
    compensation: null,
  });
});

test("a last attempt that was not sent says nothing of the lost one before it", () => {
  const story = running(PLAN);
  story.facts = { keys: false };
  let reads = 0;
  const replies = [lost, notSent];
  story.play({
    read: ({ purpose }) => (purpose === "before" || reads++ < 6 ? absent : member()),
    reply: () => replies.shift() ?? notSent,
  });
  expect(receipt(story)).toMatchObject({ result: "added", ours: true, attribution: "presumed" });
});

test("a read that fails after a lost and an unsent attempt leaves the step unknown", () => {
  const story = running(PLAN);
  const replies = [lost, notSent];
  let sent = 0;
  story.play({
    read: ({ purpose }) => (purpose === "before" || sent < 2 ? absent : unreadable),
    reply: () => {
      sent += 1;
      return replies.shift() ?? notSent;
    },
  });
  expect(receipt(story).result).toBe("unknown");
  expect(story.name()).toBe("needs_reconciliation");
});

test("an object that was there before is no change of ours, and nothing is sent or asked for", () => {
  const story = running(PLAN);
  const { sends } = story.play({ read: () => member('"7"') });
  expect(sends).toEqual([]);
  expect(receipt(story)).toEqual({ result: "already_present", ours: false, attribution: null, compensation: null });
});

test("an object that a conflict names is presumed ours where it was absent before our request", () => {
  const story = running(PLAN);
  story.facts = { keys: false };
  story.play(answering(conflict));
  expect(receipt(story)).toMatchObject({ result: "added", ours: true, attribution: "presumed" });
});

test("a value that is neither what was there nor what was asked is a conflict", () => {
  const story = running(planOf([role()]));
  const { sends } = story.play({
    read: ({ purpose }) => (purpose === "before" ? roleIs("guest") : roleIs("billing")),
    reply: () => lost,
  });
  expect(sends).toHaveLength(1);
  expect(receipt(story)).toMatchObject({ result: "conflict", ours: false });
  expect(story.name()).toBe("diverged");
});

test("a refusal whose effect is there all the same is found out", () => {
  const story = running(PLAN);
  story.facts = { authorship: true };
  const { sends } = story.play({ ...answering(forbidden), author: () => ({ kind: "found", value: "ours" }) });
  expect(sends).toHaveLength(1);
  expect(receipt(story)).toMatchObject({ result: "added", ours: true, attribution: "proven" });
});

test("a person's signed word makes a presumed change ours, or nobody's", () => {
  const story = running(PLAN);
  story.facts = { keys: false };
  story.play(answering(lost));
  const envelope = { stmt: "", alg: "sshsig" as const, sig: "" };
  const word = { kind: "step.resolved" as const, step: 1, envelope, approver: "ana@example.test", nonce: "n" };
  const before = story.entries.length;
  story.add({ ...word, as: "ours" });
  expect(receipt(story)).toMatchObject({ ours: true, attribution: "proven", compensation: taken });
  story.entries.length = before;
  story.add({ ...word, as: "not-ours" });
  expect(receipt(story)).toMatchObject({ ours: false, attribution: null, compensation: null });
});
