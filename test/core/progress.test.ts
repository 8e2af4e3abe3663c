import { describe, expect, test } from "vitest";
import { currentStep, endsApply, failed, stillStands, stopHolds } from "../../src/core/progress.ts";
import type { Result } from "../../src/model/receipt.ts";
import {
  ACCOUNT,
  absent,
  forbidden,
  group,
  invite,
  invited,
  joiner,
  member,
  notInvited,
  ok,
  planOf,
  type Read,
  role,
  roleIs,
  stepOf,
  unreadable,
  wait,
} from "./build.ts";
import { running, Story } from "./story.ts";

const THREE = planOf([role(), group(), group("platform", "grp_78")]);

/** Three steps; the first is proven, and only it was approved. */
function first(): Story {
  const story = new Story(THREE).approve([1]).lease();
  let sent = false;
  const { sends } = story.play({
    read: ({ step }) => (step === 1 ? roleIs(sent ? "member" : "guest") : absent),
    reply: () => {
      sent = true;
      return ok;
    },
  });
  expect(sends).toHaveLength(1);
  return story.approve();
}

/** What a later run reads and sends, where the confirmed role reads so. */
function again(story: Story, shown: Read) {
  return story.lease().play({
    read: ({ step }) => (step === 1 ? shown : story.state.steps[step - 1]?.apply.intent ? member() : absent),
    reply: () => ok,
  });
}

describe("what an earlier run confirmed", () => {
  test("is read again before a later run sends anything", () => {
    const story = first();
    const { reads, sends } = again(story, roleIs("member"));
    expect(reads[0]).toMatchObject({ step: 1, purpose: "verify" });
    expect(sends.map(({ step }) => step)).toEqual([2, 3]);
    expect(reads.filter(({ purpose }) => purpose === "verify")).toHaveLength(1);
    expect(story.name()).toBe("completed");
  });

  test("and was changed by a colleague ends the run before anything is sent", () => {
    const story = first();
    expect(again(story, roleIs("billing")).sends).toEqual([]);
    expect(story.name()).toBe("diverged");
    expect(story.document().blocked).toMatchObject({ step: 1, code: "changed_since" });
  });

  test("is judged anew at each run", () => {
    const story = first();
    again(story, roleIs("billing"));
    expect(again(story, roleIs("member")).sends.map(({ step }) => step)).toEqual([2, 3]);
    expect(story.name()).toBe("completed");
  });

  test("and cannot be read pauses the run", () => {
    const story = first();
    expect(again(story, unreadable).sends).toEqual([]);
    expect(story.name()).toBe("paused");
  });

  test("of an invitation is the account that redeemed it, active and the same", () => {
    const state = running(joiner()).add({
      kind: "subject.bound",
      step: 2,
      subject_id: ACCOUNT,
      by: "accepted_by",
    }).state;
    const seen = (account: { id: string; status: "active" | "suspended" } | null) =>
      stillStands(
        state,
        invite(),
        invited("accepted", { account: account && { ...account, email: null } }) as Exclude<
          Read,
          { kind: "unreadable" }
        >,
      );
    expect(seen({ id: ACCOUNT, status: "active" })).toBe(true);
    expect(seen({ id: ACCOUNT, status: "suspended" })).toBe(false);
    expect(seen({ id: "usr_9", status: "active" })).toBe(false);
    expect(seen(null)).toBe(false);
  });
});

describe("the step that an operation stands before", () => {
  const at = (story: Story) => currentStep(story.state)?.plan.step ?? null;

  test("is the first without a receipt", () => {
    const story = running(THREE);
    expect(at(story)).toBe(1);
    expect(at(story.receipt(1, { result: "changed" }))).toBe(2);
    expect(at(story.receipt(2, { result: "added" }).receipt(3, { result: "added" }))).toBeNull();
  });

  test.each(["denied", "rejected", "no_effect", "conflict", "unknown"] satisfies Result[])(
    "is none after a step that ended as %s",
    (result) => expect(at(running(THREE).receipt(1, { result }))).toBeNull(),
  );

  test("is the next independent one after a failure, and none after a conflict", () => {
    const independent = { independent: true };
    const leaver = planOf([
      stepOf("remove_group", independent),
      stepOf("revoke_sessions"),
      stepOf("suspend_account", independent),
    ]);
    expect(at(running(leaver).receipt(1, { result: "denied" }))).toBe(3);
    expect(at(running(leaver).receipt(1, { result: "unknown" }))).toBeNull();
  });

  test("is none after an invitation that ended without a membership", () => {
    for (const result of ["declined", "expired", "cancelled"] as const)
      expect(
        at(
          running(planOf([invite(), wait(), role()]))
            .receipt(1, { result: "pending" })
            .receipt(2, { result }),
        ),
      ).toBeNull();
  });

  test("is the one after an invitation that was to be cancelled, and was", () => {
    const plan = planOf([stepOf("cancel_invitation"), stepOf("suspend_account")]);
    expect(at(running(plan).receipt(1, { result: "cancelled" }))).toBe(2);
    expect(endsApply(stepOf("cancel_invitation"), { result: "cancelled" } as never)).toBe(false);
  });
});

test("a denied step ends the run, and a later run sends nothing of its own accord", () => {
  const story = running(THREE);
  const tenant = {
    read: ({ step }: { step: number }) => (step === 1 ? roleIs("guest") : absent),
    reply: () => forbidden,
  };
  expect(story.play(tenant).sends).toHaveLength(1);
  expect(story.lease().play(tenant).sends).toEqual([]);
  expect(failed(story.state.steps[0]?.receipt as never)).toBe(true);
  story.add({ kind: "step.retried", step: 1, by: "os:kim" });
  expect(story.lease().play(tenant).sends).toEqual([]);
  story.approve();
  const keys = () => story.entries.flatMap((entry) => (entry.kind === "step.requested" ? [entry.key] : []));
  expect(story.lease().play(tenant).sends).toHaveLength(1);
  expect(new Set(keys()).size).toBe(2);
});

test("a conflict that was found before anything was sent is looked at again by the next run", () => {
  const story = running(planOf([role()]));
  story.play({ read: () => roleIs("billing") });
  expect(story.name()).toBe("diverged");
  let sent = false;
  story.lease().play({
    read: () => roleIs(sent ? "member" : "guest"),
    reply: () => {
      sent = true;
      return ok;
    },
  });
  expect(story.name()).toBe("completed");
});

test("a stop holds until something is approved after it", () => {
  const story = running(THREE).add({ kind: "op.stopped", by: "os:kim", reason: "wrong person" });
  expect(stopHolds(story.state)).toBe(true);
  expect(story.lease().play({ read: () => roleIs("guest") }).sends).toEqual([]);
  expect(stopHolds(story.approve().state)).toBe(false);
});

test("a stop in the middle of a write settles that write, and sends nothing more", () => {
  const story = running(THREE).saw(1, roleIs("guest"));
  story.decide();
  story.replied(1, ok).add({ kind: "op.stopped", by: "os:kim", reason: null });
  expect(story.play({ read: () => roleIs("member") }).sends).toEqual([]);
  expect(story.state.steps[0]?.receipt?.result).toBe("changed");
  expect(story.name()).toBe("stopped");
});

test("an account that is there after all contradicts a request that says there is none", () => {
  const there = invited("accepted", { invitation: null });
  const stated = { preconditions: { account_absent: true } };
  const contradicted = running(planOf([invite(), wait()], stated));
  expect(contradicted.play({ read: () => there }).sends).toEqual([]);
  expect(contradicted.name()).toBe("diverged");
  const silent = running(planOf([invite(), wait()]));
  silent.play({ read: () => there });
  expect(silent.document().steps[0]?.result).toBe("already_member");
  expect(notInvited).not.toEqual(there);
});
