import { type Proof, standing, undoStep } from "../core/kinds.ts";
import { instant, type Move } from "../core/move.ts";
import type { OperationState, StepState } from "../core/state.ts";
import type { Payload, Rise } from "../model/entry.ts";
import { bug, ProvisionError } from "../model/errors.ts";
import { isWrite, type Step, type WriteStep } from "../model/plan.ts";
import type { Action, CredentialClass, Session, Subject } from "../model/provider.ts";
import type { Observed, Reading, UnreadableReason } from "../model/reading.ts";
import type { Reply, Transport } from "../model/reply.ts";
import type { Hands } from "./execute.ts";

/** Why a write is refused whatever was approved, or is decided by itself by now; null where nothing speaks against it. */
export type Verdict = { code: string; detail: string; unreadable?: UnreadableReason } | { rises: Rise } | null;
export type Guard = (step: WriteStep, subject: Subject, session: Session) => Promise<Verdict>;

export interface Reach {
  /** A session of the tenant under one credential class, and every wire attempt that it makes, as it is made. */
  open(credential: CredentialClass, onTransport: (transport: Transport) => void): Session;
  /** Loads a class ahead of the write that needs it, so that a missing one is said before anything is recorded as sent. */
  load(credential: CredentialClass): Promise<void>;
  refresh(credential: CredentialClass): Promise<void>;
  /** The class that a write uses here: privileged only where the tenant has it. */
  classFor(step: WriteStep): CredentialClass;
  guard: Guard;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Whether the lease outlives one request. */
  leaseHolds(): boolean;
}

/** The two things that touch the tenant. What they bring back is entries, to be appended as they are. */
export function handsOf(reach: Reach): Hands {
  return {
    observe: (state, move) => observe(reach, state, move),
    send: (state, move) => send(reach, state, move),
  };
}

function subjectOf(state: OperationState): Subject {
  return { ...state.plan.subject, ...(state.subjectId === null ? {} : { id: state.subjectId }) };
}

function target(
  state: OperationState,
  move: { step: number; phase: "apply" | "rollback" },
): { held: StepState; step: Step } {
  const held = state.steps.find((candidate) => candidate.plan.step === move.step);
  if (!held) throw bug(`there is no step ${move.step}`);
  if (move.phase === "apply") return { held, step: held.plan };
  const back = held.receipt && isWrite(held.plan) ? undoStep(held.plan, held.receipt) : null;
  if (!back) throw bug(`step ${move.step} has no way back`);
  return { held, step: back };
}

function actionFor(session: Session, step: Step): Action {
  const action = session.action(step.kind);
  if (!action) throw bug(`the provider has no action for ${step.kind}`);
  return action;
}

async function observe(
  reach: Reach,
  state: OperationState,
  move: Extract<Move, { kind: "observe" }>,
): Promise<Payload> {
  const reads: Transport[] = [];
  const { held, step } = target(state, move);
  const action = actionFor(
    reach.open("read", (transport) => reads.push(transport)),
    step,
  );
  const subject = subjectOf(state);
  const read_at = instant(reach.now());
  const head = {
    kind: "step.observed",
    step: move.step,
    phase: move.phase,
    epoch: state.epoch,
    read_at,
    reads,
  } as const;
  if (move.purpose === "authorship") {
    const work = move.phase === "apply" ? held.apply : held.undo;
    if (!isWrite(step) || !action.authorship || !work.intent) throw bug("nobody can be asked who made the change");
    const [authorship, { key }] = [action.authorship, work.intent];
    return { ...head, purpose: "authorship", reading: await withToken(() => authorship(step, subject, key)) };
  }
  const reading = await withToken(() => action.observe(step, subject));
  const verdict =
    move.purpose === "before" && isWrite(step)
      ? await withToken(() => beforeWrite(reach, state, step, reading, subject))
      : null;
  if (verdict && "kind" in verdict) return { ...head, purpose: move.purpose, reading: verdict };
  if (verdict && "rises" in verdict) return { ...head, purpose: move.purpose, reading, rises: verdict.rises };
  const refusal = verdict;
  // Whether this would touch the credential's own account is not known: that is a failed read, and no rule's word.
  if (refusal?.code === "own_account_unreadable" || refusal?.code === "role_unreadable")
    return {
      ...head,
      purpose: move.purpose,
      reading: { kind: "unreadable", reason: refusal.unreadable ?? "forbidden", detail: refusal.detail },
    };
  return { ...head, purpose: move.purpose, reading, ...(refusal && { refusal }) };
}

/** A credential that worked and cannot be had again proves nothing of the target; nothing was sent with it. */
async function withToken<T>(read: () => Promise<T>): Promise<T | Extract<Reading<never>, { kind: "unreadable" }>> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ProvisionError && error.exit === 12)) throw error;
    return { kind: "unreadable", reason: "unauthenticated", detail: error.message };
  }
}

/** Where the next thing may be a write: its credential is loaded, and the guards that no approval lifts are asked. */
async function beforeWrite(
  reach: Reach,
  state: OperationState,
  step: WriteStep,
  reading: Reading<Observed>,
  subject: Subject,
): Promise<Verdict> {
  if (reading.kind === "unreadable" || step.gate === "none") return null;
  if (standing(step, reading as Proof, state.plan.preconditions.account_absent === true) !== "expected") return null;
  const credential = reach.classFor(step);
  await reach.load(credential);
  return reach.guard(
    step,
    subject,
    reach.open(credential, () => {}),
  );
}

async function send(reach: Reach, state: OperationState, move: Extract<Move, { kind: "send" }>): Promise<Payload> {
  const { held, step } = target(state, move);
  const work = move.phase === "apply" ? held.apply : held.undo;
  const intent = work.intent;
  if (!isWrite(step) || !intent) throw bug("a write without an intent");
  const wire: Transport[] = [];
  const began = reach.now();
  const reply = await attempt(reach, step, subjectOf(state), intent, move.refresh, (transport) => wire.push(transport));
  return {
    kind: "step.transport",
    step: move.step,
    phase: move.phase,
    try: work.try,
    attempt: intent.attempt,
    epoch: state.epoch,
    reply,
    transport: wire.at(-1) ?? neverSent(began, reach.now()),
  };
}

async function attempt(
  reach: Reach,
  step: WriteStep,
  subject: Subject,
  intent: NonNullable<StepState["apply"]["intent"]>,
  refresh: boolean,
  onTransport: (transport: Transport) => void,
): Promise<Reply> {
  const credential = reach.classFor(step);
  const dead = await loading(reach, credential, refresh);
  if (dead) return dead;
  // Asked last: whatever took time before it may have cost the lease.
  if (!reach.leaseHolds()) return { kind: "not_sent", detail: "the lease does not outlive one request" };
  const action = actionFor(reach.open(credential, onTransport), step);
  return action.send(step, subject, {
    key: intent.key,
    ...(intent.ifVersion === null ? {} : { ifVersion: intent.ifVersion }),
  });
}

/** The token at hand, or why nothing can be sent: a credential that fails now leaves no doubt behind. */
async function loading(reach: Reach, credential: CredentialClass, refresh: boolean): Promise<Reply | null> {
  try {
    await (refresh ? reach.refresh(credential) : reach.load(credential));
    return null;
  } catch (error) {
    if (!(error instanceof ProvisionError)) throw error;
    return { kind: "not_sent", detail: `the ${credential} credential cannot be had (${error.code})`, dead: true };
  }
}

function neverSent(began: number, ended: number): Transport {
  return {
    status: null,
    provider_request_id: null,
    started_at: instant(began),
    duration_ms: Math.max(0, Math.round(ended - began)),
    fingerprint: "",
    response: null,
  };
}
