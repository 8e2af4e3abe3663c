import type { Payload } from "../model/entry.ts";
import { bug } from "../model/errors.ts";
import { isWrite, type WriteStep } from "../model/plan.ts";
import type { Observed, Reading } from "../model/reading.ts";
import type { Receipt, UndoReceipt, UndoResult } from "../model/receipt.ts";
import { settling } from "./apply.ts";
import { coverOf, requestFor, resendOf, sameReading } from "./approval.ts";
import { carryOut, intentEntry, recentlyMade, sendMove } from "./attempt.ts";
import { cardHash } from "./card.ts";
import { identityIn, invitationIn, type Proof, type Standing, standing, undoStep, valueText } from "./kinds.ts";
import { type Context, halt, isFresh, type Move, readAgain, record, versionOf } from "./move.ts";
import { receiptEntry } from "./outcome.ts";
import type { Limits } from "./pace.ts";
import { askedUntil } from "./progress.ts";
import { inAirUntil, type Judgement, judge } from "./settle.ts";
import { isOpen, type OperationState, type StepState } from "./state.ts";
import { redeemed } from "./wait.ts";

/** One confirmed change and the ordinary step that takes it back. */
export interface Compensation {
  step: StepState;
  plan: WriteStep;
  receipt: Receipt;
  back: WriteStep;
}

/** The compensation stack, newest first: read off the receipts, never stored. */
export function compensations(state: OperationState, toStep = state.rollback?.toStep ?? 0): Compensation[] {
  const gone = invitationGone(state);
  return state.steps
    .flatMap((step): Compensation[] => {
      const { plan, receipt } = step;
      if (plan.step <= toStep || !isWrite(plan) || !receipt?.ours) return [];
      if (plan.kind === "invite" && gone) return [];
      const back = undoStep(plan, receipt);
      return back ? [{ step, plan, receipt, back }] : [];
    })
    .reverse();
}

/** Whether there is no open invitation left to cancel: it was redeemed, or ended by itself; past its deadline it may be open. */
function invitationGone(state: OperationState): boolean {
  const waited = state.steps.find((step) => step.plan.kind === "wait_for_acceptance")?.receipt;
  if (!waited) return false;
  return (
    redeemed(waited) ||
    ["declined", "cancelled"].includes(waited.result) ||
    (waited.result === "expired" && waited.code !== "deadline")
  );
}

/** The way back: settle what is in doubt, read every target that needs a decision and ask once, then undo. */
export function nextUndo(state: OperationState, context: Context): Move {
  for (const step of state.steps) {
    if (step.receipt?.result === "unknown") return halt;
    if (step.apply.intent !== null && step.receipt === null) return settling(state, step, context, true);
  }
  const open = compensations(state).filter(
    ({ step, receipt }) => step.undone === null && receipt.attribution === "proven",
  );
  const sent = open.find(({ step }) => step.undo.intent !== null);
  if (sent) return settlingUndo(state, sent, context);
  // A read that lags behind our own change would show it taken back already; and what is late would come after the undo.
  const shown = Math.max(0, ...open.map(({ step }) => shownFrom(state, step, context.limits)));
  if (context.now < shown) return { kind: "wait", until: shown, why: "settle" };
  const asked = askOnce(state, open, context);
  if (asked) return asked;
  for (const compensation of open) {
    if (heldBack(state, compensation)) continue;
    const move = undoOne(state, compensation, context);
    if (move) return move;
  }
  return halt;
}

function shownFrom({ plan }: OperationState, { apply, receiptAt }: StepState, limits: Limits): number {
  return Math.max(Date.parse(receiptAt ?? plan.created_at) + limits.settleMs, inAirUntil(apply, limits));
}

/** A group stays while a licence that requires it is not taken back. */
function heldBack(state: OperationState, { plan }: Compensation): boolean {
  if (!("group" in plan)) return false;
  return compensations(state).some(
    (other) =>
      other.plan.kind === "assign_license" &&
      other.plan.requires?.includes(plan.group.name) &&
      other.step.undone?.result !== "undone" &&
      other.step.undone?.result !== "already gone",
  );
}

function askOnce(state: OperationState, open: Compensation[], context: Context): Move | null {
  const calls = open.filter(({ back }) => back.gate === "call");
  if (calls.length === 0) return null;
  for (const { step } of open) {
    const seen = step.undo.before;
    if (!seen) return { kind: "observe", step: step.plan.step, phase: "rollback", purpose: "before" };
    if (seen.reading.kind === "unreadable")
      return readAgain(step.undo, seen, context, step.plan.step, "rollback", "before");
  }
  const readings: Record<string, Reading<Observed>> = {};
  for (const { step, receipt, back } of calls) {
    const reading = step.undo.before?.reading;
    if (reading && reading.kind !== "unreadable" && guard(state, receipt, back, reading) === "holds")
      readings[String(step.plan.step)] = reading;
  }
  const steps = Object.keys(readings)
    .map(Number)
    .sort((a, b) => a - b);
  const missing = steps.filter(
    (n) => !sameReading(requestFor(state, n, "rollback")?.readings[String(n)] ?? null, readings[String(n)] ?? null),
  );
  if (missing.length === 0) return null;
  const card_hash = cardHash(state, "rollback", steps, readings);
  return record({ kind: "approval.requested", phase: "rollback", steps, readings, gate: "call", card_hash });
}

/** Null: this one waits for a decision; the others go on. */
function undoOne(state: OperationState, { step, receipt, back }: Compensation, context: Context): Move | null {
  const work = step.undo;
  const seen = work.before;
  if (!isFresh(seen, context)) return lookAgain(back);
  const { reading } = seen;
  if (reading.kind === "unreadable") return readAgain(work, seen, context, back.step, "rollback", "before");
  const accepted = acceptedMeanwhile(step, reading);
  if (accepted) return record(accepted);
  switch (guard(state, receipt, back, reading)) {
    case "gone":
      return record(compensated(step, "already gone", reading, null, "it was taken back before we came"));
    case "broken": {
      const detail = `we left ${valueText(receipt.after)}${versionText(receipt)}, and a read shows ${valueText(reading)}; somebody else decided since`;
      return record(compensated(step, "diverged", reading, "changed_since", detail));
    }
    case "holds":
      break;
  }
  if (seen.refusal) return record(compensated(step, "rejected", reading, seen.refusal.code, seen.refusal.detail));
  const denied = context.authority.denied.get(back.step);
  if (back.gate === "call") {
    if (denied) return record(compensated(step, "rejected", reading, denied.code, denied.message));
    const cover = coverOf(state, step, "rollback", reading, context.now, context.authority);
    if (cover.kind === "refused") return { kind: "halt", refusal: cover.refusal };
    if (cover.kind !== "given") return null;
    return record(intentEntry(state, back, work, "rollback", reading, context, [cover.decision.approval_id]));
  }
  return record(intentEntry(state, back, work, "rollback", reading, context, []));
}

function lookAgain({ step }: WriteStep): Move {
  return { kind: "observe", step, phase: "rollback", purpose: "before" };
}

function versionText(receipt: Receipt): string {
  return receipt.remote_version_after === null ? "" : ` at version ${receipt.remote_version_after}`;
}

/** Whether what we changed still is as we left it, down to its version; a version that our own later step moved is ours. */
export function guard(
  state: OperationState,
  receipt: Receipt,
  back: WriteStep,
  reading: Proof,
): "holds" | "gone" | "broken" {
  const place = standingOf(receipt, back, reading);
  if (place === "wanted") return "gone";
  if (place === "other") return "broken";
  const version = versionOf(reading);
  const known = receipt.remote_version_after;
  if (version === null || known === null || version === known || state.ownVersions.includes(version)) return "holds";
  return "broken";
}

/** How a reading compares with what we left. Another invitation or account in the place of ours is not for us to take. */
function standingOf(receipt: Receipt, back: WriteStep, reading: Proof): Standing {
  const ours = receipt.after && identityIn(receipt.after);
  const there = identityIn(reading);
  if (ours && there && ours !== there) return back.kind === "restore_account" ? "other" : "wanted";
  return standing(back, reading, false);
}

/** An invitation that was accepted before it could be withdrawn is no longer ours to cancel. */
function acceptedMeanwhile(step: StepState, reading: Proof): Payload | null {
  const receipt = step.receipt;
  if (step.plan.kind !== "invite" || !receipt) return null;
  if (invitationIn(reading)?.invitation?.status !== "accepted") return null;
  return receiptEntry(step.plan.step, { ...receipt, result: "accepted", after: reading, compensation: null });
}

const STANDS = { holds: "expected", gone: "wanted", broken: "other" } as const;

function settlingUndo(state: OperationState, { step, back, receipt }: Compensation, context: Context): Move {
  const work = step.undo;
  if (isOpen(work) && work.intent?.epoch === state.epoch) return sendMove(work, back.step, "rollback");
  const verdict = judge({
    work,
    epoch: state.epoch,
    now: context.now,
    limits: context.limits,
    standing: (seen) => STANDS[guard(state, receipt, back, seen.reading as Proof)],
    keys: context.keys,
    authorship: context.authorship,
    asked: askedUntil(state, context.now),
    recent: recentlyMade(state, context),
    resend: resendOf(state, step, "rollback", context),
  });
  if (verdict.do !== "conclude") return carryOut(state, back, work, "rollback", verdict, context);
  const after = work.seen.at(-1)?.reading ?? null;
  const accepted = after && after.kind !== "unreadable" ? acceptedMeanwhile(step, after) : null;
  if (accepted) return record(accepted);
  return record(compensated(step, undoWord(verdict), after, verdict.code, verdict.detail));
}

function undoWord(verdict: Extract<Judgement, { do: "conclude" }>): UndoResult {
  switch (verdict.outcome) {
    case "done":
      return "undone";
    case "already":
      return "already gone";
    case "conflict":
      return "diverged";
    case "denied":
    case "rejected":
    case "no_effect":
    case "unknown":
      return verdict.outcome;
    default:
      verdict.outcome satisfies never;
      throw bug("an outcome of unknown kind");
  }
}

function compensated(
  step: StepState,
  result: UndoResult,
  reading: Reading<Observed> | null,
  code: string | null,
  detail: string | null,
): Payload {
  const last = step.undo.attempts.at(-1)?.transport;
  const receipt: UndoReceipt = {
    result,
    before: step.undo.intent?.before ?? reading,
    after: reading,
    code,
    detail,
    status: last?.status ?? null,
    provider_request_id: last?.provider_request_id ?? null,
  };
  return { kind: "step.compensated", step: step.plan.step, receipt };
}
