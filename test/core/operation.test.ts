import { describe, expect, test } from "vitest";
import type { Reply } from "../../src/model/reply.ts";
import {
  ACCOUNT,
  absent,
  forbidden,
  HASH,
  invited,
  joiner,
  lost,
  member,
  NOW,
  notInvited,
  ok,
  planOf,
  type Read,
  role,
  roleIs,
  unreadable,
} from "./build.ts";
import { HOLDER, running, Story } from "./story.ts";

/** The story up to its end: role and first group are proven, the sensitive group is denied. */
function denied(): Story {
  const story = running(joiner());
  const sent = new Set<number>();
  const shown: Record<number, [Read, Read]> = {
    1: [notInvited, invited("pending")],
    3: [roleIs("guest", '"9011"'), roleIs("member", '"9012"')],
    4: [absent, member('"1"')],
    5: [absent, absent],
  };
  const tenant = {
    read: ({ step }: { step: number }) =>
      step === 2 || (step === 1 && sent.has(3))
        ? invited("accepted")
        : ((shown[step]?.[sent.has(step) ? 1 : 0] as Read) ?? absent),
    reply: ({ step }: { step: number }): Reply => {
      sent.add(step);
      return step === 5 ? forbidden : step === 1 ? lost : ok;
    },
    author: () => ({ kind: "found" as const, value: "ours" as const }),
  };
  story.facts = { authorship: true };
  story.play(tenant);
  story.approve().lease();
  story.play(tenant);
  return story;
}

const FIELDS = [
  ...["schema", "operation_id", "plan_hash", "tenant", "kind", "subject", "state", "as_of", "steps"],
  ...["compensations", "residual_effects", "approvals", "in_flight", "blocked", "next"],
];
const STEP_FIELDS = [
  ...["step", "action", "target", "result", "undo", "gate", "approval"],
  ...["requested", "transport", "observed", "receipt"],
];

/** Every key that stands anywhere in the document. */
function keysOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(keysOf);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...keysOf(inner)]);
}

test("each document and each of its steps has every promised field, whatever happened so far", () => {
  for (const story of [new Story(joiner()), running(joiner()), denied(), denied().rollback().lease()]) {
    const document = story.document();
    expect(Object.keys(document)).toEqual(expect.arrayContaining(FIELDS));
    for (const step of document.steps) expect(Object.keys(step)).toEqual(STEP_FIELDS);
  }
});

describe("the document of an operation that stopped at a denied step", () => {
  const story = denied();
  const document = story.document();

  test("says which operation, plan, tenant, subject and state, and as of when", () => {
    expect(document).toMatchObject({
      schema: "provision.operation/v1",
      operation_id: "prov_2026_07_24_k3v9q2mz",
      plan_hash: HASH,
      tenant: "acme-production",
      kind: "joiner",
      subject: { email: "priya@example.test", remote_id: ACCOUNT },
      state: "partial_failure",
      as_of: story.entries.at(-1)?.at,
      in_flight: null,
    });
  });

  test("tells a changed step: what was asked, what was sent, what was seen, and the way back", () => {
    expect(document.steps[2]).toMatchObject({
      step: 3,
      action: "role.set",
      target: null,
      result: "changed",
      undo: "ready: guest",
      gate: "plan",
      approval: "given",
      requested: { role: "member" },
      transport: { attempts: 1, last_status: 200, provider_request_id: expect.stringMatching(/^req_/) },
      observed: { role: "member" },
      receipt: {
        subject_id: ACCOUNT,
        before: "guest",
        after: "member",
        attribution: "proven",
        remote_version_after: '"9012"',
        compensation: { action: "role.set", value: "guest" },
      },
    });
  });

  test("never merges what was asked with what was sent or seen", () => {
    expect(document.steps[4]).toMatchObject({
      action: "group.add",
      target: "on-call-readers",
      result: "denied",
      undo: "none",
      gate: "call",
      approval: "given",
      requested: { group: "on-call-readers", group_id: "grp_81" },
      transport: { attempts: 1, last_status: 403 },
      observed: { present: false },
      receipt: { before: "absent", after: "absent", attribution: null, compensation: null },
    });
  });

  test("says why it stands, and which commands can follow", () => {
    expect(document.blocked).toMatchObject({ step: 5, code: "forbidden", by: "tenant", until: null });
    expect(Date.parse(document.blocked?.since ?? "")).toBeGreaterThanOrEqual(Date.parse(NOW));
    expect(document.next.map(({ command }) => command)).toEqual([
      "provision run k3v9q2mz --retry-step 5",
      "provision rollback k3v9q2mz",
    ]);
    for (const next of document.next) {
      expect(Object.keys(next).sort()).toEqual(["command", "effect", "needs", "safe"]);
      expect(next.effect).not.toBe("");
    }
    expect(document.next.at(-1)).toMatchObject({ needs: "nothing", safe: true });
  });

  test("holds the way back, newest first, and who approved", () => {
    expect(document.compensations).toMatchObject([
      { step: 4, action: "group.remove", target: "engineering", result: null },
      { step: 3, action: "role.set", value: "guest", result: null },
    ]);
    expect(document.approvals).toMatchObject([
      { approver: "ana@example.test", phase: "apply", steps: [1, 3, 4] },
      { approver: "ana@example.test", phase: "apply", steps: [5] },
    ]);
  });

  test("holds the invitation as accepted, whose lost reply was settled by the tenant's record", () => {
    expect(document.steps[0]).toMatchObject({
      action: "invitation.create",
      result: "accepted",
      undo: "unavailable",
      requested: { role: "guest", send_email: false },
      transport: { attempts: 1, last_status: null },
      observed: { invitation_id: "inv_1" },
      receipt: { attribution: "proven" },
    });
    expect(document.steps[1]).toMatchObject({ result: "observed", undo: "n/a", requested: null, transport: null });
  });
});

test("no field says of a whole operation or step that it went well", () => {
  const stories = [new Story(joiner()), running(joiner()), denied(), denied().rollback().lease()];
  for (const story of stories) {
    const keys = keysOf(story.document());
    expect(keys.length).toBeGreaterThan(50);
    expect(keys.filter((key) => /succe|^ok$|failed/i.test(key))).toEqual([]);
  }
});

test("a step that has not started holds nothing but what the plan says", () => {
  const [, , third] = new Story(joiner()).document().steps;
  expect(third).toEqual({
    step: 3,
    action: "role.set",
    target: null,
    result: "-",
    undo: "-",
    gate: "plan",
    approval: "needed",
    requested: null,
    transport: null,
    observed: null,
    receipt: null,
  });
});

describe("the approval of a step reads", () => {
  const of = (story: Story) => story.document().steps.map(({ approval }) => approval);

  test("none for a wait, needed before the decision, given after it", () => {
    expect(of(new Story(joiner()))).toEqual(["needed", "none", "needed", "needed", "needed"]);
    expect(of(new Story(joiner()).approve())).toEqual(["given", "none", "given", "given", "needed"]);
  });

  test("lapsed once its window is over", () => {
    expect(of(new Story(joiner()).approve().after(25 * 3_600_000))).toEqual([
      ...["lapsed", "none", "lapsed", "lapsed", "needed"],
    ]);
  });

  test("given for what was sent under it, also after its window", () => {
    expect(of(denied().after(48 * 3_600_000))).toEqual(["given", "none", "given", "given", "given"]);
  });
});

describe("what is in flight", () => {
  const announced = () => {
    const story = running(joiner()).saw(1, notInvited);
    expect(story.decide().kind).toBe("send");
    return story;
  };

  test("is the announced write, since when, and who runs it", () => {
    const { in_flight, state } = announced().document(HOLDER);
    expect(state).toBe("running");
    expect(in_flight).toEqual({ step: 1, phase: "apply", action: "invitation.create", since: NOW, holder: HOLDER });
  });

  test("stays named where its process died, and the step reads unknown", () => {
    const { in_flight, state, steps } = announced().document(null);
    expect(state).toBe("needs_reconciliation");
    expect(in_flight).toMatchObject({ step: 1, holder: null });
    expect(steps[0]).toMatchObject({ result: "unknown", undo: "none" });
  });

  test("is the step that comes next, where a process is between two requests", () => {
    const story = running(joiner());
    expect(story.document(HOLDER).in_flight).toMatchObject({ step: 1, action: "invitation.create", holder: HOLDER });
    expect(story.document(null).in_flight).toBeNull();
  });

  test("is nothing once the answer is recorded and nobody runs it", () => {
    expect(announced().replied(1, ok).document(null).in_flight).toBeNull();
  });
});

test("a pause says what is missing and until when", () => {
  const story = running(joiner());
  story.play({ read: () => unreadable });
  expect(story.document().blocked).toMatchObject({
    step: 1,
    code: "paused",
    by: "tenant",
    until: null,
    detail: expect.stringContaining("no answer within 500 ms"),
  });
});

test("a conflict is by the plan, since the tenant refused nothing", () => {
  const story = running(joiner());
  story.play({ read: () => invited("accepted", { account: { id: "usr_9", email: null, status: "suspended" } }) });
  expect(story.document()).toMatchObject({ state: "diverged", blocked: { step: 1, by: "plan" } });
});

test("a rollback that waits for a decision is blocked by that, and a rule that denies a step by the policy", () => {
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
  expect(story.document()).toMatchObject({ state: "rollback_pending", blocked: { step: 1, by: "approval" } });
  const denied = running(planOf([role()]));
  denied.denied.set(1, { code: "policy_denied", exit: 13, message: "A rule denies it." });
  denied.play({ read: () => roleIs("guest") });
  expect(denied.document().blocked).toMatchObject({ step: 1, by: "policy" });
});

test("since when a step is blocked is the time that it was, which no later entry moves", () => {
  const story = denied();
  const since = story.document().blocked?.since;
  story.after(3_600_000).lease();
  expect(story.document().blocked?.since).toBe(since);
});
