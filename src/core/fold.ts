import type { Entry, Payload } from "../model/entry.ts";
import { bug } from "../model/errors.ts";
import type { Receipt } from "../model/receipt.ts";
import { inDoubt } from "./progress.ts";
import { resolved, settledUndo } from "./resolved.ts";
import {
  type AnyEntry,
  type Decision,
  freshTry,
  hasIntent,
  isOpen,
  type OperationState,
  type StepState,
  type Work,
} from "./state.ts";

/** One entry more. Total: an entry that changes nothing leaves the state as it was, but for its sequence. */
export function fold(state: OperationState, entry: AnyEntry): OperationState {
  const next = apply(state, entry);
  return { ...next, seq: entry.seq, asOf: entry.at };
}

type Of<K extends Payload["kind"]> = Entry<Extract<Payload, { kind: K }>>;

function apply(state: OperationState, entry: AnyEntry): OperationState {
  switch (entry.kind) {
    case "plan.frozen":
    case "approval.refused":
    case "policy.loaded":
    case "roster.loaded":
      return state;
    case "lease.taken":
      return newRun(state, entry);
    case "step.requested":
      return inWork(state, entry, (work) => ({
        ...work,
        intent: {
          seq: entry.seq,
          at: entry.at,
          epoch: entry.epoch,
          attempt: entry.attempt,
          key: entry.key,
          // The first intent's reading is the value to restore; a resend repeats the write, not the beginning.
          before: work.intent?.before ?? entry.before,
          ifVersion: entry.if_version,
          approvals: entry.approvals,
        },
        doubtSince: null,
        startedAt: work.startedAt ?? entry.at,
      }));
    case "step.transport":
      return transport(state, entry);
    case "step.observed":
      return observed(state, entry);
    case "step.receipt":
      return receipt(state, entry);
    case "step.compensated":
      return inStep(state, entry.step, (step) => ({ ...step, undone: { ...entry.receipt, at: entry.at } }));
    case "step.retried":
      return retried(state, entry.step);
    case "step.resolved":
      return inStep(state, entry.step, (step) => resolved(step, entry));
    case "subject.bound":
      return { ...state, subjectId: entry.subject_id, boundAt: entry.at };
    case "approval.requested": {
      const { seq, at, phase, steps, readings } = entry;
      return {
        ...state,
        requests: [...state.requests, { seq, at, phase, steps, readings, cardHash: entry.card_hash }],
      };
    }
    case "approval.recorded":
      return { ...state, denied: null, decisions: [...state.decisions, decision(state, entry)] };
    case "approval.spent":
      return spend(state, entry.steps, (made) => made.approval_id === entry.approval_id);
    case "approval.denied": {
      const denied = { at: entry.at, by: entry.by, reason: entry.reason };
      return began(state)
        ? { ...state, denied, stopped: stopAt(entry, entry.by, entry.reason) }
        : { ...state, denied, ended: "cancelled" };
    }
    case "op.stopped":
      return { ...state, stopped: stopAt(entry, entry.by, entry.reason) };
    case "op.handed_over":
      return { ...state, ended: "handed_over" };
    case "op.state":
      return event(state, entry);
    default:
      entry satisfies never;
      throw bug("a journal entry of unknown kind");
  }
}

function stopAt(entry: AnyEntry, by: string, reason: string | null) {
  return { seq: entry.seq, at: entry.at, by, reason };
}

/** Whether anything was sent for this operation. */
export function began(state: OperationState): boolean {
  return state.steps.some((step) => hasIntent(step.apply) || step.receipt?.ours);
}

/** A new process holds the operation: what the one before saw is stale, and a reply that it waited for is lost. */
function newRun(state: OperationState, entry: Of<"lease.taken">): OperationState {
  const stale = (work: Work): Work => ({
    ...work,
    before: null,
    seen: [],
    authorship: null,
    unreadable: 0,
    startedAt: null,
    verified: null,
    doubtSince: isOpen(work) ? entry.at : null,
  });
  const steps = state.steps.map((step): StepState => {
    const again = reopens(step.receipt, step.apply);
    return {
      ...step,
      apply: stale(step.apply),
      undo: stale(step.undo),
      receipt: again ? null : step.receipt,
      undone: step.undone?.result === "unknown" ? null : step.undone,
    };
  });
  return { ...state, steps, epoch: entry.epoch, paused: null, interrupted: null };
}

/** Doubt is looked at again by each run; so is a conflict found before anything was sent. */
function reopens(receipt: Receipt | null, work: Work): boolean {
  return receipt?.result === "unknown" || (receipt?.result === "conflict" && !hasIntent(work));
}

function transport(state: OperationState, entry: Of<"step.transport">): OperationState {
  const { attempt, epoch, reply } = entry;
  const next = inWork(state, entry, (work) =>
    entry.try !== work.try
      ? work
      : {
          ...work,
          attempts: [...work.attempts, { attempt, epoch, reply, transport: entry.transport }],
          doubtSince: null,
          before: null,
          seen: [],
          authorship: null,
          unreadable: 0,
        },
  );
  const version = reply.kind === "accepted" ? reply.version : undefined;
  return version === undefined ? next : { ...next, ownVersions: [...next.ownVersions, version] };
}

function observed(state: OperationState, entry: Of<"step.observed">): OperationState {
  if (entry.epoch !== state.epoch) return state;
  if (entry.purpose === "authorship") {
    const { reading } = entry;
    return inWork(state, entry, (work) => ({ ...work, authorship: reading }));
  }
  const seen = { reading: entry.reading, at: entry.read_at, refusal: entry.refusal ?? null };
  const unreadable = entry.reading.kind === "unreadable";
  const { purpose } = entry;
  return inWork(state, entry, (work) => {
    const next = {
      ...work,
      unreadable: unreadable ? work.unreadable + 1 : 0,
      startedAt: work.startedAt ?? entry.read_at,
    };
    if (purpose === "verify") return { ...next, verified: seen };
    if (purpose === "before") return { ...next, before: seen };
    return { ...next, seen: [...work.seen, seen] };
  });
}

function receipt(state: OperationState, entry: Of<"step.receipt">): OperationState {
  const next = inStep(state, entry.step, (step) => ({
    ...step,
    receipt: entry.receipt,
    receiptEpoch: state.epoch,
    receiptAt: entry.at,
  }));
  const version = entry.receipt.ours ? entry.receipt.remote_version_after : null;
  return version === null ? next : { ...next, ownVersions: [...next.ownVersions, version] };
}

/** Opens a step again by a person's act; after a rollback in part, everything that was taken back with it. */
function retried(state: OperationState, number: number): OperationState {
  const asked = state.steps.find((step) => step.plan.step === number);
  // Over a doubt it would give what may have happened a second key.
  if (!asked || inDoubt(state, asked)) return state;
  const reopened = state.steps
    .filter((step) => step.plan.step === number || (state.rollback !== null && step.plan.step > state.rollback.toStep))
    .map((step) => step.plan.step);
  const steps = state.steps.map((step) =>
    reopened.includes(step.plan.step)
      ? { ...step, apply: freshTry(step.apply.try + 1), undo: freshTry(step.undo.try + 1), receipt: null, undone: null }
      : step,
  );
  return spend({ ...state, steps, rollback: null, paused: null }, reopened, () => true);
}

function decision(state: OperationState, entry: Of<"approval.recorded">): Decision {
  const { approval } = entry;
  const asked = state.requests.filter(
    (r) => r.phase === approval.phase && approval.steps.every((n) => r.steps.includes(n)),
  );
  return { ...approval, seq: entry.seq, spent: [], request: asked.at(-1) ?? null };
}

function spend(state: OperationState, steps: number[], which: (made: Decision) => boolean): OperationState {
  const decisions = state.decisions.map((made) => (which(made) ? { ...made, spent: [...made.spent, ...steps] } : made));
  return { ...state, decisions };
}

function event(state: OperationState, entry: Of<"op.state">): OperationState {
  switch (entry.event) {
    case "rollback":
      return beginRollback(state, entry);
    case "paused":
      return {
        ...state,
        paused: { epoch: state.epoch, at: entry.at, detail: entry.detail, until: entry.until ?? null },
      };
    case "interrupted":
      return { ...state, interrupted: { epoch: state.epoch } };
    case "cancelled":
    case "superseded":
      return { ...state, ended: entry.event };
    case "completed":
    case "expired":
      return state;
    default:
      entry.event satisfies never;
      throw bug("an event of unknown kind");
  }
}

/** A person asks for the way back, or asks again: what was refused or had diverged gets a new try. */
function beginRollback(state: OperationState, entry: Of<"op.state">): OperationState {
  const steps = state.steps.map((step) => {
    const again = step.undone !== null && !settledUndo(step.undone.result) && step.undone.result !== "unknown";
    return again ? { ...step, undone: null, undo: freshTry(step.undo.try + 1) } : step;
  });
  return { ...state, steps, rollback: { seq: entry.seq, toStep: entry.to_step ?? 0, why: entry.detail } };
}

function inStep(state: OperationState, number: number, change: (step: StepState) => StepState): OperationState {
  return { ...state, steps: state.steps.map((step) => (step.plan.step === number ? change(step) : step)) };
}

function inWork(
  state: OperationState,
  entry: { step: number; phase: "apply" | "rollback" },
  change: (work: Work) => Work,
): OperationState {
  return inStep(state, entry.step, (step) =>
    entry.phase === "apply" ? { ...step, apply: change(step.apply) } : { ...step, undo: change(step.undo) },
  );
}
