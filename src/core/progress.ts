import { isWrite, type Step, type WriteStep } from "../model/plan.ts";
import type { Receipt, Result } from "../model/receipt.ts";
import { type Proof, standing } from "./kinds.ts";
import type { OperationState, StepState } from "./state.ts";

/** A stop holds until something is approved after it. */
export function stopHolds(state: OperationState): boolean {
  const { stopped } = state;
  return stopped !== null && !state.decisions.some((made) => made.phase === "apply" && made.seq > stopped.seq);
}

const FAILED: readonly Result[] = ["denied", "rejected", "no_effect"];
const ENDED: readonly Result[] = ["conflict", "unknown", "declined", "expired", "cancelled"];

/** A result past which only independent steps go on. */
export function failed(receipt: Receipt): boolean {
  return FAILED.includes(receipt.result);
}

/** A result that ends the way forward, for every step. `cancelled` is an end only where it was not asked for. */
export function endsApply(step: Step, receipt: Receipt): boolean {
  return ENDED.includes(receipt.result) && !(step.kind === "cancel_invitation" && receipt.result === "cancelled");
}

/** The step that the operation stands before; null where none is left that may run. */
export function currentStep(state: OperationState): StepState | null {
  let blocked = false;
  for (const step of state.steps) {
    if (step.receipt === null) {
      if (!blocked || (isWrite(step.plan) && step.plan.independent)) return step;
      continue;
    }
    if (endsApply(step.plan, step.receipt)) return null;
    blocked ||= failed(step.receipt);
  }
  return null;
}

/** It may have happened, and no read has settled it. */
export function inDoubt({ receipt, apply }: StepState): boolean {
  return receipt === null ? apply.intent !== null : receipt.result === "unknown";
}

/** Whether a confirmed step reads as it was left. */
export function stillStands(state: OperationState, plan: WriteStep, reading: Proof): boolean {
  if (
    plan.kind === "invite" &&
    state.subjectId !== null &&
    reading.kind === "found" &&
    reading.value.of === "invitation"
  )
    return reading.value.account?.id === state.subjectId && reading.value.account.status === "active";
  return standing(plan, reading, false) === "wanted";
}

/** Until when the service asked for time, in milliseconds; null where that is over, or the clock was set back since. */
export function askedUntil({ askedToWait, rollback }: OperationState, now: number): number | null {
  if (!askedToWait || now < Date.parse(askedToWait.at)) return null;
  // A person who asks for the way back since then does not wait for what the way forward was told.
  if (rollback !== null && rollback.seq > askedToWait.seq) return null;
  const until = Date.parse(askedToWait.until);
  return now < until ? until : null;
}
