import { describe, expect, test } from "vitest";
import type { Reply } from "../../src/model/reply.ts";
import {
  absent,
  expired401,
  forbidden,
  group,
  lost,
  member,
  ok,
  planOf,
  role,
  roleIs,
  stepOf,
  unreadable,
} from "./build.ts";
import { LIMITS, running } from "./story.ts";
import { back, done, GUEST, results, type Things, tenantOf } from "./things.ts";

describe("compensations that give authority back", () => {
  const lowering = planOf([
    role("guest", "member", { direction: "reduce" }),
    stepOf("remove_group"),
    group("platform", "grp_78"),
  ]);

  function lowered() {
    const tenant = tenantOf({ role: roleIs("member", '"1"'), grp_77: member('"2"') });
    const story = running(lowering);
    story.play(tenant);
    expect(story.name()).toBe("completed");
    return { story, tenant };
  }

  test("are asked for all at once, after every target was read; the others do not wait", () => {
    const { story, tenant } = lowered();
    const from = story.entries.length;
    expect(back(story, tenant)).toEqual([3]);
    const asked = story.entries.slice(from).filter(({ kind }) => kind === "approval.requested");
    expect(asked).toMatchObject([{ phase: "rollback", steps: [1, 2], gate: "call" }]);
    expect(story.name()).toBe("rollback_pending");
    const firstSent = story.entries.slice(from).findIndex(({ kind }) => kind === "step.requested");
    const readAhead = story.entries.slice(from, from + firstSent).filter(({ kind }) => kind === "step.observed");
    expect(new Set(readAhead.map((entry) => "step" in entry && entry.step))).toEqual(new Set([1, 2, 3]));
  });

  test("go on once they were decided together", () => {
    const { story, tenant } = lowered();
    back(story, tenant);
    expect(story.pending()).toMatchObject({ phase: "rollback", steps: [1, 2] });
    story.approve();
    expect(
      story
        .lease()
        .play(tenant)
        .sends.map(({ step }) => step),
    ).toEqual([2, 1]);
    expect(story.name()).toBe("rolled_back");
    expect(tenant.things).toMatchObject({ role: roleIs("member"), grp_77: member(), grp_78: absent });
  });

  test("are not covered by a decision over another reading", () => {
    const { story, tenant } = lowered();
    back(story, tenant);
    story.approve();
    tenant.edit("role", roleIs("guest"));
    expect(
      story
        .lease()
        .play(tenant)
        .sends.map(({ step }) => step),
    ).toEqual([2]);
    expect(results(story)[0]).toBe("diverged");
  });
});

test("steps up to the one named are kept", () => {
  const { story, tenant } = done(planOf([role(), group(), group("platform", "grp_78")]));
  expect(back(story, tenant, 1)).toEqual([3, 2]);
  expect(story.name()).toBe("rolled_back_in_part");
  expect(tenant.things.role).toMatchObject(roleIs("member"));
  expect(back(story, tenant, 0)).toEqual([1]);
  expect(story.name()).toBe("rolled_back");
});

test("a rolled-back part is applied again only by a person's act", () => {
  const { story, tenant } = done(planOf([role(), group()]));
  back(story, tenant, 1);
  expect(story.lease().play(tenant).sends).toEqual([]);
  story.add({ kind: "step.retried", step: 2, by: "os:kim" });
  expect(story.lease().play(tenant).sends).toEqual([]);
  story.approve();
  expect(
    story
      .lease()
      .play(tenant)
      .sends.map(({ step, phase }) => [step, phase]),
  ).toEqual([[2, "apply"]]);
});

test("an unknown step is settled before anything is taken back, and nothing is sent for it any more", () => {
  const tenant = tenantOf({ ...GUEST });
  const story = running(planOf([role(), group()]));
  tenant.answer = lost;
  const blind = (step: number, purpose: string) => step === 2 && purpose !== "before";
  story.play({
    ...tenant,
    read: (move, at) => (blind(move.step, move.purpose) ? unreadable : tenant.read(move, at)),
    reply: (move, at) => {
      tenant.answer = move.step === 2 ? lost : ok;
      return tenant.reply?.(move, at) ?? ok;
    },
  });
  expect(story.name()).toBe("needs_reconciliation");
  story.lease().rollback();
  expect(story.play({ read: () => unreadable }).sends).toEqual([]);
  expect(story.name()).toBe("needs_reconciliation");
  tenant.answer = ok;
  story.facts = { authorship: true };
  story.lease().play({ ...tenant, author: () => ({ kind: "found", value: "ours" }) });
  expect(results(story)).toEqual(["undone", "undone"]);
});

test("a compensation that the tenant refuses stays open, and a new rollback tries it again", () => {
  const { story, tenant } = done(planOf([group()]));
  tenant.answer = forbidden;
  tenant.applies = false;
  expect(back(story, tenant)).toEqual([1]);
  expect(results(story)).toEqual(["denied"]);
  expect([story.name(), story.document().blocked?.code]).toEqual(["rollback_pending", "forbidden"]);
  tenant.answer = ok;
  tenant.applies = true;
  expect(back(story, tenant)).toEqual([1]);
  expect(story.name()).toBe("rolled_back");
});

test("once a rollback began, nothing is applied any more", () => {
  const story = running(planOf([role(), group()]));
  const tenant = tenantOf({ ...GUEST });
  story.rollback();
  expect(story.lease().play(tenant).sends).toEqual([]);
  expect(story.name()).toBe("rolled_back");
});

test("a conflict that ended the run does not stand in the way of taking back what was done before it", () => {
  const story = running(planOf([group(), role()]));
  const tenant = tenantOf({ role: roleIs("billing", '"1"') });
  story.play(tenant);
  expect(story.name()).toBe("diverged");
  expect(back(story, tenant)).toEqual([1]);
  expect(story.name()).toBe("rolled_back");
});

const PAUSES: [name: string, reply: Reply][] = [
  ["never sent", { kind: "not_sent", detail: "connection refused" }],
  ["throttled", { kind: "throttled", status: 429, retryAt: null, detail: "slow down" }],
  ["refused to a dead token", expired401],
  ["lost", lost],
];

test.each(PAUSES)("a write that was %s, and proven not to have happened, does not stand in the way", (_, reply) => {
  const story = running(planOf([role(), group()]));
  const tenant = tenantOf({ ...GUEST });
  const { reply: faithful } = tenant;
  tenant.reply = (move, at) => (move.step === 2 ? reply : (faithful?.(move, at) ?? ok));
  story.play(tenant);
  expect(story.name()).toBe("paused");
  expect(back(story, tenant)).toEqual([1]);
  expect([story.name(), tenant.things.role]).toEqual(["rolled_back", expect.objectContaining(roleIs("guest"))]);
});

test("a read that lags behind our own change does not pass for somebody who took it back", () => {
  const { story, tenant } = done(planOf([group()]));
  const made = Date.parse(story.state.steps[0]?.receiptAt ?? "");
  const lagging: Things = {
    ...tenant,
    read: (asked, told) => (told.clock < made + LIMITS.settleMs ? absent : tenant.read(asked, told)),
  };
  expect(back(story, lagging)).toEqual([1]);
  expect(results(story)).toEqual(["undone"]);
  expect(tenant.things.grp_77).toEqual(absent);
});
