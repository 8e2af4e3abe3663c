import { inDoubt } from "./progress.ts";
import { settledUndo } from "./resolved.ts";
import { type Decision, freshTry, type Of, type OperationState } from "./state.ts";
import { inStep } from "./work.ts";

/** A person asks for the way back, or asks again: what was refused or had diverged gets a new try. */
export function beginRollback(next: OperationState, entry: Of<"op.state">): void {
  const again: number[] = [];
  next.steps = next.steps.map((step) => {
    // Nothing goes forward any more, so what was found stays found.
    if (step.receipt === null && step.reopened?.result === "conflict") return { ...step, receipt: step.reopened };
    if (step.undone === null || settledUndo(step.undone.result) || step.undone.result === "unknown") return step;
    again.push(step.plan.step);
    return { ...step, undone: null, undo: freshTry(step.undo.try + 1) };
  });
  spend(next, again, (made) => made.phase === "rollback");
  next.rollback = { seq: entry.seq, toStep: entry.to_step ?? 0, why: entry.detail };
}

/** Opens a step again by a person's act; after a rollback in part, everything that was taken back with it. */
export function retried(next: OperationState, number: number): void {
  const asked = next.steps.find((step) => step.plan.step === number);
  // Over a doubt it would give what may have happened a second key.
  if (!asked || inDoubt(asked)) return;
  const { rollback } = next;
  const reopened = next.steps
    .map((step) => step.plan.step)
    .filter((step) => step === number || (rollback !== null && step > rollback.toStep));
  for (const each of reopened)
    inStep(next, each, (step) => {
      step.apply = freshTry(step.apply.try + 1);
      step.undo = freshTry(step.undo.try + 1);
      step.receipt = null;
      step.reopened = null;
      step.undone = null;
    });
  spend(next, reopened, () => true);
  next.rollback = null;
  next.paused = null;
}

/** Decisions that no longer count for these steps. */
export function spend(next: OperationState, steps: number[], which: (made: Decision) => boolean): void {
  next.decisions = next.decisions.map((made) => (which(made) ? { ...made, spent: [...made.spent, ...steps] } : made));
}
