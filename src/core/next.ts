import { onward, settling } from "./apply.ts";
import { resendOf } from "./approval.ts";
import { type Context, halt, type Move } from "./move.ts";
import { stopHolds } from "./progress.ts";
import type { OperationState, StepState } from "./state.ts";
import { nextUndo } from "./undo.ts";

/** What comes next, from the fold alone. Total: every state has an answer, and the answer for an end is `halt`. */
export function next(state: OperationState, context: Context): Move {
  if (state.ended !== null) return halt;
  const unsettled = state.steps.find((step) => step.apply.intent !== null && step.receipt === null);
  if (state.paused?.epoch === state.epoch || state.interrupted?.epoch === state.epoch)
    return rest(state, unsettled, context);
  if (state.rollback) return nextUndo(state, context);
  if (unsettled) return settling(state, unsettled, context, resendOf(state, unsettled, "apply", context.authority));
  if (stopHolds(state)) return halt;
  return onward(state, context);
}

/** Where a rule or an approval holds what was begun, that is said with the halt. */
function rest(state: OperationState, unsettled: StepState | undefined, context: Context): Move {
  if (!unsettled || state.rollback) return halt;
  const resend = resendOf(state, unsettled, "apply", context.authority);
  return typeof resend === "object" && resend.refusal ? { kind: "halt", refusal: resend.refusal } : halt;
}
