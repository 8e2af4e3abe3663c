import { describe, expect, test } from "vitest";
import { actionOf, targetOf } from "../../src/core/kinds.ts";
import { isWrite, STEP_KINDS, type Step, type StepKind, type WriteStep } from "../../src/model/plan.ts";
import type { Reply } from "../../src/model/reply.ts";
import {
  ACCEPT_BY,
  ACCOUNT,
  absent,
  account,
  around,
  expired401,
  forbidden,
  found,
  invite,
  invited,
  joiner,
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
import { running, type Story, type Tenant } from "./story.ts";

/** RESULT and UNDO of a step, as the table shows them. */
function words(story: Story, step = 1): string[] {
  const line = story.document().steps[step - 1];
  return [line?.result ?? "", line?.undo ?? ""];
}

/** One step alone, on a tenant that shows one thing before the write and another one after it. */
function alone(step: Step, before: Read, after: Read, reply: Reply = ok): Story {
  const story = running(planOf([step]));
  let sent = false;
  story.play({
    read: () => (sent ? after : before),
    reply: () => {
      sent = true;
      return reply;
    },
  });
  return story;
}

test.each([
  ["invite", "invitation.create"],
  ["create_account", "account.create"],
  ["wait_for_acceptance", "acceptance.wait"],
  ["set_role", "role.set"],
  ["add_group", "group.add"],
  ["remove_group", "group.remove"],
  ["assign_license", "license.assign"],
  ["remove_license", "license.remove"],
  ["cancel_invitation", "invitation.cancel"],
  ["revoke_sessions", "sessions.revoke"],
  ["revoke_credentials", "credentials.revoke"],
  ["suspend_account", "account.suspend"],
  ["restore_account", "account.restore"],
  ["remove_member", "member.remove"],
  ["delete_account", "account.delete"],
] satisfies [StepKind, string][])("%s is called %s by everybody", (kind, action) => {
  expect(actionOf(kind)).toBe(action);
});

test("a step's target is its group or licence; the subject says the rest", () => {
  expect(targetOf(stepOf("add_group"))).toBe("engineering");
  expect(targetOf(stepOf("remove_license"))).toBe("pro");
  expect(targetOf(role())).toBeNull();
});

const DONE: [kind: StepKind, result: string, undo: string][] = [
  ["invite", "pending", "ready: cancel"],
  ["create_account", "created", "ready: suspend"],
  ["set_role", "changed", "ready: guest"],
  ["add_group", "added", "ready"],
  ["remove_group", "removed", "ready"],
  ["assign_license", "assigned", "ready"],
  ["remove_license", "removed", "ready"],
  ["cancel_invitation", "cancelled", "unavailable"],
  ["revoke_sessions", "revoked", "unavailable"],
  ["revoke_credentials", "revoked", "unavailable"],
  ["suspend_account", "suspended", "ready"],
  ["restore_account", "restored", "ready"],
  ["remove_member", "removed", "unavailable"],
  ["delete_account", "deleted", "unavailable"],
];

test.each(DONE)("%s that we did reads %s, and its undo %s", (kind, ...expected) => {
  const step = stepOf(kind) as WriteStep;
  const { expected: before, wanted } = around(step);
  expect(words(alone(step, before, wanted))).toEqual(expected);
});

test("every kind that writes is among them", () => {
  const kinds = STEP_KINDS.filter((kind) => isWrite(stepOf(kind)));
  expect(DONE.map(([kind]) => kind).sort()).toEqual([...kinds].sort());
});

test("an account that the service keeps for a while can be restored until then", () => {
  const step = stepOf("delete_account", { undo: { kind: "restore_account" } });
  const kept = found({ of: "account", id: ACCOUNT, status: "deleted", restore_until: "2026-08-24T10:00:00.000Z" });
  expect(words(alone(step, account("active"), kept))).toEqual([
    "deleted",
    expect.stringMatching(/^ready: restore until 2026-08-24/),
  ]);
});

test.each([
  ["create_account", "already_exists", "none"],
  ["set_role", "unchanged", "none"],
  ["add_group", "already_present", "none"],
  ["remove_group", "already_absent", "none"],
  ["assign_license", "already_assigned", "none"],
  ["remove_license", "already_absent", "none"],
  ["suspend_account", "already_suspended", "none"],
  ["restore_account", "already_active", "none"],
] satisfies [StepKind, string, string][])("%s that held before reads %s, and its undo %s", (kind, ...expected) => {
  const { wanted } = around(stepOf(kind) as WriteStep);
  expect(words(alone(stepOf(kind), wanted, wanted))).toEqual(expected);
});

test.each([
  ["cancel_invitation", "already_accepted", invited("accepted")],
  ["remove_member", "already_absent", absent],
  ["revoke_sessions", "revoked", absent],
  ["revoke_credentials", "revoked", absent],
  ["delete_account", "deleted", absent],
] satisfies [StepKind, string, Read][])(
  "%s that held before reads %s, and its undo unavailable",
  (kind, result, reading) => {
    expect(words(alone(stepOf(kind), reading, reading))).toEqual([result, "unavailable"]);
  },
);

describe("an invitation", () => {
  const open = () => {
    const story = running(planOf([invite(), wait()])).saw(1, notInvited);
    story.decide();
    story.replied(1, ok).saw(1, invited("pending"), "settle").decide();
    return story;
  };

  test("that was open already is adopted: not ours, and never cancelled by us", () => {
    const [result, undo] = words(alone(invite(), invited("pending"), invited("pending")));
    expect(result).toBe("adopted");
    expect(undo).not.toMatch(/^ready/);
  });

  test("to an address that has an account reads already_member", () => {
    const there = invited("accepted", { invitation: null });
    const [result, undo] = words(alone(invite(), there, there));
    expect(result).toBe("already_member");
    expect(undo).not.toMatch(/^ready/);
  });

  test("reads accepted, and its undo unavailable, once the acceptance was observed", () => {
    const story = running(joiner()).receipt(1, {
      result: "pending",
      ours: true,
      attribution: "proven",
      after: invited("pending"),
      compensation: { kind: "cancel_invitation", while: "pending" },
    });
    expect(words(story)).toEqual(["pending", "ready: cancel"]);
    story.receipt(2, { result: "observed" });
    expect(words(story)).toEqual(["accepted", "unavailable"]);
  });

  test.each(["declined", "expired", "cancelled"] as const)(
    "that ended as %s reads so, and is not taken back",
    (status) => {
      const story = open();
      story.lease().play({ read: () => invited(status) });
      expect(words(story)).toEqual([status, "unavailable"]);
      expect(story.document()).toMatchObject({ compensations: [], next: [] });
    },
  );

  test("that is still open past its deadline reads expired, and can be cancelled", () => {
    const story = open();
    story.clock = Date.parse(ACCEPT_BY);
    story.lease().play({ read: () => invited("pending") });
    expect(words(story)).toEqual(["expired", "ready: cancel"]);
  });

  test("that was found accepted while we looked for our own reads accepted", () => {
    expect(words(alone(invite(), notInvited, invited("accepted"), lost))).toEqual(["accepted", "unavailable"]);
  });
});

describe("a wait", () => {
  const at = (reading: Read) => {
    const story = running(planOf([invite({ gate: "none", undo: null }), wait()]));
    story.receipt(1, { result: "adopted", after: invited("pending") });
    story.play({ read: () => reading });
    return words(story, 2);
  };

  test.each([
    ["waiting", invited("pending")],
    ["observed", invited("accepted")],
    ["declined", invited("declined")],
    ["expired", invited("expired")],
    ["cancelled", invited("cancelled")],
  ] satisfies [string, Read][])("reads %s, and there is nothing to undo", (result, reading) => {
    expect(at(reading)).toEqual([result, "n/a"]);
  });

  test("that has not begun reads nothing", () => {
    expect(words(running(joiner()), 2)).toEqual(["-", "-"]);
  });
});

describe("a write that changed nothing of ours", () => {
  const conflict: Reply = { kind: "conflict", status: 412, code: "precondition_failed", detail: "" };
  const rejected: Reply = { kind: "rejected", status: 422, code: "invalid", detail: "" };
  test.each([
    ["denied", forbidden, absent],
    ["rejected", rejected, absent],
    ["conflict", conflict, absent],
    ["unknown", lost, unreadable],
    ["no_effect", ok, absent],
  ] satisfies [string, Reply, Read][])("reads %s, and there is nothing to undo", (result, reply, after) => {
    expect(words(alone(stepOf("add_group"), absent, after, reply))).toEqual([result, "none"]);
  });

  test("was not refused by a dead token: the operation is paused, and the step is open", () => {
    const story = alone(stepOf("add_group"), absent, absent, expired401);
    expect(story.name()).toBe("paused");
    expect(words(story)[0]).not.toBe("denied");
  });

  test("reads conflict where nothing was sent, since the tenant is not as the plan expects", () => {
    expect(words(alone(role(), roleIs("billing"), roleIs("billing")))).toEqual(["conflict", "none"]);
  });

  test("reads conflict where it held at plan time and does not hold any more", () => {
    const inert = stepOf("add_group", { gate: "none", expects: { member: true }, undo: null });
    expect(words(alone(inert, absent, absent))).toEqual(["conflict", "none"]);
  });
});

test("a step that has not started reads nothing", () => {
  expect(words(running(planOf([role()])))).toEqual(["-", "-"]);
});

describe("after a compensation the undo reads", () => {
  const added = () => alone(stepOf("add_group"), absent, member('"1"'));
  const back = (tenant: Tenant) => {
    const story = added().lease().rollback();
    story.play(tenant);
    return words(story)[1];
  };

  test("undone", () => {
    let gone = false;
    const reply = () => {
      gone = true;
      return ok;
    };
    expect(back({ read: () => (gone ? absent : member('"1"')), reply })).toBe("undone");
  });
  test("already gone", () => expect(back({ read: () => absent })).toBe("already gone"));
  test("diverged", () => expect(back({ read: () => member('"2"') })).toBe("diverged"));
  test("left", () => {
    const story = added().rollback();
    const envelope = { stmt: "", alg: "sshsig" as const, sig: "" };
    story.add({ kind: "step.resolved", step: 1, as: "left", envelope, approver: "ana@example.test", nonce: "n" });
    expect(words(story)[1]).toBe("left");
  });
});
