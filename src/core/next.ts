import { onward, settling } from "./apply.ts";
import { coverOf } from "./approval.ts";
import { type Context, halt, type Move, pausedEntry } from "./move.ts";
import { askedUntil, currentStep, stopHolds } from "./progress.ts";
import type { OperationState, StepState } from "./state.ts";
import { nextUndo } from "./undo.ts";

/** What comes next, from the fold alone. Total: every state has an answer, and the answer for an end is `halt`. */
export function next(state: OperationState, context: Context): Move {
  const move = decide(state, context);
  return move.kind === "observe" || move.kind === "send" ? (asked(state, context) ?? move) : move;
}

/** Time that the service asked for is given to it, also by a later run. */
function asked(state: OperationState, { now, limits }: Context): Move | null {
  // What was sent is settled first, and waits for itself.
  const until = state.steps.some(unsettled) ? null : askedUntil(state, now);
  if (until === null) return null;
  if (until - now <= limits.retryAfterMs) return { kind: "wait", until, why: "backoff" };
  return pausedEntry("the service asked for time", until);
}

function unsettled({ apply, receipt, undo, undone }: StepState): boolean {
  return (apply.intent !== null && receipt === null) || (undo.intent !== null && undone === null);
}

function decide(state: OperationState, context: Context): Move {
  if (state.ended !== null) return halt;
  if (context.authority.word) return { kind: "halt", refusal: context.authority.word };
  const sent = state.steps.find((step) => step.apply.intent !== null && step.receipt === null);
  if (state.paused?.epoch === state.epoch || state.interrupted?.epoch === state.epoch) return rest(state, context);
  if (state.rollback) return nextUndo(state, context);
  if (sent) return settling(state, sent, context, false);
  if (stopHolds(state)) return halt;
  return onward(state, context);
}

/** Where a rule or an approval that no longer verifies is in the way, that is said with the halt. */
function rest(state: OperationState, context: Context): Move {
  const step = state.rollback ? null : currentStep(state);
  if (!step) return halt;
  const denied = context.authority.denied.get(step.plan.step);
  if (denied) return { kind: "halt", refusal: denied };
  const cover = coverOf(state, step, "apply", null, context.now, context.authority);
  return cover.kind === "refused" ? { kind: "halt", refusal: cover.refusal } : halt;
}
