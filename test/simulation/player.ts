import type { Authority, Refusal } from "../../src/core/approval.ts";
import { pendingDecisions } from "../../src/core/approval.ts";
import { cardHash } from "../../src/core/card.ts";
import { fold } from "../../src/core/fold.ts";
import { undoStep } from "../../src/core/kinds.ts";
import { type Context, instant, type Move } from "../../src/core/move.ts";
import { limitsFor } from "../../src/core/pace.ts";
import { type AnyEntry, begin, type OperationState } from "../../src/core/state.ts";
import { type StateName, stateOf } from "../../src/core/status.ts";
import type { Payload, Phase } from "../../src/model/entry.ts";
import { isWrite, type Plan, type Step } from "../../src/model/plan.ts";
import type { Observed, Reading } from "../../src/model/reading.ts";
import type { Transport } from "../../src/model/reply.ts";
import { execute, type Hands, type Log, type Surroundings } from "../../src/runtime/execute.ts";
import type { Chooser } from "./chooser.ts";
import { Crash, READ_FAULTS, SEND_FAULTS, TIMING, wire } from "./faults.ts";
import type { Truth, World } from "./world.ts";

export const START = Date.parse("2026-07-24T10:00:00.000Z");
export const PLAN_HASH = `sha256:${"a".repeat(64)}`;

export interface Options {
  /** How many adversities one history may hold. */
  adversities: number;
  /** What a rival does to the thing at hand. */
  rival?: (world: World, step: Step, choice: number) => void;
}

/** One operation on one world: the journal in memory, the process that runs it, the people around it. */
export class Player {
  readonly entries: AnyEntry[] = [];
  readonly plan: Plan;
  readonly world: World;
  /** The truth at the beginning. */
  readonly begin: Truth;
  readonly chooser: Chooser;
  clock = START;
  epoch = 0;
  sleeps = 0;
  moves = 0;
  /** Adversities met, by name. */
  met: string[] = [];
  private left: number;
  private late: { at: number; run: () => void }[] = [];
  private readonly options: Options;

  constructor(plan: Plan, world: World, chooser: Chooser, options: Options) {
    this.plan = plan;
    this.world = world;
    this.begin = world.truth;
    this.chooser = chooser;
    this.options = options;
    this.left = options.adversities;
    this.write([{ kind: "plan.frozen", plan: "", plan_hash: PLAN_HASH }]);
  }

  get state(): OperationState {
    return this.entries.reduce(fold, begin(this.plan, PLAN_HASH));
  }

  get name(): StateName {
    return stateOf(this.state, this.clock, this.authority());
  }

  private adversity(names: readonly string[], what: string): number {
    if (this.left <= 0) return 0;
    const choice = this.chooser.pick(names.length, what);
    if (choice > 0) {
      this.left -= 1;
      this.met.push(`${what}:${names[choice]}`);
    }
    return choice;
  }

  write(payloads: Payload[]): AnyEntry[] {
    const added = payloads.map((payload, i) => ({
      ...payload,
      seq: this.entries.length + 1 + i,
      at: instant(this.clock),
      op: this.plan.operation_id,
    }));
    // A process that died after the commit and one that died before it leave different journals; both are played.
    this.entries.push(...added);
    return added;
  }

  authority(): Authority {
    const approvals = new Map<string, Refusal | null>();
    for (const entry of this.entries)
      if (entry.kind === "approval.recorded") approvals.set(entry.approval.approval_id, null);
    return { approvals, denied: new Map() };
  }

  private context(): Context {
    const { keys, ifMatch, authorship } = this.world.abilities;
    return {
      now: this.clock,
      limits: limitsFor(TIMING),
      keys,
      ifMatch,
      authorship,
      authority: this.authority(),
      patienceUntil: null,
    };
  }

  /** A person decides everything that can be decided now. */
  approve(): number[] {
    const state = this.state;
    const { phase, steps, readings } = pendingDecisions(state, this.clock, this.authority());
    if (steps.length === 0) return [];
    const id = `apr_${this.entries.length}`;
    this.write([
      {
        kind: "approval.recorded",
        approval: {
          approval_id: id,
          envelope: { stmt: "", alg: "sshsig", sig: "" },
          approver: "ana@example.test",
          phase,
          steps,
          nonce: id,
          card_hash: cardHash(state, phase, steps, readings),
          subject_id: state.subjectId,
          not_before: instant(this.clock),
          not_after: instant(this.clock + 24 * 3_600_000),
        },
      },
    ]);
    return steps;
  }

  rollback(toStep = 0): void {
    this.takeLease();
    this.write([{ kind: "op.state", event: "rollback", detail: null, to_step: toStep }]);
  }

  takeLease(): void {
    this.epoch += 1;
    const holder = { host: "h", boot_id: "b", pid_namespace: "n", pid: this.epoch, start_time: "1", user: "u" };
    this.write([{ kind: "lease.taken", epoch: this.epoch, holder }]);
  }

  /** One process, until it halts or dies. Returns whether it died. */
  async run(): Promise<boolean> {
    this.takeLease();
    try {
      await execute(this.plan, PLAN_HASH, this.log(), this.hands(), this.surroundings());
      return false;
    } catch (error) {
      if (error instanceof Crash) return true;
      throw error;
    }
  }

  private log(): Log {
    const mine = this.epoch;
    return {
      read: () => [...this.entries],
      append: (payloads, seq) => {
        const moved = (this.entries.at(-1)?.seq ?? 0) !== seq;
        const fenced = mine !== this.epoch;
        const kept =
          moved || fenced
            ? payloads.filter(({ kind }) => kind === "step.transport" || kind === "step.observed")
            : payloads;
        return { ok: !moved && !fenced, entries: this.write(kept) };
      },
      holds: () => mine === this.epoch,
    };
  }

  private surroundings(): Surroundings {
    return {
      now: () => this.clock,
      sleepUntil: async (at) => {
        this.sleeps += 1;
        if (this.sleeps > 2000) throw new Error("the run never ends");
        this.tick(Math.max(0, at - this.clock));
      },
      context: () => {
        this.moves += 1;
        if (this.moves > 5000) throw new Error("the run never ends");
        return this.context();
      },
      interrupted: () => false,
      progress: () => {},
    };
  }

  /** Time passes; what was to happen meanwhile happens. */
  tick(ms: number): void {
    this.clock += ms;
    const due = this.late.filter(({ at }) => at <= this.clock);
    this.late = this.late.filter(({ at }) => at > this.clock);
    for (const { run } of due) run();
  }

  private hands(): Hands {
    return {
      observe: async (state, move) => this.observe(state, move),
      send: async (state, move) => this.send(state, move),
    };
  }

  private step(state: OperationState, number: number, phase: Phase): Step {
    const held = state.steps[number - 1];
    if (!held) throw new Error(`no step ${number}`);
    if (phase === "apply") return held.plan;
    const back = held.receipt && isWrite(held.plan) ? undoStep(held.plan, held.receipt) : null;
    if (!back) throw new Error(`no way back of step ${number}`);
    return back;
  }

  private observe(state: OperationState, move: Extract<Move, { kind: "observe" }>): Payload {
    const step = this.step(state, move.step, move.phase);
    const head = {
      kind: "step.observed",
      step: move.step,
      phase: move.phase,
      epoch: state.epoch,
      read_at: instant(this.clock),
      reads: [] as Transport[],
    } as const;
    if (move.purpose === "authorship") {
      const held = state.steps[move.step - 1];
      const key = (move.phase === "apply" ? held?.apply : held?.undo)?.intent?.key ?? "";
      this.tick(1);
      return { ...head, purpose: "authorship", reading: this.world.author(key, step) };
    }
    const fault = READ_FAULTS[this.adversity(READ_FAULTS, `${move.phase} read ${move.step} ${move.purpose}`)];
    if (fault === "crash_before") throw new Crash();
    if (fault === "rival") this.rival(step);
    const reading: Reading<Observed> =
      fault === "unreadable"
        ? { kind: "unreadable", reason: "forbidden", detail: "403" }
        : this.world.read(step, fault === "stale" ? this.world.before : undefined);
    this.tick(1);
    if (fault === "crash_after") throw new Crash();
    return { ...head, purpose: move.purpose, reading };
  }

  private rival(step: Step): void {
    this.options.rival?.(this.world, step, this.chooser.pick(3, "what the rival does"));
  }

  private send(state: OperationState, move: Extract<Move, { kind: "send" }>): Payload {
    const step = this.step(state, move.step, move.phase);
    const held = state.steps[move.step - 1];
    const work = move.phase === "apply" ? held?.apply : held?.undo;
    const intent = work?.intent;
    if (!isWrite(step) || !intent || !work) throw new Error("a send without an intent");
    const durable = this.entries.some(
      (entry) => entry.kind === "step.requested" && entry.key === intent.key && entry.attempt === intent.attempt,
    );
    if (!durable) throw new Error("promise 2: sent before its intent was durable");
    const started = this.clock;
    const deliver = () => this.world.write(step, intent.key, intent.ifVersion, this.clock);
    const fault = SEND_FAULTS[this.adversity(SEND_FAULTS, `${move.phase} send ${move.step}`)] ?? "ok";
    const reply = wire(fault, {
      deliver,
      rival: () => this.rival(step),
      later: (ms, run) => this.late.push({ at: this.clock + ms, run }),
      now: this.clock,
    });
    this.tick(2);
    const status = "status" in reply ? (reply.status ?? null) : null;
    const transport: Transport = {
      status,
      provider_request_id: `req_${started}`,
      started_at: instant(started),
      duration_ms: this.clock - started,
      fingerprint: "",
      response: null,
    };
    return {
      kind: "step.transport",
      step: move.step,
      phase: move.phase,
      try: work.try,
      attempt: intent.attempt,
      epoch: state.epoch,
      reply,
      transport,
    };
  }
}
