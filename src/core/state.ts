import type { Entry, Payload, Phase, RecordedApproval, Rise } from "../model/entry.ts";
import type { Plan, Step } from "../model/plan.ts";
import type { Authorship, Instant, Observed, Reading, Version } from "../model/reading.ts";
import type { Receipt, UndoReceipt } from "../model/receipt.ts";
import type { Reply, Transport } from "../model/reply.ts";

export interface Attempt {
  attempt: number;
  epoch: number;
  reply: Reply;
  transport: Transport;
}

export interface Intent {
  seq: number;
  at: Instant;
  epoch: number;
  attempt: number;
  key: string;
  before: Reading<Observed>;
  ifVersion: Version | null;
  approvals: string[];
}

export interface Seen {
  reading: Reading<Observed>;
  /** When the read began. */
  at: Instant;
  refusal: { code: string; detail: string } | null;
  rises: Rise | null;
}

/** One direction of one step: everything that was tried and seen for it, as far as it still matters. */
export interface Work {
  /** Raised by a person's act alone; part of the idempotency key. */
  try: number;
  /** The reading made ahead of a write, in this run; null once it may be stale. */
  before: Seen | null;
  /** The newest intent of this try, until it is proven that nothing came of it. */
  intent: Intent | null;
  /** Whether the reply to the newest intent can no longer arrive here: its process is gone. Since when that is known. */
  doubtSince: Instant | null;
  /** How many attempts of this try were announced; the next one is numbered after them. */
  announced: number;
  /** Attempts up to this number are proven to have changed nothing, and nothing of them is in the air. */
  closed: number;
  /** What came back, by the number of the attempt. */
  attempts: Attempt[];
  /** Readings since the newest attempt, of this run. */
  seen: Seen[];
  /** Whose the change is, asked after the newest reading. */
  authorship: Reading<Authorship> | null;
  /** Failed reads one after another, in this run. */
  unreadable: number;
  /** When this run began to work on it. */
  startedAt: Instant | null;
  /** The confirmed change, read again in this run. */
  verified: Seen | null;
}

export interface StepState {
  plan: Step;
  apply: Work;
  undo: Work;
  receipt: Receipt | null;
  receiptEpoch: number;
  receiptAt: Instant | null;
  /** What this run looks at again. */
  reopened: Receipt | null;
  undone: UndoReceipt | null;
}

export interface ApprovalRequest {
  seq: number;
  at: Instant;
  phase: Phase;
  steps: number[];
  cardHash: string;
  readings: Record<string, Reading<Observed>>;
  risen: Rise | null;
}

export interface Decision extends RecordedApproval {
  seq: number;
  /** Steps for which it no longer counts: the reading behind it changed, or the step was opened again. */
  spent: number[];
  /** The per-call request that it answered, if any. */
  request: ApprovalRequest | null;
}

/** What a named approver said by a signed word, as it stands in the journal. */
export type Word = Pick<Of<"step.resolved">, "seq" | "at" | "step" | "as" | "envelope" | "approver" | "nonce">;

/** The fold of an operation's entries. Nothing in it is remembered elsewhere. */
export interface OperationState {
  plan: Plan;
  planHash: string;
  /** Sequence of the newest entry folded. */
  seq: number;
  asOf: Instant;
  epoch: number;
  subjectId: string | null;
  boundAt: Instant | null;
  steps: StepState[];
  decisions: Decision[];
  words: Word[];
  requests: ApprovalRequest[];
  denied: { at: Instant; by: string; reason: string } | null;
  stopped: { seq: number; at: Instant; by: string; reason: string | null } | null;
  rollback: { seq: number; toStep: number; why: string | null } | null;
  paused: { epoch: number; at: Instant; detail: string | null; until: Instant | null } | null;
  /** The service asked for time, in whichever run. */
  askedToWait: { seq: number; at: Instant; until: Instant } | null;
  interrupted: { epoch: number } | null;
  ended: "cancelled" | "superseded" | "handed_over" | null;
  /** Versions that this operation's own writes left, so that a shared version moved by us is known as ours. */
  ownVersions: Version[];
}

const freshWork: Work = {
  try: 1,
  before: null,
  intent: null,
  doubtSince: null,
  announced: 0,
  closed: 0,
  attempts: [],
  seen: [],
  authorship: null,
  unreadable: 0,
  startedAt: null,
  verified: null,
};

/** A try that nothing has happened in. */
export function freshTry(number: number): Work {
  return { ...freshWork, try: number };
}

/** An operation of which only the frozen plan is known. */
export function begin(plan: Plan, planHash: string): OperationState {
  return {
    plan,
    planHash,
    seq: 0,
    asOf: plan.created_at,
    epoch: 0,
    subjectId: plan.subject.id ?? null,
    boundAt: null,
    steps: plan.steps.map((step) => ({
      plan: step,
      apply: freshTry(1),
      undo: freshTry(1),
      receipt: null,
      receiptEpoch: 0,
      receiptAt: null,
      reopened: null,
      undone: null,
    })),
    decisions: [],
    words: [],
    requests: [],
    denied: null,
    stopped: null,
    rollback: null,
    paused: null,
    askedToWait: null,
    interrupted: null,
    ended: null,
    ownVersions: [],
  };
}

/** An intent whose reply is not recorded. */
export function isOpen({ intent, attempts }: Work): boolean {
  return intent !== null && !attempts.some((made) => made.attempt === intent.attempt);
}

/** Something was sent, or is about to be. */
export function hasIntent(work: Work): boolean {
  return work.intent !== null;
}

export type AnyEntry = Entry<Payload>;
/** The entries of one kind. */
export type Of<K extends Payload["kind"]> = Entry<Extract<Payload, { kind: K }>>;
