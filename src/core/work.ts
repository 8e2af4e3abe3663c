import type { Phase } from "../model/entry.ts";
import { bug } from "../model/errors.ts";
import type { Instant } from "../model/reading.ts";
import { copyStep, copyWork } from "./copies.ts";
import { type Attempt, isOpen, type Of, type OperationState, type StepState, type Work } from "./state.ts";

/** Applies a change to a copy of one step, within a state that is a copy itself. */
export function inStep(next: OperationState, number: number, change: (step: StepState) => void): void {
  next.steps = next.steps.map((step) => {
    if (step.plan.step !== number) return step;
    const copy = copyStep(step);
    change(copy);
    return copy;
  });
}

/** The same for one direction of one step. */
export function inWork(
  next: OperationState,
  entry: { step: number; phase: Phase },
  change: (work: Work) => void,
): void {
  inStep(next, entry.step, (step) => {
    const copy = copyWork(entry.phase === "apply" ? step.apply : step.undo);
    change(copy);
    if (entry.phase === "apply") step.apply = copy;
    else step.undo = copy;
  });
}

/** A write is announced. */
export function requested(work: Work, entry: Of<"step.requested">): void {
  // Whoever announced the one before died with its answer; what became of it stays in doubt beside this one.
  if (work.intent !== null && isOpen(work)) work.attempts = [...work.attempts, unanswered(work)];
  work.intent = {
    seq: entry.seq,
    at: entry.at,
    epoch: entry.epoch,
    attempt: entry.attempt,
    key: entry.key,
    before: entry.before,
    ifVersion: entry.if_version,
    approvals: entry.approvals,
  };
  work.announced = entry.attempt;
  work.doubtSince = null;
  work.startedAt ??= entry.at;
}

function unanswered({ intent, doubtSince }: Work): Attempt {
  if (!intent) throw bug("an attempt that was not announced");
  const transport = { status: null, provider_request_id: null, fingerprint: "", response: null };
  return {
    attempt: intent.attempt,
    epoch: intent.epoch,
    reply: { kind: "lost", detail: "the process ended before an answer was recorded" },
    transport: { ...transport, started_at: doubtSince ?? intent.at, duration_ms: 0 },
  };
}

/** An answer, which is evidence: it may come from a process that has lost the operation since. */
export function answered(work: Work, entry: Of<"step.transport">): void {
  if (entry.try !== work.try) return;
  const { attempt, epoch, reply, transport } = entry;
  const others = work.attempts.filter((made) => made.attempt !== attempt);
  work.attempts = [...others, madeBy({ attempt, epoch, reply, transport }, entry.at)].sort(
    (a, b) => a.attempt - b.attempt,
  );
  if (!isOpen(work)) work.doubtSince = null;
  unseen(work);
}

export function observed(work: Work, entry: Of<"step.observed">): void {
  if (entry.purpose === "authorship") {
    work.authorship = entry.reading;
    return;
  }
  const seen = {
    reading: entry.reading,
    at: entry.read_at,
    refusal: entry.refusal ?? null,
    rises: entry.rises ?? null,
  };
  work.unreadable = entry.reading.kind === "unreadable" ? work.unreadable + 1 : 0;
  work.startedAt ??= entry.read_at;
  if (entry.purpose === "verify") work.verified = seen;
  else if (entry.purpose === "before") work.before = seen;
  else {
    work.seen = [...work.seen, seen];
    // Whose it is may have changed as well: what is in the air arrives between two looks.
    work.authorship = null;
  }
}

/** Forgets what was read; it is read again. */
function unseen(work: Work): void {
  work.before = null;
  work.seen = [];
  work.authorship = null;
  work.unreadable = 0;
}

/** What stands before something in the journal happened before it; a later time tells of a clock that was ahead. */
export function noLater(at: Instant, limit: Instant): Instant {
  return at > limit ? limit : at;
}

function madeBy(made: Attempt, limit: Instant): Attempt {
  const { transport } = made;
  if (transport.started_at <= limit) return made;
  return { ...made, transport: { ...transport, started_at: limit } };
}

/** Another process goes on from here, at this time: what was read is old, and an answer that is awaited is in doubt. */
export function stale(work: Work, at: Instant): Work {
  const copy = copyWork(work);
  unseen(copy);
  copy.attempts = copy.attempts.map((made) => madeBy(made, at));
  copy.startedAt = null;
  copy.verified = null;
  copy.doubtSince = isOpen(work) ? at : null;
  return copy;
}

/**
 * A run pauses only once it is proven that nothing is in doubt. So what was sent for a step without a result changed
 * nothing, and the step stands as if it had not begun: whoever goes on reads, and is asked for a decision, anew.
 */
export function closed(step: StepState): StepState {
  const close = (work: Work): Work => ({ ...work, intent: null, closed: work.announced });
  const apply = step.receipt === null && step.apply.intent !== null;
  const undo = step.undone === null && step.undo.intent !== null;
  if (!apply && !undo) return step;
  return { ...step, apply: apply ? close(step.apply) : step.apply, undo: undo ? close(step.undo) : step.undo };
}
