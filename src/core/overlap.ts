import { isWrite, type Plan, type WriteStep } from "../model/plan.ts";

/** What a step changes, so that two plans for one person can be held against each other. */
function touched(step: WriteStep): string {
  if ("group" in step) return `group ${step.group.id}`;
  if ("license" in step) return `license ${step.license.id}`;
  if (step.kind === "set_role") return "role";
  if (step.kind === "revoke_sessions" || step.kind === "revoke_credentials") return step.kind;
  return "account";
}

/** Whether two plans for one subject on one tenant change the same thing. */
export function overlap(one: Plan, other: Plan): boolean {
  const things = new Set(one.steps.filter(isWrite).map(touched));
  return other.steps.filter(isWrite).some((step) => things.has(touched(step)));
}
