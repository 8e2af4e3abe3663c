import { describe, expect, test } from "vitest";
import { hasNow } from "../../src/core/holdings.ts";
import {
  absent,
  account,
  group,
  invite,
  invited,
  member,
  planOf,
  role,
  roleIs,
  stepOf,
  unreadable,
  wait,
} from "./build.ts";
import { running } from "./story.ts";

const none = { before: null, after: null, code: null, detail: null, status: null, provider_request_id: null };
const joiner = () => running(planOf([invite(), wait(), role(), group()]));

describe("what the subject has now", () => {
  test("is nothing before anything was seen, and where a read failed", () => {
    expect(hasNow(joiner().state)).toEqual([]);
    expect(hasNow(joiner().saw(3, unreadable).state)).toEqual([]);
  });

  test("is an invitation until there is an account", () => {
    const story = joiner().receipt(1, { result: "pending", ours: true, after: invited("pending") });
    expect(hasNow(story.state)).toEqual(["invitation pending"]);
    const active = { id: "usr_1938", email: "priya@example.test", status: "active" as const };
    story.receipt(2, { result: "observed", after: invited("accepted", { account: active }) });
    expect(hasNow(story.state)).toContain("account active");
  });

  test("is what the receipts found, in the order of the steps", () => {
    const story = joiner()
      .receipt(3, { after: roleIs("member") })
      .receipt(4, { result: "added", after: member() });
    expect(hasNow(story.state)).toEqual(["role member", "group engineering"]);
  });

  test("is what a later look found, ahead of what was left there", () => {
    const story = joiner()
      .receipt(3, { after: roleIs("member") })
      .lease()
      .saw(3, roleIs("billing"), "verify");
    expect(hasNow(story.state)).toEqual(["role billing"]);
  });

  test("leaves out what was taken back, and shows what that left", () => {
    const story = joiner()
      .receipt(3, { after: roleIs("member") })
      .receipt(4, { result: "added", after: member() });
    const undone = (step: number, after: ReturnType<typeof roleIs>) =>
      story.add({ kind: "step.compensated", step, receipt: { ...none, result: "undone", after } });
    undone(4, absent);
    undone(3, roleIs("guest"));
    expect(hasNow(story.state)).toEqual(["role guest"]);
  });

  test("keeps what was seen of a thing that was left as somebody else decided", () => {
    const story = joiner()
      .receipt(3, { after: roleIs("member"), ours: true, attribution: "proven" })
      .rollback();
    story.add({
      kind: "step.compensated",
      step: 3,
      receipt: { ...none, result: "diverged", after: roleIs("billing") },
    });
    const word = { envelope: { stmt: "", alg: "sshsig", sig: "" }, approver: "ana@example.test", nonce: "n" } as const;
    story.add({ kind: "step.resolved", step: 3, as: "left", ...word });
    expect([story.state.steps[2]?.undone?.result, hasNow(story.state)]).toEqual(["left", ["role billing"]]);
  });

  test("is the account's own state where the steps are about that", () => {
    const story = running(planOf([stepOf("suspend_account")])).receipt(1, {
      result: "suspended",
      after: account("suspended"),
    });
    expect(hasNow(story.state)).toEqual(["account suspended"]);
  });
});
