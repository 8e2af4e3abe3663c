import { onward, settling } from "./apply.ts";
import { resendCover } from "./approval.ts";
import { type Context, halt, type Move } from "./move.ts";
import { stopHolds } from "./progress.ts";
import type { OperationState } from "./state.ts";
import { nextUndo } from "./undo.ts";

/** What comes next, from the fold alone. Total: every state has an answer, and the answer for an end is `halt`. */
export function next(state: OperationState, context: Context): Move {
  if (state.ended !== null) return halt;
  if (state.paused?.epoch === state.epoch || state.interrupted?.epoch === state.epoch) return halt;
  if (state.rollback) return nextUndo(state, context);
  const unsettled = state.steps.find((step) => step.apply.intent !== null && step.receipt === null);
  if (unsettled) {
    const cover = resendCover(state, unsettled, context.authority);
    return cover.kind === "refused"
      ? { kind: "halt", refusal: cover.refusal }
      : settling(state, unsettled, context, cover.kind);
  }
  if (stopHolds(state)) return halt;
  return onward(state, context);
}
