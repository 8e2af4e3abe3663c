import { pendingDecisions } from "../../src/core/approval.ts";
import { instant } from "../../src/core/move.ts";
import { settledUndo } from "../../src/core/resolved.ts";
import type { StepState } from "../../src/core/state.ts";
import type { Payload, Phase } from "../../src/model/entry.ts";
import { isWrite } from "../../src/model/plan.ts";
import { ACCEPT_BY } from "./steps.ts";
import type { Theatre } from "./theatre.ts";

const HOUR = 3_600_000;
const APPROVER = "ana@example.test";
const ENVELOPE = { stmt: "", alg: "sshsig", sig: "" } as const;

/** Decides everything that can be decided now. False: nothing can. */
export function approve(theatre: Theatre): boolean {
  const { state, clock } = theatre;
  const { phase, steps } = pendingDecisions(state, clock, theatre.rules);
  if (steps.length === 0) return false;
  const isCall = (number: number) => state.plan.steps[number - 1]?.gate === "call";
  const calls = phase === "rollback" ? steps : steps.filter(isCall);
  const others = steps.filter((number) => !calls.includes(number));
  const waits = state.plan.steps.some((step) => !isWrite(step));
  const until = Math.max(clock + 24 * HOUR, waits ? Date.parse(ACCEPT_BY) + 24 * HOUR : 0);
  if (others.length > 0) decide(theatre, phase, others, until);
  if (calls.length > 0) decide(theatre, phase, calls, clock + HOUR);
  return true;
}

function decide(theatre: Theatre, phase: Phase, steps: number[], until: number): void {
  const { state, clock } = theatre;
  const id = `apr_${theatre.entries.length}`;
  const approval = {
    approval_id: id,
    envelope: ENVELOPE,
    approver: APPROVER,
    phase,
    steps,
    nonce: id,
    card_hash: "",
    subject_id: state.subjectId,
    not_before: instant(clock),
    not_after: instant(until),
  };
  theatre.write([{ kind: "approval.recorded", approval }]);
}

export function deny(theatre: Theatre): void {
  theatre.write([{ kind: "approval.denied", by: APPROVER, reason: "no" }]);
}

export function stop(theatre: Theatre): void {
  theatre.write([{ kind: "op.stopped", by: "os:kim", reason: null }]);
}

/** Begins a rollback, widens it, or gives what was refused before a new try. False: there is nothing to begin. */
export function beginRollback(theatre: Theatre, toStep: number): boolean {
  const { state } = theatre;
  if (state.ended !== null) return false;
  const again = state.steps.some(
    ({ undone }) => undone !== null && !settledUndo(undone.result) && undone.result !== "unknown",
  );
  if (state.rollback && state.rollback.toStep <= toStep && !again) return true;
  const entry: Payload = { kind: "op.state", event: "rollback", detail: null, to_step: toStep };
  theatre.write([entry]);
  return true;
}

export function retry(theatre: Theatre, step: number): void {
  theatre.write([{ kind: "step.retried", step, by: "os:kim" }]);
}

export function resolve(theatre: Theatre, step: number, as: Extract<Payload, { kind: "step.resolved" }>["as"]): void {
  theatre.write([
    { kind: "step.resolved", step, as, envelope: ENVELOPE, approver: APPROVER, nonce: `n${theatre.entries.length}` },
  ]);
}

/** The step that `--retry-step` would open again, if any. */
export function retriable({ state }: Theatre): StepState | undefined {
  const inPart = state.rollback !== null && state.rollback.toStep > 0;
  if (state.rollback && !inPart) return undefined;
  return state.steps.find(({ plan, receipt, undone }) => {
    if (inPart) return plan.step > (state.rollback?.toStep ?? 0) && undone !== null;
    return ["denied", "rejected", "conflict", "no_effect"].includes(receipt?.result ?? "");
  });
}
