import type { Refusal } from "../core/approval.ts";
import { attributesOf, policyFor } from "../core/policy.ts";
import type { OperationState } from "../core/state.ts";
import { isWrite } from "../model/plan.ts";
import type { Desk, TenantDesk } from "./desk.ts";

/** Standing in the roster is not enough: the policy names who may decide about each step. Null where it names them. */
export function notNamed(
  desk: Desk,
  { catalog }: TenantDesk,
  { plan }: OperationState,
  steps: readonly number[],
  approver: string,
): Refusal | null {
  const policy = desk.policy();
  for (const number of steps) {
    const step = plan.steps[number - 1];
    if (!step || !isWrite(step)) continue;
    const { verdict, approvers } = policyFor(attributesOf(step, plan, catalog), policy);
    if (verdict === "ask" && !approvers.includes(approver))
      return {
        code: "not_named_by_policy",
        exit: 13,
        message: `The policy does not name ${approver} for step ${number}.`,
        hint: approvers.length === 0 ? "It names nobody for it." : `It names: ${approvers.join(", ")}.`,
      };
  }
  return null;
}
