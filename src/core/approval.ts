import type { Phase } from "../model/entry.ts";
import { type ExitCode, type Finding, ProvisionError } from "../model/errors.ts";
import { canonical } from "../model/json.ts";
import { isWrite, type WriteStep } from "../model/plan.ts";
import type { Observed, Reading } from "../model/reading.ts";
import { undoStep } from "./kinds.ts";
import { endsApply, failed } from "./progress.ts";
import type { ApprovalRequest, Decision, OperationState, StepState } from "./state.ts";

/** Why something may not be done, on the way out to the person. */
export interface Refusal {
  code: string;
  exit: ExitCode;
  message: string;
  hint?: string;
  details?: readonly Finding[];
}

/**
 * Whether a write may be sent once more. `held`: not before somebody decides or mends something, for the reason given.
 * `over`: the way forward has ended.
 */
export type Resend = "allowed" | "over" | { held: string; refusal: Refusal | null };

/** The refusal as the error that a use case ends with. */
export function refusalAsError({ code, exit, message, hint, details }: Refusal): ProvisionError {
  return new ProvisionError(code, exit, message, {
    ...(hint !== undefined && { hint }),
    ...(details !== undefined && { details }),
  });
}

/** What the body finds, or the refusal that it ends with: of the stored bytes, or by a rule. Other faults go on. */
export function refusalIn(body: () => Refusal | null): Refusal | null {
  try {
    return body();
  } catch (error) {
    if (!(error instanceof ProvisionError) || (error.exit !== 13 && error.exit !== 9)) throw error;
    const { code, exit, message, hint } = error;
    return { code, exit, message, ...(hint === undefined ? {} : { hint }) };
  }
}

/**
 * What the executor found when it verified everything again, now: each recorded approval's signature, roster, window
 * and card; and what the policy says of each step. A missing approval id counts as refused.
 */
export interface Authority {
  approvals: ReadonlyMap<string, Refusal | null>;
  /** Steps that a rule denies now, apart from any approval. */
  denied: ReadonlyMap<number, Refusal>;
  /** A signed word that the state rests on does not verify now; nothing is read or sent on it. */
  word?: Refusal | null;
}

export type Cover =
  | { kind: "given"; decision: Decision }
  | { kind: "needed" }
  | { kind: "lapsed"; decision: Decision }
  /** It was decided on a reading that no longer holds. */
  | { kind: "spent"; decision: Decision }
  | { kind: "refused"; refusal: Refusal };

/** The first step's call card is decided together with the plan, on the plan's own reading; what rose since is not. */
export function decidedWithPlan(state: OperationState, step: WriteStep): boolean {
  if (step.gate === "plan") return !requestFor(state, step.step, "apply")?.risen;
  return step.gate === "call" && step.step === firstWrite(state);
}

/** The first step that writes. */
export function firstWrite(state: OperationState): number {
  return state.plan.steps.find(isWrite)?.step ?? 0;
}

/** The newest per-call request for this step in this phase. */
export function requestFor(state: OperationState, step: number, phase: Phase): ApprovalRequest | null {
  return state.requests.filter((request) => request.phase === phase && request.steps.includes(step)).at(-1) ?? null;
}

/**
 * Whether a decision covers the start of this step now. `reading` is what was read just before; a per-call decision
 * holds for that reading alone. A stop ends what was decided before it, but never the cover for undoing.
 */
export function coverOf(
  state: OperationState,
  step: StepState,
  phase: Phase,
  reading: Reading<Observed> | null,
  now: number,
  authority: Authority,
): Cover {
  if (!isWrite(step.plan)) return { kind: "needed" };
  const perCall = phase === "rollback" || !decidedWithPlan(state, step.plan);
  const candidates = state.decisions.filter(
    (made) =>
      made.phase === phase &&
      made.steps.includes(step.plan.step) &&
      !made.spent.includes(step.plan.step) &&
      (phase === "rollback" || state.stopped === null || made.seq > state.stopped.seq),
  );
  let lapsed: Decision | null = null;
  let spent: Decision | null = null;
  let refusal: Refusal | null = null;
  for (const made of candidates.reverse()) {
    if (now >= Date.parse(made.not_after)) {
      lapsed ??= made;
      continue;
    }
    if (perCall && !sameReading(made.request?.readings[String(step.plan.step)] ?? null, reading)) {
      spent ??= made;
      continue;
    }
    const found = authority.approvals.get(made.approval_id);
    if (found === null && now >= Date.parse(made.not_before)) return { kind: "given", decision: made };
    refusal ??= found ?? {
      code: "not_yet_valid",
      exit: 13,
      message: `The approval of ${made.approver} is valid from ${made.not_before}.`,
    };
  }
  if (refusal) return { kind: "refused", refusal };
  if (spent) return { kind: "spent", decision: spent };
  return lapsed ? { kind: "lapsed", decision: lapsed } : { kind: "needed" };
}

/**
 * Whether what was begun may be sent once more. A window limits the start, so within the run that began it is asked of
 * that time; a later run starts anew. A stop holds it, and so do a rule, another reading, and an approval that no longer
 * verifies. Taking authority back is covered without an end.
 */
export function resendOf(
  state: OperationState,
  step: StepState,
  phase: Phase,
  { now, authority }: { now: number; authority: Authority },
): Resend {
  const { intent, seen } = phase === "apply" ? step.apply : step.undo;
  if (!intent || (phase === "rollback" && intent.approvals.length === 0)) return "allowed";
  const denied = phase === "apply" ? authority.denied.get(step.plan.step) : undefined;
  if (denied) return { held: denied.message, refusal: denied };
  const reading = seen.at(-1)?.reading ?? null;
  const sameRun = intent.epoch === state.epoch;
  const at = sameRun ? Date.parse(intent.at) : now;
  const cover = coverOf(state, step, phase, reading?.kind === "unreadable" ? null : reading, at, authority);
  if (cover.kind === "given" || (sameRun && cover.kind === "refused" && cover.refusal.code === "lapsed"))
    return "allowed";
  if (cover.kind === "refused") return { held: cover.refusal.message, refusal: cover.refusal };
  const stopped = phase === "apply" && state.stopped !== null && intent.seq < state.stopped.seq;
  const why = stopped ? "it was stopped" : "what covered it has lapsed";
  return { held: `${why}, and nothing is sent until the step is approved again`, refusal: null };
}

/** Same value and same version. A reading that is not at hand is compared with nothing and does not contradict. */
export function sameReading(asked: Reading<Observed> | null, now: Reading<Observed> | null): boolean {
  if (asked === null) return false;
  return now === null || canonical(essence(asked)) === canonical(essence(now));
}

function essence(reading: Reading<Observed>): unknown {
  switch (reading.kind) {
    case "found":
      return { value: reading.value, version: reading.version ?? null };
    case "absent":
      return { absent: true };
    case "unreadable":
      return { unreadable: reading.reason };
    default:
      reading satisfies never;
      return null;
  }
}

/** Steps that can be decided at this moment, with the readings they are decided on. */
export interface Pending {
  phase: Phase;
  steps: number[];
  readings: Record<string, Reading<Observed>>;
}

/**
 * What a person may decide now. Before anything: the plan-gated steps, and a first step's call. Later: what lapsed
 * and remains, and the per-call steps that the operation stands before.
 */
export function pendingDecisions(state: OperationState, now: number, authority: Authority): Pending {
  const ended = state.steps.some(({ plan, receipt }) => receipt !== null && endsApply(plan, receipt));
  if (state.ended !== null || (ended && !state.rollback)) return { phase: "apply", steps: [], readings: {} };
  if (state.rollback) return pendingRollback(state, now, authority);
  const steps: number[] = [];
  const readings: Record<string, Reading<Observed>> = {};
  let blocked = false;
  for (const step of state.steps) {
    blocked ||= step.receipt !== null && failed(step.receipt);
    if (!isWrite(step.plan) || step.plan.gate === "none" || step.receipt !== null || step.apply.intent !== null)
      continue;
    if (blocked && !step.plan.independent) continue;
    if (decidedWithPlan(state, step.plan)) {
      if (coverOf(state, step, "apply", null, now, authority).kind !== "given") steps.push(step.plan.step);
      continue;
    }
    const request = requestFor(state, step.plan.step, "apply");
    const reading = request?.readings[String(step.plan.step)];
    if (!reading || coverOf(state, step, "apply", reading, now, authority).kind === "given") continue;
    steps.push(step.plan.step);
    readings[String(step.plan.step)] = reading;
  }
  return { phase: "apply", steps, readings };
}

function pendingRollback(state: OperationState, now: number, authority: Authority): Pending {
  const steps: number[] = [];
  const readings: Record<string, Reading<Observed>> = {};
  for (const step of state.steps) {
    if (!isWrite(step.plan) || !step.receipt || step.undone !== null) continue;
    const back = undoStep(step.plan, step.receipt);
    if (back?.gate !== "call") continue;
    const reading = requestFor(state, step.plan.step, "rollback")?.readings[String(step.plan.step)];
    if (!reading || coverOf(state, step, "rollback", reading, now, authority).kind === "given") continue;
    steps.push(step.plan.step);
    readings[String(step.plan.step)] = reading;
  }
  return { phase: "rollback", steps: steps.sort((a, b) => a - b), readings };
}
