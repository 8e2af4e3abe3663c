import { expect, test } from "vitest";
import { FINISHED, STATES, type StateName } from "../../src/core/status.ts";
import {
  ACCEPT_BY,
  absent,
  forbidden,
  group,
  invite,
  invited,
  lost,
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
import { HOLDER, running, Story, type Tenant } from "./story.ts";

/** A group that is added, and reads so afterwards. */
function willing(reply = ok, after: Read = member()): Tenant {
  let sent = false;
  return {
    read: () => (sent ? after : absent),
    reply: () => {
      sent = true;
      return reply;
    },
  };
}

const one = planOf([group()]);
const two = planOf([group(), group("platform", "grp_78")]);
const RESOLVED = { kind: "step.resolved", step: 1, approver: "ana@example.test", nonce: "n" } as const;
const envelope = { stmt: "", alg: "sshsig", sig: "" } as const;

/** The group was added by us, and that is proven. */
function added(plan = one): Story {
  const story = running(plan);
  story.play({
    read: ({ step }) => (story.state.steps[step - 1]?.apply.intent ? member() : absent),
    reply: () => ok,
  });
  return story;
}

function invitationOut(): Story {
  const story = running(planOf([invite(), wait(), group()])).saw(1, notInvited);
  story.decide();
  story.replied(1, ok).saw(1, invited("pending"), "settle").decide();
  return story;
}

/** Every state of an operation: what leads to it, and the exit that a command ends with there. */
const WAYS: [state: StateName, exit: number, way: string, tell: () => Story][] = [
  ["awaiting_approval", 3, "nobody has decided", () => new Story(one)],
  [
    "awaiting_approval",
    3,
    "it stands before a step that is decided per call",
    () => {
      const story = running(planOf([group(), group("on-call-readers", "grp_81", { gate: "call" })]));
      story.play({
        read: ({ step }) => (step === 1 && story.state.steps[0]?.apply.intent ? member() : absent),
        reply: () => ok,
      });
      return story;
    },
  ],
  ["approved", 0, "the next write is covered", () => new Story(one).approve()],
  ["waiting", 4, "the invitation is open", invitationOut],
  [
    "paused",
    12,
    "the tenant cannot be read",
    () => {
      const story = running(one);
      story.play({ read: () => unreadable });
      return story;
    },
  ],
  [
    "paused",
    12,
    "the process died between steps",
    () => {
      const story = running(two).saw(1, absent);
      story.decide();
      story.replied(1, ok).saw(1, member(), "settle");
      story.decide();
      return story.lease();
    },
  ],
  ["completed", 0, "every step is proven", () => added()],
  [
    "partial_failure",
    5,
    "a step was denied",
    () => {
      const story = running(one);
      story.play(willing(forbidden, absent));
      return story;
    },
  ],
  [
    "partial_failure",
    5,
    "a leaver's other steps went on past a denied one",
    () => {
      const step = stepOf("remove_group", { independent: true });
      const other = stepOf("suspend_account", { independent: true });
      const story = running(planOf([step, other], { kind: "leaver" }));
      story.receipt(1, { result: "denied", code: "forbidden" });
      story.receipt(2, { result: "suspended", ours: true, attribution: "proven" });
      return story;
    },
  ],
  [
    "diverged",
    6,
    "the tenant is not as the plan expects",
    () => {
      const story = running(planOf([role()]));
      story.play({ read: () => roleIs("billing") });
      return story;
    },
  ],
  [
    "diverged",
    6,
    "what was confirmed reads otherwise at a later run",
    () => {
      const story = new Story(two).approve([1]).lease();
      story.play({
        read: ({ step }) => (story.state.steps[step - 1]?.apply.intent ? member() : absent),
        reply: () => ok,
      });
      story
        .approve()
        .lease()
        .play({ read: () => absent });
      return story;
    },
  ],
  [
    "needs_reconciliation",
    7,
    "a write may have happened and cannot be read",
    () => {
      const story = running(one);
      story.play({ read: ({ purpose }) => (purpose === "before" ? absent : unreadable), reply: () => lost });
      return story;
    },
  ],
  [
    "needs_reconciliation",
    7,
    "a process died over an intent",
    () => {
      const story = running(one).saw(1, absent);
      story.decide();
      return story;
    },
  ],
  ["stopped", 13, "an operator stopped it", () => running(two).add({ kind: "op.stopped", by: "os:kim", reason: null })],
  [
    "stopped",
    13,
    "somebody denied it after a change",
    () => added(two).add({ kind: "approval.denied", by: "ana@example.test", reason: "no" }),
  ],
  [
    "interrupted",
    130,
    "a signal came",
    () => running(one).add({ kind: "op.state", event: "interrupted", detail: null }),
  ],
  ["rollback_pending", 8, "compensations are open", () => added().rollback()],
  [
    "rolled_back_in_part",
    8,
    "steps are kept by a person's word",
    () => {
      const story = added(two).rollback(1).lease();
      let back = false;
      story.play({
        read: () => (back ? absent : member()),
        reply: () => {
          back = true;
          return ok;
        },
      });
      return story;
    },
  ],
  ["rolled_back", 0, "there was nothing to take back", () => new Story(one).rollback()],
  [
    "rolled_back",
    0,
    "what stands was left by a signed word",
    () =>
      added()
        .rollback()
        .add({ ...RESOLVED, as: "left", envelope }),
  ],
  [
    "cancelled",
    13,
    "somebody denied it before any change",
    () => new Story(one).add({ kind: "approval.denied", by: "ana@example.test", reason: "no" }),
  ],
  [
    "cancelled",
    13,
    "the invited person declined",
    () => {
      const story = invitationOut().lease();
      story.play({ read: () => invited("declined") });
      return story;
    },
  ],
  [
    "expired",
    13,
    "the deadline of the invitation passed",
    () => {
      const story = invitationOut();
      story.clock = Date.parse(ACCEPT_BY);
      return story;
    },
  ],
  [
    "superseded",
    13,
    "a newer plan took its place",
    () => new Story(one).add({ kind: "op.state", event: "superseded", detail: null }),
  ],
  ["handed_over", 13, "another journal has it", () => new Story(one).add({ kind: "op.handed_over", to: "jrn_2" })],
];

test.each(WAYS)("%s, exit %i: %s", (state, exit, _, tell) => {
  const story = tell();
  expect([story.name(), STATES[story.name()]]).toEqual([state, exit]);
  expect(story.document().state).toBe(state);
});

test("running, exit 10: a live process holds it, whatever it did so far", () => {
  for (const story of [new Story(one).approve(), invitationOut(), added(two)]) expect(story.name(true)).toBe("running");
  expect(STATES.running).toBe(10);
  expect(running(one).document(HOLDER).state).toBe("running");
});

test("every state can be reached", () => {
  expect(new Set([...WAYS.map(([state]) => state), "running"])).toEqual(new Set(Object.keys(STATES)));
});

test("what is finished takes no more part in the planning of the same", () => {
  expect([...FINISHED].sort()).toEqual(
    ["completed", "partial_failure", "stopped", "cancelled", "expired", "superseded", "handed_over"]
      .concat(["rolled_back", "rolled_back_in_part"])
      .sort(),
  );
});
