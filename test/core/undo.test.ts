import { describe, expect, test } from "vitest";
import type { Reply } from "../../src/model/reply.ts";
import {
  absent,
  assigned,
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
  wait,
} from "./build.ts";
import { running, type Story, type Tenant } from "./story.ts";
import { back, done, GUEST, results, tenantOf } from "./things.ts";

test("what was changed is taken back newest first, and nothing else is touched", () => {
  const { story, tenant } = done(planOf([role(), group(), group("platform", "grp_78")]));
  expect(back(story, tenant)).toEqual([3, 2, 1]);
  expect(results(story)).toEqual(["undone", "undone", "undone"]);
  expect(tenant.things).toMatchObject({ role: roleIs("guest"), grp_77: absent, grp_78: absent });
  expect(story.name()).toBe("rolled_back");
});

test("what held before the run still holds after the rollback", () => {
  const tenant = tenantOf({ ...GUEST, grp_77: member('"5"') });
  const story = running(planOf([group(), role()]));
  story.play(tenant);
  expect(back(story, tenant)).toEqual([2]);
  expect(tenant.things.grp_77).toEqual(member('"5"'));
  expect(story.name()).toBe("rolled_back");
});

test("with nothing to undo it is rolled back at once", () => {
  const story = running(planOf([role()]));
  story.play(tenantOf({ role: roleIs("member", '"1"') }));
  expect(back(story, tenantOf({}))).toEqual([]);
  expect(story.name()).toBe("rolled_back");
});

describe("a value that somebody else decided since", () => {
  test("is not overwritten: the compensation has diverged, and the others go on", () => {
    const { story, tenant } = done(planOf([role(), group()]));
    tenant.edit("role", roleIs("billing"));
    expect(back(story, tenant)).toEqual([2]);
    expect(results(story)).toEqual(["diverged", "undone"]);
    expect(story.name()).toBe("rollback_pending");
    expect(story.document()).toMatchObject({ blocked: { step: 1, code: "changed_since" } });
  });

  test("is not overwritten where it reads the same at another version", () => {
    const { story, tenant } = done(planOf([role()]));
    tenant.edit("role", roleIs("member"));
    expect(back(story, tenant)).toEqual([]);
    expect(results(story)).toEqual(["diverged"]);
  });

  test("is left by a person's word, and stands first among what remains", () => {
    const { story, tenant } = done(planOf([role(), group()]));
    tenant.edit("role", roleIs("billing"));
    back(story, tenant);
    const envelope = { stmt: "", alg: "sshsig" as const, sig: "" };
    story.add({ kind: "step.resolved", step: 1, as: "left", envelope, approver: "ana@example.test", nonce: "n" });
    expect(results(story)).toEqual(["left", "undone"]);
    expect(story.name()).toBe("rolled_back");
    expect(story.document().residual_effects[0]).toMatchObject({ step: 1, kind: "left" });
    expect(story.document().steps[0]?.undo).toBe("left");
  });

  test("is looked at again by the next rollback", () => {
    const { story, tenant } = done(planOf([role()]));
    const ours = tenant.things.role as Read;
    tenant.things.role = roleIs("billing", '"99"');
    back(story, tenant);
    tenant.things.role = ours;
    expect(back(story, tenant)).toEqual([1]);
    expect(story.name()).toBe("rolled_back");
  });
});

test("a version that our own later step moved is ours", () => {
  const shared = planOf([role("member", "guest"), role("billing", "member")]);
  const { story, tenant } = done(shared);
  expect(back(story, tenant)).toEqual([2, 1]);
  expect(tenant.things.role).toMatchObject(roleIs("guest"));
});

test("a change that is gone already is not taken back twice", () => {
  const { story, tenant } = done(planOf([group()]));
  tenant.edit("grp_77", absent);
  expect(back(story, tenant)).toEqual([]);
  expect(results(story)).toEqual(["already gone"]);
  expect([story.name(), story.document().steps[0]?.undo]).toEqual(["rolled_back", "already gone"]);
});

describe("an invitation of ours", () => {
  function pending(): Story {
    const story = running(planOf([invite(), wait()]));
    story.saw(1, notInvited).decide();
    story.replied(1, ok).saw(1, invited("pending"), "settle").decide();
    return story;
  }

  test("is cancelled while it is pending", () => {
    const story = pending();
    let cancelled = false;
    const tenant: Tenant = {
      read: () => invited(cancelled ? "cancelled" : "pending"),
      reply: () => {
        cancelled = true;
        return ok;
      },
    };
    expect(back(story, tenant)).toEqual([1]);
    expect(results(story)).toEqual(["undone", null]);
    expect(story.name()).toBe("rolled_back");
  });

  test("that was accepted meanwhile is not cancelled: it reads accepted, and its undo is unavailable", () => {
    const story = pending();
    expect(back(story, { read: () => invited("accepted") })).toEqual([]);
    expect(story.document().steps[0]).toMatchObject({ result: "accepted", undo: "unavailable" });
    expect(story.name()).toBe("rolled_back");
    expect(story.document().residual_effects[0]).toMatchObject({ step: 1, kind: "account" });
  });

  test("that is accepted while we cancel it reads accepted", () => {
    const story = pending();
    let asked = false;
    const conflict: Reply = { kind: "conflict", status: 409, code: "not_pending", detail: "it was accepted" };
    back(story, {
      read: () => invited(asked ? "accepted" : "pending"),
      reply: () => {
        asked = true;
        return conflict;
      },
    });
    expect(story.document().steps[0]).toMatchObject({ result: "accepted", undo: "unavailable" });
  });
});

test("a licence is taken back before the group that it requires", () => {
  const pro = stepOf("assign_license", { requires: ["engineering"] });
  const { story, tenant } = done(planOf([group(), pro]));
  expect(back(story, tenant)).toEqual([2, 1]);
});

test("a group stays while a licence that requires it is not taken back", () => {
  const pro = stepOf("assign_license", { requires: ["engineering"] });
  const { story, tenant } = done(planOf([group(), pro, role()]));
  tenant.edit("lic_1", assigned());
  expect(back(story, tenant)).toEqual([3]);
  expect(results(story)).toEqual([null, "diverged", "undone"]);
  expect(story.name()).toBe("rollback_pending");
});

test("a presumed change is not taken back before a person says whose it is", () => {
  const story = running(planOf([group(), role()]));
  story.facts = { keys: false };
  const tenant = tenantOf({ ...GUEST });
  tenant.answer = lost;
  story.play(tenant);
  tenant.answer = ok;
  expect(story.state.steps.map(({ receipt }) => receipt?.attribution)).toEqual(["presumed", "presumed"]);
  expect(back(story, tenant)).toEqual([]);
  expect(story.name()).toBe("rollback_pending");
  expect(story.document().next[0]?.command).toBe("provision resolve k3v9q2mz --step 1 --as ours");
  const envelope = { stmt: "", alg: "sshsig" as const, sig: "" };
  const word = { kind: "step.resolved" as const, envelope, approver: "ana@example.test", nonce: "n" };
  story.add({ ...word, step: 1, as: "ours" }, { ...word, step: 2, as: "not-ours" });
  expect(back(story, tenant)).toEqual([1]);
  expect(story.name()).toBe("rolled_back");
  expect(tenant.things.role).toMatchObject(roleIs("member"));
});
