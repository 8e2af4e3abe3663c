import type { ExitCode } from "../model/errors.ts";
import { isWrite } from "../model/plan.ts";
import { type Authority, coverOf } from "./approval.ts";
import { began } from "./fold.ts";
import { invitationIn, type Proof } from "./kinds.ts";
import { currentStep, failed, inDoubt, stillStands, stopHolds } from "./progress.ts";
import { settledUndo } from "./resolved.ts";
import type { OperationState } from "./state.ts";
import { compensations } from "./undo.ts";
import { deadline } from "./wait.ts";

export const STATES = {
  awaiting_approval: 3,
  approved: 0,
  waiting: 4,
  paused: 12,
  running: 10,
  completed: 0,
  partial_failure: 5,
  diverged: 6,
  needs_reconciliation: 7,
  stopped: 13,
  interrupted: 130,
  rollback_pending: 8,
  rolled_back_in_part: 8,
  rolled_back: 0,
  cancelled: 13,
  expired: 13,
  superseded: 13,
  handed_over: 13,
} as const satisfies Record<string, ExitCode>;
export type StateName = keyof typeof STATES;

/** Nothing can move any more, unless a person opens it again. */
export const FINISHED: readonly StateName[] = [
  "completed",
  "partial_failure",
  "stopped",
  "cancelled",
  "expired",
  "superseded",
  "handed_over",
  "rolled_back",
  "rolled_back_in_part",
];

/** The state by name, from the fold. `live`: a process holds the operation now. */
export function stateOf(state: OperationState, now: number, authority: Authority, live = false): StateName {
  if (state.ended !== null) return state.ended;
  if (live) return "running";
  if (state.rollback) return rollbackState(state);
  const doubt = state.steps.some((step) => inDoubt(step));
  if (doubt) return "needs_reconciliation";
  if (stopHolds(state)) return "stopped";
  const results = state.steps.flatMap((step) => (step.receipt ? [{ plan: step.plan, receipt: step.receipt }] : []));
  if (results.some(({ receipt }) => receipt.result === "conflict") || divergedSince(state)) return "diverged";
  if (results.some(({ receipt }) => receipt.result === "declined")) return "cancelled";
  if (results.some(({ plan, receipt }) => receipt.result === "cancelled" && plan.kind !== "cancel_invitation"))
    return "cancelled";
  if (results.some(({ receipt }) => receipt.result === "expired")) return "expired";
  const step = currentStep(state);
  if (!step) return results.some(({ receipt }) => failed(receipt)) ? "partial_failure" : "completed";
  if (state.interrupted?.epoch === state.epoch) return "interrupted";
  if (state.paused?.epoch === state.epoch) return "paused";
  if (!isWrite(step.plan)) return waitState(state, now);
  if (step.plan.gate === "none") return began(state) ? "paused" : "approved";
  const request = state.requests.filter((r) => r.phase === "apply" && r.steps.includes(step.plan.step)).at(-1);
  const reading = request?.readings[String(step.plan.step)] ?? null;
  const covered = coverOf(state, step, "apply", reading, now, authority).kind === "given";
  if (covered)
    return state.epoch > 0 && began(state) && state.decisions.every((d) => d.seq < lastIntent(state))
      ? "paused"
      : "approved";
  return standsBefore(state, step.plan.step, request !== undefined) ? "awaiting_approval" : "paused";
}

/** Plan-gated steps are asked for from the start; a per-call step only once the operation stands before it. */
function standsBefore(state: OperationState, number: number, asked: boolean): boolean {
  const step = state.plan.steps[number - 1];
  if (!step || !isWrite(step)) return false;
  return step.gate === "plan" || asked || number === state.plan.steps.find(isWrite)?.step;
}

function lastIntent(state: OperationState): number {
  return Math.max(0, ...state.steps.map((step) => step.apply.intent?.seq ?? 0));
}

function divergedSince(state: OperationState): boolean {
  return state.steps.some((step) => {
    const reading = step.apply.verified?.reading;
    if (!reading || reading.kind === "unreadable" || !isWrite(step.plan)) return false;
    return !stillStands(state, step.plan, reading as Proof);
  });
}

function waitState(state: OperationState, now: number): StateName {
  const invite = state.steps.find((step) => step.plan.kind === "invite")?.receipt;
  if (!invite) return "paused";
  const due = deadline(state);
  const pending = invite.after ? invitationIn(invite.after)?.invitation?.status === "pending" : true;
  return due !== null && now >= due && pending ? "expired" : "waiting";
}

function rollbackState(state: OperationState): StateName {
  const unsettled = state.steps.some((step) => inDoubt(step));
  const doubt = state.steps.some(({ undo, undone }) => (undone ? undone.result === "unknown" : undo.intent !== null));
  if (unsettled || doubt) return "needs_reconciliation";
  const open = compensations(state).some(({ step }) => !settledUndo(step.undone?.result ?? ""));
  if (open) return "rollback_pending";
  // Cancelled because nobody accepted in time; where somebody did just then, the account stands and is named.
  const redeemed = state.steps.some(({ plan, receipt }) => plan.kind === "invite" && receipt?.result === "accepted");
  if (state.rollback?.why === "deadline" && !redeemed) return "expired";
  return (state.rollback?.toStep ?? 0) > 0 ? "rolled_back_in_part" : "rolled_back";
}
