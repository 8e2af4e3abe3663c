import { bug } from "../model/errors.ts";
import type { Receipt } from "../model/receipt.ts";
import { copyState, copyStep } from "./copies.ts";
import { beginRollback, retried, spend } from "./reopen.ts";
import { resolved } from "./resolved.ts";
import { type AnyEntry, type Decision, hasIntent, type Of, type OperationState, type Work } from "./state.ts";
import { answered, closed, inStep, inWork, noLater, observed, requested, stale } from "./work.ts";

/** One entry more. Total: an entry that changes nothing leaves the state as it was, but for its sequence. */
export function fold(state: OperationState, entry: AnyEntry): OperationState {
  // Copies are changed in place until they are returned; what was there before never is.
  const next = copyState(state);
  next.seq = entry.seq;
  next.asOf = entry.at;
  apply(next, entry);
  return next;
}

function apply(next: OperationState, entry: AnyEntry): void {
  switch (entry.kind) {
    case "plan.frozen":
    case "approval.refused":
    case "policy.loaded":
    case "roster.loaded":
      break;
    case "lease.taken":
      newRun(next, entry);
      break;
    case "step.requested":
      inWork(next, entry, (work) => requested(work, entry));
      break;
    case "step.transport":
      inWork(next, entry, (work) => answered(work, entry));
      if (entry.reply.kind === "accepted" && entry.reply.version !== undefined) own(next, entry.reply.version);
      if ("retryAt" in entry.reply && entry.reply.retryAt)
        next.askedToWait = { seq: entry.seq, at: entry.at, until: entry.reply.retryAt };
      break;
    case "step.observed":
      // What was read under another lease may be old by now.
      if (entry.epoch === next.epoch) inWork(next, entry, (work) => observed(work, entry));
      break;
    case "step.receipt":
      receipt(next, entry);
      break;
    case "step.compensated":
      inStep(next, entry.step, (step) => {
        step.undone = { ...entry.receipt, at: entry.at };
      });
      break;
    case "step.retried":
      retried(next, entry.step);
      break;
    case "step.resolved":
      next.words = [...next.words, entry];
      inStep(next, entry.step, (step) => Object.assign(step, resolved(step, entry)));
      break;
    case "subject.bound":
      next.subjectId = entry.subject_id;
      next.boundAt = entry.at;
      break;
    case "approval.requested": {
      const { seq, at, phase, steps, readings, card_hash: cardHash, risen = null } = entry;
      next.requests = [...next.requests, { seq, at, phase, steps, readings, cardHash, risen }];
      break;
    }
    case "approval.recorded":
      next.denied = null;
      next.decisions = [...next.decisions, decision(next, entry)];
      break;
    case "approval.spent":
      spend(next, entry.steps, (made) => made.approval_id === entry.approval_id);
      break;
    case "approval.denied":
      next.denied = { at: entry.at, by: entry.by, reason: entry.reason };
      if (began(next)) next.stopped = stopAt(entry, entry.by, entry.reason);
      else next.ended = "cancelled";
      break;
    case "op.stopped":
      next.stopped = stopAt(entry, entry.by, entry.reason);
      break;
    case "op.handed_over":
      next.ended = "handed_over";
      break;
    case "op.state":
      event(next, entry);
      break;
    default:
      entry satisfies never;
      throw bug("a journal entry of unknown kind");
  }
}

function stopAt(entry: AnyEntry, by: string, reason: string | null) {
  return { seq: entry.seq, at: entry.at, by, reason };
}

/** Whether anything of this operation was, or may have been, done. */
export function began(state: OperationState): boolean {
  return state.steps.some((step) => hasIntent(step.apply) || step.receipt?.ours);
}

/** A new process holds the operation: what the one before saw is stale, and a reply that it waited for is lost. */
function newRun(next: OperationState, entry: Of<"lease.taken">): void {
  next.steps = next.steps.map((step) => {
    const copy = copyStep(step);
    copy.apply = stale(step.apply, entry.at);
    copy.undo = stale(step.undo, entry.at);
    if (step.receiptAt !== null) copy.receiptAt = noLater(step.receiptAt, entry.at);
    if (reopens(step.receipt, step.apply, next.rollback !== null)) {
      copy.reopened = step.receipt;
      copy.receipt = null;
    }
    if (step.undone?.result === "unknown") copy.undone = null;
    return copy;
  });
  if (next.boundAt !== null) next.boundAt = noLater(next.boundAt, entry.at);
  next.epoch = entry.epoch;
  next.paused = null;
  next.interrupted = null;
}

/** Doubt is looked at again by each run; so is a conflict found before anything was sent. */
function reopens(receipt: Receipt | null, work: Work, back: boolean): boolean {
  return receipt?.result === "unknown" || (!back && receipt?.result === "conflict" && !hasIntent(work));
}

/** Remembers a version that a write of ours left. */
function own(next: OperationState, version: string): void {
  next.ownVersions = [...next.ownVersions, version];
}

function receipt(next: OperationState, entry: Of<"step.receipt">): void {
  inStep(next, entry.step, (step) => {
    step.receipt = entry.receipt;
    step.reopened = null;
    // What turned out to be beyond taking back is not being taken back any more.
    if (step.undone === null && entry.receipt.compensation === null && step.undo.intent !== null)
      step.undo = { ...step.undo, intent: null, closed: step.undo.announced };
    step.receiptEpoch = next.epoch;
    step.receiptAt = entry.at;
  });
  const version = entry.receipt.ours ? entry.receipt.remote_version_after : null;
  if (version !== null) own(next, version);
}

function decision(state: OperationState, entry: Of<"approval.recorded">): Decision {
  const { approval } = entry;
  const asked = state.requests.filter(
    (r) => r.phase === approval.phase && approval.steps.every((n) => r.steps.includes(n)),
  );
  return { ...approval, seq: entry.seq, spent: [], request: asked.at(-1) ?? null };
}

function event(next: OperationState, entry: Of<"op.state">): void {
  switch (entry.event) {
    case "rollback":
      beginRollback(next, entry);
      break;
    case "paused":
      next.paused = { epoch: next.epoch, at: entry.at, detail: entry.detail, until: entry.until ?? null };
      if (entry.until) next.askedToWait = { seq: entry.seq, at: entry.at, until: entry.until };
      next.steps = next.steps.map(closed);
      break;
    case "interrupted":
      next.interrupted = { epoch: next.epoch };
      break;
    case "cancelled":
    case "superseded":
      next.ended = entry.event;
      break;
    case "completed":
    case "expired":
      break;
    default:
      entry.event satisfies never;
      throw bug("an event of unknown kind");
  }
}
