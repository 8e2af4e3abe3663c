import type { Direction, Gate, Step } from "./plan.ts";
import type { Authorship, Instant, Observed, Reading, Version } from "./reading.ts";
import type { Receipt, UndoReceipt } from "./receipt.ts";
import type { Reply, Transport } from "./reply.ts";

/** The closed list of entry kinds; it stands in the clear header of each entry. */
export const ENTRY_KINDS = [
  "plan.frozen",
  "approval.requested",
  "approval.recorded",
  "approval.denied",
  "approval.spent",
  "approval.refused",
  "grant.issued",
  "grant.used",
  "grant.revoked",
  "step.requested",
  "step.transport",
  "step.observed",
  "step.receipt",
  "step.compensated",
  "step.retried",
  "step.resolved",
  "subject.bound",
  "op.state",
  "op.stopped",
  "op.handed_over",
  "lease.taken",
  "mode.changed",
  "policy.loaded",
  "roster.loaded",
  "key.shredded",
  "checkpoint.signed",
] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

/** Which way a step is being taken: forward, or back by its compensation. */
export type Phase = "apply" | "rollback";

/** `before`: what was there ahead of the write. `settle`: what became of it. `authorship`: whose it is.
 *  `verify`: whether a confirmed step still stands. */
export type Purpose = "before" | "settle" | "authorship" | "verify";

interface OfStep {
  /** Counts from 1. */
  step: number;
  phase: Phase;
}

/** Facts about the credential class and process that a write ran under. */
export interface Boundary {
  credential: "ordinary" | "privileged";
}

export type Payload =
  | { kind: "plan.frozen"; plan: string; plan_hash: string }
  | ({
      kind: "step.requested";
      try: number;
      attempt: number;
      epoch: number;
      key: string;
      action: string;
      requested: Step;
    } & OfStep &
      Boundary & {
        before: Reading<Observed>;
        guard: "if_match" | "read_compare";
        if_version: Version | null;
        approvals: string[];
      })
  | ({
      kind: "step.transport";
      try: number;
      attempt: number;
      epoch: number;
      reply: Reply;
      transport: Transport;
    } & OfStep)
  | ({
      kind: "step.observed";
      epoch: number;
      purpose: "before" | "settle" | "verify";
      reading: Reading<Observed>;
      /** A guard that no approval lifts (last owner, own account, protected subject) refuses this write now. */
      refusal?: { code: string; detail: string };
      /** The plan decided this write once; by now it is decided per call. */
      rises?: Rise;
    } & OfStep &
      Reads)
  | ({ kind: "step.observed"; epoch: number; purpose: "authorship"; reading: Reading<Authorship> } & OfStep & Reads)
  | { kind: "step.receipt"; step: number; receipt: Receipt }
  | { kind: "step.compensated"; step: number; receipt: UndoReceipt }
  | { kind: "step.retried"; step: number; by: string }
  | {
      kind: "step.resolved";
      step: number;
      as: "applied" | "not-applied" | "ours" | "not-ours" | "left";
      envelope: Envelope;
      approver: string;
      nonce: string;
    }
  | { kind: "subject.bound"; step: number; subject_id: string; by: "accepted_by" | "lookup" }
  | {
      kind: "approval.requested";
      phase: Phase;
      steps: number[];
      /** Over the exact cards; null for a request whose cards follow from the plan alone. */
      card_hash: string;
      /** The reading that a per-call decision is made on, by step. */
      readings: Record<string, Reading<Observed>>;
      gate: Gate;
      /** Why a step that the plan decided is asked for by itself. */
      risen?: Rise;
    }
  | { kind: "approval.recorded"; approval: RecordedApproval }
  | { kind: "approval.denied"; by: string; reason: string }
  | { kind: "approval.spent"; approval_id: string; steps: number[]; why: string }
  | { kind: "approval.refused"; code: string; by: string | null; detail: string }
  | { kind: "op.state"; event: OperationEvent; detail: string | null; to_step?: number; until?: Instant | null }
  | { kind: "op.stopped"; by: string; reason: string | null }
  | { kind: "op.handed_over"; to: string }
  | { kind: "lease.taken"; epoch: number; holder: Holder }
  | { kind: "policy.loaded" | "roster.loaded"; hash: string };

/**
 * Why the gate of a step has risen since its plan: the account holds an elevated role by now, or nothing shows any more
 * that the provider holds here under faults.
 */
export type Rise = "elevated" | "unproven";

/** When the observation began, and the reads that stood behind it, oldest first. */
interface Reads {
  read_at: Instant;
  reads: Transport[];
}

/** `rollback` begins or widens a rollback; the others end or suspend a run. */
export type OperationEvent =
  | "rollback"
  | "completed"
  | "paused"
  | "interrupted"
  | "cancelled"
  | "superseded"
  | "expired";

/** The process that holds the right to run, as far as another process can check it. */
export interface Holder {
  host: string;
  boot_id: string;
  pid_namespace: string;
  pid: number;
  /** Start time of the process, in clock ticks since boot (proc(5), field 22). */
  start_time: string;
  user: string;
}

/** A statement with its signature, both as they came. */
export interface Envelope {
  /** Unpadded base64url of the statement's canonical bytes. */
  stmt: string;
  alg: "sshsig";
  /** The armoured SSH signature. */
  sig: string;
}

export interface RecordedApproval {
  approval_id: string;
  envelope: Envelope;
  /** Facts read off the verified statement, so that folding needs no cryptography. */
  approver: string;
  phase: Phase;
  steps: number[];
  nonce: string;
  card_hash: string;
  subject_id: string | null;
  not_before: Instant;
  not_after: Instant;
}

/** One entry as the fold sees it: opened, verified, in order. */
export type Entry<P extends Payload = Payload> = {
  seq: number;
  at: Instant;
  op: string;
} & P;

export type { Direction };
