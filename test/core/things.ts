import { expect } from "vitest";
import type { Plan, Step } from "../../src/model/plan.ts";
import type { Reply } from "../../src/model/reply.ts";
import { absent, assigned, member, ok, type Read, roleIs } from "./build.ts";
import { running, type Story, type Tenant } from "./story.ts";

/** A tenant of things by name: roles, groups and licences, each at a version of its own. */
export interface Things extends Tenant {
  things: Record<string, Read>;
  /** Another administrator decides. */
  edit(name: string, reading: Read): void;
  answer: Reply;
  /** Whether writes change anything. */
  applies: boolean;
}

/** A tenant of named things at versions, each moved by every write, as a faithful service does it. */
export function tenantOf(things: Record<string, Read>): Things {
  let version = 10;
  const nameOf = (step: Step) =>
    "group" in step ? step.group.id : "license" in step ? step.license.id : step.kind === "set_role" ? "role" : "other";
  const tenant: Things = {
    things,
    edit: (name, reading) => {
      things[name] = reading.kind === "found" ? { ...reading, version: `"${++version}"` } : reading;
    },
    answer: ok,
    applies: true,
    read: ({ step }, story) => things[nameOf(story.plan.steps[step - 1] as Step)] ?? absent,
    reply: ({ step, phase }, story) => {
      const plan = story.plan.steps[step - 1] as Step;
      const shown = after(plan, phase);
      if (tenant.applies) tenant.edit(nameOf(plan), shown);
      const made = things[nameOf(plan)];
      return tenant.answer.kind === "accepted" && made?.kind === "found"
        ? { ...tenant.answer, version: made.version ?? "" }
        : tenant.answer;
    },
  };
  return tenant;
}

function after(plan: Step, phase: "apply" | "rollback"): Read {
  const forward = phase === "apply";
  switch (plan.kind) {
    case "set_role":
      return roleIs(forward ? plan.role : plan.expects.role);
    case "add_group":
      return forward ? member() : absent;
    case "remove_group":
      return forward ? absent : member();
    case "assign_license":
      return forward ? assigned() : absent;
    default:
      throw new Error("no such step here");
  }
}

export const GUEST: Readonly<Record<string, Read>> = { role: roleIs("guest", '"1"') };

/** The plan was carried out on a tenant that is as it expects. */
export function done(plan: Plan): { story: Story; tenant: Things } {
  const things = { ...GUEST };
  for (const step of plan.steps) if (step.kind === "remove_group") things[step.group.id] = member('"2"');
  const tenant = tenantOf(things);
  const story = running(plan);
  story.play(tenant);
  expect(story.name()).toBe("completed");
  return { story, tenant };
}

/** A rollback in a new process; the steps whose compensation was sent. */
export function back(story: Story, tenant: Tenant, toStep = 0) {
  return story
    .lease()
    .rollback(toStep)
    .play(tenant)
    .sends.map(({ step }) => step);
}

/** What became of each compensation. */
export const results = (story: Story) => story.state.steps.map(({ undone }) => undone?.result ?? null);
