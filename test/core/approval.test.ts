import { describe, expect, test } from "vitest";
import { coverOf, sameReading } from "../../src/core/approval.ts";
import { instant } from "../../src/core/move.ts";
import type { Step } from "../../src/model/plan.ts";
import {
  absent,
  group,
  HOUR,
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
  START,
  sensitive,
  wait,
} from "./build.ts";
import { running, Story, type Tenant } from "./story.ts";

function cover(story: Story, step: number, reading: Read | null = null, phase: "apply" | "rollback" = "apply") {
  const { state } = story;
  const held = state.steps[step - 1];
  if (!held) throw new Error("no such step");
  return coverOf(state, held, phase, reading, story.clock, story.authority()).kind;
}

/** The tenant as the plan of the story expects it: everything is done as asked, and the invitation is accepted. */
function willing(): Tenant & { done: Set<number>; now: Map<number, Read> } {
  const done = new Set<number>();
  const now = new Map<number, Read>();
  const after: Record<string, Read> = {
    invite: invited("pending"),
    wait_for_acceptance: invited("accepted"),
    set_role: roleIs("member", '"8"'),
    add_group: member('"9"'),
  };
  const before: Record<string, Read> = { invite: notInvited, set_role: roleIs("guest", '"7"'), add_group: absent };
  return {
    done,
    now,
    read: ({ step, purpose }, story) => {
      const kind = (story.plan.steps[step - 1] as Step).kind;
      if (purpose === "verify" && kind === "invite") return invited("accepted");
      const seen = now.get(step) ?? (done.has(step) ? after[kind] : before[kind]) ?? after[kind];
      if (!seen) throw new Error(`nothing to read for ${kind}`);
      return seen;
    },
    reply: ({ step }) => {
      done.add(step);
      return ok;
    },
  };
}

describe("a decision with the plan", () => {
  test("is needed before anything is sent, and covers the steps that it names", () => {
    const story = new Story(planOf([role(), group()]));
    expect(cover(story, 1)).toBe("needed");
    story.approve([1]);
    expect([cover(story, 1), cover(story, 2)]).toEqual(["given", "needed"]);
  });

  test("holds inside its window alone: not before it, and not at its end", () => {
    const story = new Story(planOf([role()]));
    story.approve(null, { not_before: instant(START + HOUR), not_after: instant(START + 2 * HOUR) });
    expect(cover(story, 1)).toBe("refused");
    story.after(HOUR);
    expect(cover(story, 1)).toBe("given");
    story.after(HOUR - 1);
    expect(cover(story, 1)).toBe("given");
    story.after(1);
    expect(cover(story, 1)).toBe("lapsed");
  });

  test("limits the start of a step: what was begun is settled after its end", () => {
    const story = new Story(planOf([role()])).approve(null, { not_after: instant(START + 10) }).lease();
    let sent = false;
    const { sends } = story.play({
      read: () => (sent ? roleIs("member") : roleIs("guest")),
      reply: () => {
        story.after(HOUR);
        sent = true;
        return ok;
      },
    });
    expect(sends).toHaveLength(1);
    expect(story.name()).toBe("completed");
  });

  test("that lapsed is asked for again, for what remains only", () => {
    const story = new Story(joiner()).approve(null, { not_after: instant(START + HOUR) }).lease();
    story.play({ ...willing(), read: ({ step }) => (step === 1 ? invited("pending") : invited("pending")) });
    story.after(2 * HOUR);
    expect(story.pending().steps).toEqual([3, 4]);
    expect(story.document().steps.map(({ approval }) => approval)).toContain("lapsed");
  });

  test("that no longer verifies stops the run before its next write, with its own code", () => {
    const story = new Story(planOf([role()])).approve();
    const id = story.state.decisions[0]?.approval_id ?? "";
    story.refusals.set(id, { code: "revoked_key", exit: 13, message: "The key was revoked." });
    const { end, sends } = story.lease().play({ read: () => roleIs("guest") });
    expect(sends).toEqual([]);
    expect(end.refusal).toMatchObject({ code: "revoked_key", exit: 13 });
  });

  test("yields to a rule that denies the step now", () => {
    const story = running(planOf([role()]));
    story.denied.set(1, { code: "policy", exit: 13, message: "A rule denies it." });
    const { end, sends } = story.play({ read: () => roleIs("guest") });
    expect(sends).toEqual([]);
    expect(end.refusal?.code).toBe("policy");
  });

  test("is not asked for where the step already holds", () => {
    const story = new Story(planOf([role()])).lease();
    story.play({ read: () => roleIs("member") });
    expect(story.name()).toBe("completed");
  });
});

describe("a decision per call", () => {
  test("of the first step is taken together with the plan", () => {
    const story = new Story(planOf([invite({ gate: "call", send_email: true }), wait(), role()]));
    expect(story.pending()).toEqual({ phase: "apply", steps: [1, 3], readings: {} });
    expect(story.approve().lease().play(willing()).sends[0]?.step).toBe(1);
  });

  test("of a later step is asked for when the operation stands before it, and not earlier", () => {
    const story = new Story(joiner());
    expect(story.pending().steps).toEqual([1, 3, 4]);
    story.approve().lease();
    const tenant = willing();
    const { sends } = story.play(tenant);
    expect(sends.map(({ step }) => step)).toEqual([1, 3, 4]);
    expect(story.name()).toBe("awaiting_approval");
    expect(story.pending()).toEqual({ phase: "apply", steps: [5], readings: { "5": absent } });
    expect(
      story
        .approve()
        .lease()
        .play(tenant)
        .sends.map(({ step }) => step),
    ).toEqual([5]);
    expect(story.name()).toBe("completed");
  });

  test("is spent by another reading, and asked for on the new one", () => {
    const admin = role("admin", "member", { gate: "call" });
    const story = running(planOf([group(), admin]));
    const tenant = willing();
    tenant.now.set(2, roleIs("member", '"7"'));
    story.play(tenant);
    expect(story.pending().readings).toEqual({ "2": roleIs("member", '"7"') });
    story.approve();
    tenant.now.set(2, roleIs("member", '"8"'));
    const { sends } = story.lease().play(tenant);
    expect(sends).toEqual([]);
    expect(story.entries.filter(({ kind }) => kind === "approval.spent")).toHaveLength(1);
    expect(story.name()).toBe("awaiting_approval");
    expect(story.pending()).toMatchObject({ steps: [2], readings: { "2": roleIs("member", '"8"') } });
    story.approve();
    expect(
      story
        .lease()
        .play(tenant)
        .sends.map(({ step }) => step),
    ).toEqual([2]);
  });

  test("is asked for once while the reading stays the same", () => {
    const story = running(planOf([group(), sensitive()]));
    const tenant = willing();
    story.play(tenant);
    story.lease().play(tenant);
    story.lease().play(tenant);
    expect(story.entries.filter(({ kind }) => kind === "approval.requested")).toHaveLength(1);
  });

  test("compares value and version, and a reading with none", () => {
    expect(sameReading(roleIs("guest", '"1"'), roleIs("guest", '"1"'))).toBe(true);
    expect(sameReading(roleIs("guest", '"1"'), roleIs("guest", '"2"'))).toBe(false);
    expect(sameReading(roleIs("guest"), roleIs("member"))).toBe(false);
    expect(sameReading(absent, { kind: "absent", proof: "complete_scan" })).toBe(true);
    expect(sameReading(absent, member())).toBe(false);
    expect(sameReading(null, absent)).toBe(false);
  });
});

describe("what a person may decide", () => {
  test("is nothing where everything is decided, and nothing once the operation has ended", () => {
    const story = running(planOf([role()]));
    expect(story.pending().steps).toEqual([]);
    const ended = new Story(planOf([role()])).add({ kind: "op.state", event: "superseded", detail: null });
    expect(ended.pending().steps).toEqual([]);
  });

  test("never holds a wait, or a step that holds already", () => {
    const there = invite({ gate: "none", reversibility: "read_only", undo: null });
    expect(new Story(planOf([there, wait(), role()])).pending().steps).toEqual([3]);
  });

  test("is what remains after a stop, which ends what was decided before it", () => {
    const story = running(planOf([role(), group()]));
    story.add({ kind: "op.stopped", by: "os:kim", reason: null });
    expect(cover(story, 1)).toBe("needed");
    expect(story.name()).toBe("stopped");
    expect(story.pending().steps).toEqual([1, 2]);
    story.approve();
    expect(cover(story, 1)).toBe("given");
    expect(story.name()).not.toBe("stopped");
  });

  test("is the step that a person opened again, whose old decision is spent", () => {
    const story = running(planOf([role(), group()]));
    story.receipt(1, { result: "denied", code: "forbidden" });
    story.add({ kind: "step.retried", step: 1, by: "os:kim" });
    expect([cover(story, 1), cover(story, 2)]).toEqual(["needed", "given"]);
    expect(story.pending().steps).toEqual([1]);
  });

  test("in a rollback is every target that raises, on the readings made for it", () => {
    const lowered = role("guest", "member", { direction: "reduce" });
    const story = running(planOf([lowered]));
    let sent = false;
    story.play({
      read: () => (sent ? roleIs("guest", '"2"') : roleIs("member", '"1"')),
      reply: () => {
        sent = true;
        return ok;
      },
    });
    story.rollback();
    expect(story.pending()).toEqual({ phase: "rollback", steps: [], readings: {} });
    story.lease().play({ read: () => roleIs("guest", '"2"') });
    expect(story.pending()).toEqual({ phase: "rollback", steps: [1], readings: { "1": roleIs("guest", '"2"') } });
  });
});

test("a stop does not end the cover for undo", () => {
  const lowered = role("guest", "member", { direction: "reduce" });
  const story = running(planOf([lowered]));
  let now = roleIs("member", '"1"');
  const tenant: Tenant = {
    read: () => now,
    reply: ({ phase }) => {
      now = phase === "apply" ? roleIs("guest", '"2"') : roleIs("member", '"3"');
      return ok;
    },
  };
  story.play(tenant);
  story.rollback().lease().play(tenant);
  story.approve();
  story.add({ kind: "op.stopped", by: "os:kim", reason: null });
  expect(cover(story, 1, now, "rollback")).toBe("given");
  expect(
    story
      .lease()
      .play(tenant)
      .sends.map(({ phase }) => phase),
  ).toEqual(["rollback"]);
  expect(story.name()).toBe("rolled_back");
});
