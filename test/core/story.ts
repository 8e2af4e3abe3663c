import { type Authority, pendingDecisions, type Refusal } from "../../src/core/approval.ts";
import { cardHash } from "../../src/core/card.ts";
import { fold } from "../../src/core/fold.ts";
import { type Context, instant, type Move } from "../../src/core/move.ts";
import { next } from "../../src/core/next.ts";
import { type OperationDocument, operationDocument } from "../../src/core/operation.ts";
import { limitsFor } from "../../src/core/pace.ts";
import { type AnyEntry, begin, type OperationState } from "../../src/core/state.ts";
import { type StateName, stateOf } from "../../src/core/status.ts";
import type { Holder, Payload, Phase, RecordedApproval } from "../../src/model/entry.ts";
import type { Plan } from "../../src/model/plan.ts";
import type { Authorship, Reading } from "../../src/model/reading.ts";
import type { Receipt } from "../../src/model/receipt.ts";
import type { Reply } from "../../src/model/reply.ts";
import { DAY, HASH, type Read, START } from "./build.ts";

export const LIMITS = limitsFor({ requestMs: 500, settleMs: 200 });

export const HOLDER: Holder = {
  host: "ops-1",
  boot_id: "boot",
  pid_namespace: "pid:[1]",
  pid: 4711,
  start_time: "1",
  user: "kim",
};

type Observe = Extract<Move, { kind: "observe" }>;
type Send = Extract<Move, { kind: "send" }>;

/** What the tenant shows and answers. */
export interface Tenant {
  read(move: Observe, story: Story): Read;
  reply?(move: Send, story: Story): Reply;
  author?(move: Observe, story: Story): Reading<Authorship>;
}

export interface Played {
  /** When each write was sent, in milliseconds since the story began. */
  sends: { at: number; step: number; phase: Phase; refresh: boolean }[];
  /** When each read began. */
  reads: { at: number; step: number; phase: Phase; purpose: string }[];
  end: Extract<Move, { kind: "halt" }>;
}

/** One operation's journal, told entry by entry, or played against a tenant. Time stands still unless it is moved. */
export class Story {
  readonly entries: AnyEntry[] = [];
  readonly plan: Plan;
  clock = START;
  epoch = 0;
  /** What the executor would find wrong with an approval or a step, now. */
  refusals = new Map<string, Refusal>();
  denied = new Map<number, Refusal>();
  facts: Partial<Context> = {};

  constructor(plan: Plan) {
    this.plan = plan;
    this.add({ kind: "plan.frozen", plan: "", plan_hash: HASH });
  }

  get state(): OperationState {
    return this.entries.reduce(fold, begin(this.plan, HASH));
  }

  authority(): Authority {
    const ids = this.entries.flatMap((entry) =>
      entry.kind === "approval.recorded" ? [entry.approval.approval_id] : [],
    );
    return { approvals: new Map(ids.map((id) => [id, this.refusals.get(id) ?? null])), denied: this.denied };
  }

  context(): Context {
    const abilities = { keys: true, ifMatch: true, authorship: false, patienceUntil: null };
    return { now: this.clock, limits: LIMITS, authority: this.authority(), ...abilities, ...this.facts };
  }

  name(live = false): StateName {
    return stateOf(this.state, this.clock, this.authority(), live);
  }

  document(holder: Holder | null = null): OperationDocument {
    return operationDocument(this.state, this.clock, this.authority(), holder);
  }

  move(): Move {
    return next(this.state, this.context());
  }

  pending() {
    return pendingDecisions(this.state, this.clock, this.authority());
  }

  add(...payloads: Payload[]): this {
    for (const payload of payloads)
      this.entries.push({
        ...payload,
        seq: this.entries.length + 1,
        at: instant(this.clock),
        op: this.plan.operation_id,
      });
    return this;
  }

  after(ms: number): this {
    this.clock += ms;
    return this;
  }

  /** A process takes the operation. */
  lease(): this {
    this.epoch += 1;
    return this.add({ kind: "lease.taken", epoch: this.epoch, holder: HOLDER });
  }

  /** A person decides what can be decided now, or these steps of it, for a day. */
  approve(steps: number[] | null = null, changes: Partial<RecordedApproval> = {}): this {
    const { state } = this;
    const pending = this.pending();
    const wanted = steps ?? pending.steps;
    const id = `apr_${this.entries.length}`;
    return this.add({
      kind: "approval.recorded",
      approval: {
        approval_id: id,
        envelope: { stmt: "", alg: "sshsig", sig: "" },
        approver: "ana@example.test",
        phase: pending.phase,
        steps: wanted,
        nonce: id,
        card_hash: cardHash(state, pending.phase, wanted, pending.readings),
        subject_id: state.subjectId,
        not_before: instant(this.clock),
        not_after: instant(this.clock + DAY),
        ...changes,
      },
    });
  }

  saw(step: number, reading: Read, purpose: "before" | "settle" | "verify" = "before", phase: Phase = "apply"): this {
    const head = { step, phase, epoch: this.epoch, read_at: instant(this.clock), reads: [] };
    return this.add({ kind: "step.observed", purpose, reading, ...head });
  }

  replied(step: number, reply: Reply, phase: Phase = "apply"): this {
    const state = this.state.steps[step - 1];
    const work = phase === "apply" ? state?.apply : state?.undo;
    return this.add({
      kind: "step.transport",
      step,
      phase,
      try: work?.try ?? 1,
      attempt: work?.intent?.attempt ?? 1,
      epoch: this.epoch,
      reply,
      transport: {
        status: "status" in reply ? (reply.status ?? null) : null,
        provider_request_id: `req_${this.entries.length}`,
        started_at: instant(this.clock),
        duration_ms: 1,
        fingerprint: "",
        response: null,
      },
    });
  }

  receipt(step: number, changes: Partial<Receipt>): this {
    const none = { before: null, after: null, remote_version_after: null, compensation: null, code: null };
    const more = { detail: null, status: null, provider_request_id: null };
    const receipt: Receipt = { result: "changed", ours: false, attribution: null, ...none, ...more, ...changes };
    return this.add({ kind: "step.receipt", step, receipt });
  }

  rollback(toStep = 0, detail: string | null = null): this {
    return this.add({ kind: "op.state", event: "rollback", detail, to_step: toStep });
  }

  /** Records what `next` records, until it wants something from outside. */
  decide(): Exclude<Move, { kind: "record" }> {
    for (let turn = 0; turn < 100; turn++) {
      const move = this.move();
      if (move.kind !== "record") return move;
      this.add(...move.entries);
    }
    throw new Error("it records without end");
  }

  /** Plays until nothing can move. Each read and each write takes a millisecond. */
  play(tenant: Tenant): Played {
    const played: Omit<Played, "end"> = { sends: [], reads: [] };
    for (let turn = 0; turn < 2000; turn++) {
      const move = this.decide();
      const at = this.clock - START;
      if (move.kind === "halt") return { ...played, end: move };
      if (move.kind === "wait") this.clock = Math.max(this.clock, move.until);
      else if (move.kind === "observe") {
        played.reads.push({ at, step: move.step, phase: move.phase, purpose: move.purpose });
        this.look(move, tenant);
        this.clock += 1;
      } else {
        if (!tenant.reply) throw new Error("something was sent");
        played.sends.push({ at, step: move.step, phase: move.phase, refresh: move.refresh });
        this.replied(move.step, tenant.reply(move, this), move.phase);
        this.clock += 1;
      }
    }
    throw new Error("it never ends");
  }

  private look(move: Observe, tenant: Tenant): void {
    const { step, phase, purpose } = move;
    if (purpose !== "authorship") {
      this.saw(step, tenant.read(move, this), purpose, phase);
      return;
    }
    const reading = tenant.author?.(move, this);
    if (!reading) throw new Error("the author was asked for");
    const head = { step, phase, epoch: this.epoch, read_at: instant(this.clock), reads: [] };
    this.add({ kind: "step.observed", purpose, reading, ...head });
  }
}

/** A story in which the plan was approved and a process runs it. */
export function running(plan: Plan): Story {
  return new Story(plan).approve().lease();
}
