import { type Catalog, groupById, roleById } from "../model/catalog.ts";
import type { Direction, Gate, StepKind, WriteStep } from "../model/plan.ts";

/** What a step's gate, direction and credential depend on beside the step itself. */
export interface Stakes {
  catalog: Catalog;
  /** Id of the role that the account holds when the step's turn comes; null where there is no account yet. */
  heldRole: string | null;
  /** Steps of which nothing shows that the provider holds under faults. */
  unproven?: readonly StepKind[];
}

/** A role that the catalogue does not know may be anything, and is treated as the highest. */
export function isElevated(catalog: Catalog, role: string): boolean {
  return roleById(catalog, role)?.elevated ?? true;
}

function isSensitive(catalog: Catalog, group: string): boolean {
  return groupById(catalog, group)?.sensitive ?? true;
}

function holdsElevated({ catalog, heldRole }: Stakes): boolean {
  return heldRole !== null && isElevated(catalog, heldRole);
}

/**
 * Which way the step moves the subject's authority. Between two roles of one privilege it raises: each grants what the
 * other does not. What destroys data is never a mere reduction.
 */
export function directionOf(step: WriteStep, stakes: Stakes): Direction {
  switch (step.kind) {
    case "invite":
    case "create_account":
    case "add_group":
    case "assign_license":
    case "restore_account":
      return "raise";
    case "set_role": {
      if (step.role === stakes.heldRole) return "neutral";
      const from = stakes.heldRole === null ? undefined : roleById(stakes.catalog, stakes.heldRole);
      const to = roleById(stakes.catalog, step.role);
      return from && to && to.privilege < from.privilege ? "reduce" : "raise";
    }
    case "delete_account":
      return "neutral";
    case "remove_group":
    case "remove_license":
    case "cancel_invitation":
    case "revoke_sessions":
    case "revoke_credentials":
    case "suspend_account":
      return "reduce";
    case "remove_member":
      return step.effects.some(({ kind }) => kind === "data") ? "neutral" : "reduce";
    default:
      step satisfies never;
      throw new TypeError("a step of unknown kind");
  }
}

/**
 * `call`, decided when the operation stands before the step: mail to the subject, an elevated role, a sensitive group,
 * loss of data, any write to an account that holds an elevated role, and what nothing shows to hold. A mere reduction is `plan` whatever the
 * account holds, so that nothing delays it. Needs the step's `direction` and `effects`; `none` is for what already
 * holds, which the planner knows and this does not.
 */
export function gateOf(step: WriteStep, stakes: Stakes): Exclude<Gate, "none"> {
  if (step.direction === "reduce") return "plan";
  const mails = ("send_email" in step && step.send_email) || step.effects.some(({ kind }) => kind === "mail");
  const destroys = step.kind === "delete_account" || step.effects.some(({ kind }) => kind === "data");
  const elevated = "role" in step && step.role !== undefined && isElevated(stakes.catalog, step.role);
  const sensitive = "group" in step && isSensitive(stakes.catalog, step.group.id);
  const calls = mails || destroys || elevated || sensitive || holdsElevated(stakes) || isUnproven(step, stakes);
  return calls ? "call" : "plan";
}

/** What a person must decide since nobody knows what comes of it when something goes wrong. A reduction never waits. */
export function isUnproven(step: WriteStep, { unproven = [] }: Stakes): boolean {
  return step.direction !== "reduce" && unproven.includes(step.kind);
}

/** The gate of a planned step, judged again at its turn: it can only rise, and what can never send stays closed. */
export function gateNow(step: WriteStep, stakes: Stakes): Gate {
  if (step.gate === "none" || step.gate === "call") return step.gate;
  return gateOf(step, stakes);
}

/** The privileged credential is for steps that set or take an elevated role or a sensitive membership, and no others. */
export function credentialOf(step: WriteStep, stakes: Stakes): "ordinary" | "privileged" {
  if ("group" in step) return isSensitive(stakes.catalog, step.group.id) ? "privileged" : "ordinary";
  const sets = "role" in step && step.role !== undefined && isElevated(stakes.catalog, step.role);
  const takes = step.kind === "set_role" || step.kind === "remove_member" || step.kind === "delete_account";
  return sets || (takes && holdsElevated(stakes)) ? "privileged" : "ordinary";
}
