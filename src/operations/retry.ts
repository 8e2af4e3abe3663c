import { RETRIED } from "../core/advice.ts";
import { inDoubt } from "../core/progress.ts";
import { settledUndo } from "../core/resolved.ts";
import type { OperationState } from "../core/state.ts";
import { compensations } from "../core/undo.ts";
import { ProvisionError } from "../model/errors.ts";
import { isWrite } from "../model/plan.ts";
import { appendIfStill } from "./append.ts";
import type { Desk } from "./desk.ts";
import { type OpenedHere, openToAct } from "./open.ts";
import { requesterOf } from "./requester.ts";

/** A person opens a new try of a step; it is asked for again. */
export async function retryStep(desk: Desk, op: string, number: number): Promise<void> {
  const opened = await openToAct(desk, op);
  const { id, state } = opened;
  if (!retryable(opened, number)) {
    const step = state.steps.find((one) => one.plan.step === number);
    const found = step?.receipt?.result ?? (step ? "not finished" : "no such step");
    throw new ProvisionError(
      "not_retryable",
      13,
      `Step ${number} of ${id} is not one that can be tried again (${found}).`,
      {
        details: [{ path: "--retry-step", code: "not_retryable", found, allowed: RETRIED }],
        hint: `provision status ${id}`,
      },
    );
  }
  const entry = { kind: "step.retried", step: number, by: requesterOf(desk.shell.env).id } as const;
  await appendIfStill(desk, id, [entry], (now) => retryable(now, number));
}

/** Refused or without effect; or, once a rollback in part is done, whatever lies beyond the step that it kept. */
function retryable({ state }: OpenedHere, number: number): boolean {
  const step = state.steps.find((one) => one.plan.step === number);
  if (!step || state.ended !== null) return false;
  const { rollback } = state;
  if (rollback) return number > rollback.toStep && isWrite(step.plan) && doneInPart(state);
  return RETRIED.includes(step.receipt?.result ?? "");
}

function doneInPart(state: OperationState): boolean {
  if (!state.rollback || state.rollback.toStep === 0 || state.steps.some(inDoubt)) return false;
  return compensations(state).every(({ step }) => settledUndo(step.undone?.result ?? ""));
}
