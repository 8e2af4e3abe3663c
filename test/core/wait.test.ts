import { describe, expect, test } from "vitest";
import { instant } from "../../src/core/move.ts";
import { STATES } from "../../src/core/status.ts";
import type { InvitationView } from "../../src/model/reading.ts";
import {
  ACCEPT_BY,
  ACCOUNT,
  EMAIL,
  group,
  invite,
  invited,
  member,
  notInvited,
  ok,
  planOf,
  type Read,
  START,
  unreadable,
  wait,
} from "./build.ts";
import { running, type Story, type Tenant } from "./story.ts";

const DUE = Date.parse(ACCEPT_BY);

type Invitation = NonNullable<InvitationView["invitation"]>;
const accepted: Invitation = {
  id: "inv_1",
  status: "accepted",
  role: "guest",
  accepted_by: { id: ACCOUNT, email: EMAIL },
  mailed: false,
};

const KNOWN = { subject: { email: EMAIL, id: ACCOUNT } };

/** The invitation is out and pending; nothing has been heard of it. */
function open(onDeadline: "stop" | "cancel" = "stop", changes: Parameters<typeof planOf>[1] = {}): Story {
  const story = running(planOf([invite(), wait({ on_deadline: onDeadline }), group()], changes));
  let sent = false;
  story.play({
    read: () => (sent ? invited("pending") : notInvited),
    reply: () => {
      sent = true;
      return ok;
    },
  });
  expect([story.name(), story.document().steps[1]?.result]).toEqual(["waiting", "waiting"]);
  return story;
}

/** A later run finds this; the group is granted where it comes to that. */
function later(story: Story, invitation: Read) {
  let added = false;
  const tenant: Tenant = {
    read: ({ step }) => (step < 3 ? invitation : added ? member() : { kind: "absent", proof: "exact" }),
    reply: () => {
      added = true;
      return ok;
    },
  };
  return story.lease().play(tenant);
}

function barrier(story: Story) {
  const receipt = story.state.steps[1]?.receipt;
  return [receipt?.result, receipt?.code ?? null, story.name(), STATES[story.name()]];
}

test("the invited person accepts: the account that the service names is bound once, and the plan goes on", () => {
  const story = open();
  const { sends } = later(story, invited("accepted"));
  expect(sends.map(({ step }) => step)).toEqual([3]);
  expect(barrier(story)).toEqual(["observed", null, "completed", 0]);
  const bound = story.entries.filter(({ kind }) => kind === "subject.bound");
  expect(bound).toMatchObject([{ step: 2, subject_id: ACCOUNT, by: "accepted_by" }]);
});

test("an address is compared without case", () => {
  const story = open();
  const by = { id: ACCOUNT, email: "Priya@EXAMPLE.test" };
  later(story, invited("accepted", { invitation: { ...accepted, accepted_by: by } }));
  expect(barrier(story)[0]).toBe("observed");
});

/** What ends the way forward: result, code, state and exit. No group is added in any of them. */
const ENDS: [name: string, reading: Read, ...ending: unknown[]][] = [
  [
    "somebody else redeems the invitation",
    invited("accepted", {
      invitation: { ...accepted, accepted_by: { id: "usr_666", email: "mallory@example.test" } },
      account: null,
    }),
    ...["conflict", "other_redeemer", "diverged", 6],
  ],
  [
    "an account without an address redeems it",
    invited("accepted", { invitation: { ...accepted, accepted_by: { id: "usr_666", email: null } } }),
    ...["conflict", "other_redeemer", "diverged", 6],
  ],
  [
    "it reads accepted and names nobody",
    invited("accepted", { invitation: { ...accepted, accepted_by: null }, account: null }),
    ...["conflict", "accepted_without_membership", "diverged", 6],
  ],
  [
    "it reads accepted by the person, and there is no account",
    invited("accepted", { account: null }),
    ...["conflict", "accepted_without_membership", "diverged", 6],
  ],
  [
    "it reads accepted by the person, whose account is suspended",
    invited("accepted", { account: { id: ACCOUNT, email: EMAIL, status: "suspended" } }),
    ...["conflict", "accepted_without_membership", "diverged", 6],
  ],
  [
    "the address is held by another account than the one that redeemed it",
    invited("accepted", { account: { id: "usr_9", email: EMAIL, status: "active" } }),
    ...["conflict", "other_redeemer", "diverged", 6],
  ],
  ["the person declines", invited("declined"), "declined", "declined", "cancelled", 13],
  ["the service lets it expire", invited("expired"), "expired", "expired", "expired", 13],
  ["somebody cancels it", invited("cancelled"), "cancelled", "cancelled", "cancelled", 13],
  ["it is gone and there is no account", notInvited, "cancelled", "invitation_gone", "cancelled", 13],
  [
    "another one stands in its place",
    invited("pending", { invitation: { ...accepted, id: "inv_2", status: "pending", accepted_by: null } }),
    ...["conflict", "other_invitation", "diverged", 6],
  ],
];

test.each(ENDS)("%s: nothing more is granted", (_, reading, ...ending) => {
  const story = open();
  const { sends } = later(story, reading);
  expect(sends).toEqual([]);
  expect(barrier(story)).toEqual(ending);
  expect(story.state.subjectId).toBeNull();
});

test.each([
  [
    "that had an account when it was planned",
    () => running(planOf([invite({ gate: "none" }), wait(), group()], KNOWN)),
  ],
  ["that was invited", () => open("stop", KNOWN)],
])("a person %s, and whose address is held by another account now, is not gone on with", (_, begin) => {
  const story = begin();
  const other = { id: "usr_9", email: EMAIL, status: "active" as const };
  const { sends } = later(story, invited("accepted", { invitation: null, account: other }));
  expect(sends).toEqual([]);
  const ended = story.state.steps.map(({ receipt }) => receipt).find((receipt) => receipt?.result === "conflict");
  expect([ended?.code, story.name(), story.state.subjectId]).toEqual(["other_account", "diverged", ACCOUNT]);
});

test("where the invitation is gone and the account is there, the account was found, not redeemed", () => {
  const story = open();
  later(story, invited("accepted", { invitation: null }));
  expect(barrier(story)[0]).toBe("observed");
  expect(story.entries.find(({ kind }) => kind === "subject.bound")).toMatchObject({ by: "lookup" });
});

test("an invitation that cannot be read pauses the run and ends nothing", () => {
  const story = open();
  later(story, unreadable);
  expect(story.name()).toBe("paused");
  expect(story.state.steps[1]?.receipt).toBeNull();
});

describe("past its deadline and still open, the invitation", () => {
  test("is left open: the operation has expired, and the next command cancels it", () => {
    const story = open("stop");
    story.clock = DUE;
    expect(later(story, invited("pending")).sends).toEqual([]);
    expect(barrier(story)).toEqual(["expired", "deadline", "expired", 13]);
    const { steps, next } = story.document();
    expect(steps[0]?.undo).toBe("ready: cancel");
    expect(next.map(({ command }) => command)).toEqual(["provision rollback k3v9q2mz"]);
  });

  test("is told as expired from the journal alone, before anybody looked", () => {
    const story = open("stop");
    story.clock = DUE;
    expect(story.name()).toBe("expired");
    story.clock = DUE - 1;
    expect(story.name()).toBe("waiting");
  });

  test("is cancelled where the plan says so, and the operation has expired", () => {
    const story = open("cancel");
    story.clock = DUE;
    let cancelled = false;
    const { sends } = story.lease().play({
      read: () => (cancelled ? invited("cancelled") : invited("pending")),
      reply: () => {
        cancelled = true;
        return ok;
      },
    });
    expect(sends).toMatchObject([{ step: 1, phase: "rollback" }]);
    expect([story.name(), story.document().steps[0]?.undo]).toEqual(["expired", "undone"]);
  });

  test("counts as accepted where a read after the deadline shows it accepted", () => {
    const story = open("stop");
    story.clock = DUE - 1;
    story.lease().saw(2, invited("pending"));
    story.clock = DUE + 1;
    expect(story.decide()).toEqual({ kind: "observe", step: 2, phase: "apply", purpose: "before" });
    story.saw(2, invited("accepted")).decide();
    expect(story.state.steps[1]?.receipt?.result).toBe("observed");
  });
});

test("a run that waits looks again and again, until it loses patience", () => {
  const story = open();
  const patienceUntil = START + 60_000;
  story.facts = { patienceUntil };
  const { reads } = later(story, invited("pending"));
  expect(reads.length).toBeGreaterThan(2);
  expect(story.clock).toBeGreaterThanOrEqual(patienceUntil);
  expect(story.name()).toBe("waiting");
});

test("a run that waits goes on as soon as the invitation is accepted", () => {
  const story = open();
  story.facts = { patienceUntil: START + 3_600_000 };
  let looks = 0;
  let added = false;
  story.lease().play({
    read: ({ step }) => {
      if (step < 3) return looks++ < 5 ? invited("pending") : invited("accepted");
      return added ? member() : { kind: "absent", proof: "exact" };
    },
    reply: () => {
      added = true;
      return ok;
    },
  });
  expect(story.name()).toBe("completed");
  expect(story.clock).toBeLessThan(START + 60_000);
});

test("the deadline stands in the plan, and nothing puts it off", () => {
  const plan = planOf([invite({ accept_by: instant(START + 1000) }), wait()]);
  const story = running(plan).receipt(1, { result: "pending", ours: true, after: invited("pending") });
  expect(story.after(999).name()).toBe("waiting");
  expect(story.after(1).name()).toBe("expired");
});
