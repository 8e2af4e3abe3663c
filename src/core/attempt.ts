import type { Payload, Phase } from "../model/entry.ts";
import { bug } from "../model/errors.ts";
import type { WriteStep } from "../model/plan.ts";
import type { Observed, Reading } from "../model/reading.ts";
import { idempotencyKey } from "./key.ts";
import { actionOf } from "./kinds.ts";
import { type Context, type Move, pausedEntry, record, versionOf } from "./move.ts";
import type { Judgement } from "./settle.ts";
import type { OperationState, Work } from "./state.ts";

/** What will be sent, with the reading before it: recorded before the first byte leaves. */
export function intentEntry(
  state: OperationState,
  step: WriteStep,
  work: Work,
  phase: Phase,
  before: Reading<Observed>,
  context: Context,
  approvals: string[],
): Payload {
  const version = context.ifMatch ? versionOf(before) : null;
  return {
    kind: "step.requested",
    step: step.step,
    phase,
    try: work.try,
    attempt: work.announced + 1,
    epoch: state.epoch,
    key: idempotencyKey(state.planHash, step.step, phase, work.try),
    action: actionOf(step.kind),
    requested: step,
    credential: step.credential,
    before,
    guard: version === null ? "read_compare" : "if_match",
    if_version: version,
    approvals,
  };
}

/** The moves that judging a write can lead to, in either direction, but for its conclusion. */
export function carryOut(
  state: OperationState,
  plan: WriteStep,
  work: Work,
  phase: Phase,
  verdict: Exclude<Judgement, { do: "conclude" }>,
  context: Context,
): Move {
  switch (verdict.do) {
    case "observe":
      return { kind: "observe", step: plan.step, phase, purpose: "settle" };
    case "ask_authorship":
      return { kind: "observe", step: plan.step, phase, purpose: "authorship" };
    case "wait":
      return { kind: "wait", until: verdict.until, why: "settle" };
    case "pause":
      return pausedEntry(verdict.detail, verdict.until);
    case "send": {
      if (!work.intent) throw bug("a resend of what was not sent");
      const seen = work.seen.at(-1)?.reading;
      const before = verdict.same || !seen || seen.kind === "unreadable" ? work.intent.before : seen;
      return record(intentEntry(state, plan, work, phase, before, context, work.intent.approvals));
    }
    default:
      verdict satisfies never;
      throw bug("a judgement of unknown kind");
  }
}

export function sendMove(work: Work, step: number, phase: Phase): Move {
  const last = work.attempts.at(-1)?.reply;
  return { kind: "send", step, phase, refresh: last?.kind === "denied" && last.status === 401 };
}

/** Something that this run made moments ago may not be visible to the next call yet. */
export function recentlyMade(state: OperationState, context: Context): boolean {
  const window = Math.max(context.limits.settleMs, context.limits.requestMs);
  return state.boundAt !== null && context.now - Date.parse(state.boundAt) <= window;
}
