import { pendingDecisions } from "../core/approval.ts";
import { type Card, cardsFor } from "../core/card.ts";
import { inDoubt } from "../core/progress.ts";
import { type CompensationLine, compensationLines, type ResidualEffect, residualEffects } from "../core/residue.ts";
import { settledUndo } from "../core/resolved.ts";
import { compensations } from "../core/undo.ts";
import type { Payload } from "../model/entry.ts";
import { invalid } from "../model/errors.ts";
import type { Desk } from "./desk.ts";
import { proveCredentials } from "./living.ts";
import { type OpenedHere, openToAct } from "./open.ts";
import { nameOf, type Ran, underLease } from "./run.ts";

export interface RollbackPreview {
  operation_id: string;
  compensations: CompensationLine[];
  residual_effects: ResidualEffect[];
  cards: Card[];
}

/** Compensates what this operation changed and a read confirmed, newest first; steps 1 to `toStep` are kept. */
export async function rollbackOperation(
  desk: Desk,
  op: string,
  options: { toStep: number; waitMs: number | null },
): Promise<Ran> {
  const opened = await openToAct(desk, op);
  const { state } = opened;
  if (options.toStep < 0 || options.toStep > state.steps.length)
    throw invalid("unknown_step", `There is no step ${options.toStep} to keep; the plan has ${state.steps.length}.`, [
      { path: "to-step", code: "unknown_step", found: options.toStep, allowed: `0 to ${state.steps.length}` },
    ]);
  const name = nameOf(desk, opened);
  if (nothingMoves(opened, options.toStep)) return { opened, name, refusal: null, interrupted: false };
  await proveCredentials(desk, opened, options.toStep);
  return underLease(desk, opened, options.waitMs, begins(opened, options.toStep));
}

/** It was ended otherwise, or rolled back this far already. */
function nothingMoves({ state }: OpenedHere, toStep: number): boolean {
  if (state.ended !== null) return true;
  if (!state.rollback || state.rollback.toStep > toStep) return false;
  return (
    !state.steps.some(inDoubt) &&
    compensations(state).every(({ step }) => step.undone !== null && settledUndo(step.undone.result))
  );
}

/** The entry that begins a rollback, widens it, or gives what was refused before a new try. */
function begins({ state }: OpenedHere, toStep: number): Payload[] {
  const again = state.steps.some(
    (step) => step.undone !== null && !settledUndo(step.undone.result) && step.undone.result !== "unknown",
  );
  if (state.rollback && state.rollback.toStep <= toStep && !again) return [];
  return [{ kind: "op.state", event: "rollback", detail: null, to_step: toStep }];
}

/** What a rollback would do and ask, from the journal alone. */
export async function previewRollback(desk: Desk, op: string, toStep: number): Promise<RollbackPreview> {
  const { state, authority, id } = await openToAct(desk, op);
  const seen = { ...state, rollback: { seq: state.seq, toStep, why: null } };
  const { steps, readings } = pendingDecisions(seen, desk.shell.now(), authority);
  return {
    operation_id: id,
    compensations: compensationLines(seen),
    residual_effects: residualEffects(seen),
    cards: cardsFor(seen, "rollback", steps, readings),
  };
}
