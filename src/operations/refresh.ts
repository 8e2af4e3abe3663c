import { actionOf, type Proof, standing, targetOf, undoStep, valueText } from "../core/kinds.ts";
import { failed, stillStands } from "../core/progress.ts";
import { settledUndo } from "../core/resolved.ts";
import type { OperationState, StepState } from "../core/state.ts";
import { isWrite } from "../model/plan.ts";
import type { Desk } from "./desk.ts";
import type { OpenedHere } from "./open.ts";
import { openSessions } from "./sessions.ts";

/** One confirmed step beside what a read shows of it now. */
export interface Compared {
  step: number;
  action: string;
  target: string | null;
  found: string;
  /** `unreadable` proves nothing, neither way. */
  verdict: "same" | "different" | "unreadable";
}

/** Reads every confirmed step again and compares. Records nothing and sends no write. */
export async function refresh(desk: Desk, { id, plan, state, tenant }: OpenedHere): Promise<Compared[]> {
  const sessions = openSessions(desk, tenant, desk.journal().fingerprintKey(id));
  try {
    const session = sessions.open("read", () => {});
    const subject = { ...plan.subject, ...(state.subjectId === null ? {} : { id: state.subjectId }) };
    const compared: Compared[] = [];
    for (const step of state.steps) {
      const action = session.action(step.plan.kind);
      if (!isWrite(step.plan) || !step.receipt || failed(step.receipt) || !action) continue;
      const reading = await action.observe(step.plan, subject);
      const verdict =
        reading.kind === "unreadable" ? "unreadable" : asLeft(state, step, reading) ? "same" : "different";
      compared.push({
        step: step.plan.step,
        action: actionOf(step.plan.kind),
        target: targetOf(step.plan),
        found: valueText(reading),
        verdict,
      });
    }
    return compared;
  } finally {
    await sessions.close();
  }
}

/** As the step left it, or as its compensation left it. */
function asLeft(state: OperationState, step: StepState, reading: Proof): boolean {
  if (!isWrite(step.plan) || !step.receipt) return true;
  if (!step.undone || !settledUndo(step.undone.result) || step.undone.result === "left")
    return stillStands(state, step.plan, reading);
  const back = undoStep(step.plan, step.receipt);
  return back === null || standing(back, reading, false) === "wanted";
}
