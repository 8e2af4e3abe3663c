import type { Refusal } from "../core/approval.ts";
import { fold } from "../core/fold.ts";
import { type Context, instant, type Move } from "../core/move.ts";
import { next } from "../core/next.ts";
import { type AnyEntry, begin, type OperationState } from "../core/state.ts";
import type { Payload } from "../model/entry.ts";
import { bug, ProvisionError } from "../model/errors.ts";
import type { Plan } from "../model/plan.ts";

/** The part of the journal that one run of one operation uses. */
export interface Log {
  read(): AnyEntry[];
  /**
   * Durable on return. `ok` is false when somebody else appended since `seq`, or the lease is lost: then replies and
   * readings were written, and nothing that was decided or concluded.
   */
  append(payloads: Payload[], seq: number): { ok: boolean; entries: AnyEntry[] };
  /** Whether this process may still write intents. */
  holds(): boolean;
}

/** The same with its fold kept up: all that is durable, as far as this process knows. */
export interface Folded extends Pick<Log, "append" | "holds"> {
  state(): OperationState;
}

/** What touches the tenant: one observation, or one wire attempt. Neither throws for anything that a service says. */
export interface Hands {
  observe(state: OperationState, move: Extract<Move, { kind: "observe" }>): Promise<Payload>;
  send(state: OperationState, move: Extract<Move, { kind: "send" }>): Promise<Payload>;
}

/** What the loop knows of the world around it without waiting for anything. */
export interface Senses {
  /** Milliseconds since the epoch; never goes back within a process. */
  now(): number;
  /** What may be known beside the fold, now: verified approvals, policy, limits. */
  context(state: OperationState): Context;
  /** A signal came: settle what is in the air, record it, and leave. */
  interrupted(): boolean;
  /** Each entry once it is durable, and each wait, for progress. */
  progress(
    event: { kind: "entry"; entry: AnyEntry; state: OperationState } | { kind: "wait"; until: number; why: string },
  ): void;
}

export interface Surroundings extends Senses {
  sleepUntil(at: number): Promise<void>;
}

export interface Run {
  state: OperationState;
  refusal: Refusal | null;
  /** A signal ended it before it had come to rest. */
  interrupted: boolean;
}

/** A move that takes time, and the fold it was decided on. What touches the tenant is answered with an entry. */
export interface Ask {
  move: Extract<Move, { kind: "observe" | "send" | "wait" }>;
  state: OperationState;
}

/** May wait in memory for the next durable append: losing it costs a read, never a fact. */
const CAN_WAIT: readonly Payload["kind"][] = ["step.observed", "step.receipt", "step.compensated", "subject.bound"];

/** Drives the course of a run, until nothing can move. */
export async function execute(plan: Plan, planHash: string, log: Log, hands: Hands, io: Surroundings): Promise<Run> {
  const run = course(folded(plan, planHash, log), io);
  let turn = run.next(null);
  while (!turn.done) {
    let answer: Payload | null;
    try {
      answer = await carry(turn.value, hands, io);
    } catch (error) {
      turn = run.throw(error);
      continue;
    }
    turn = run.next(answer);
  }
  return turn.value;
}

async function carry({ move, state }: Ask, hands: Hands, io: Surroundings): Promise<Payload | null> {
  switch (move.kind) {
    case "observe":
      return hands.observe(state, move);
    case "send":
      return hands.send(state, move);
    case "wait":
      await io.sleepUntil(move.until);
      return null;
    default:
      move satisfies never;
      return null;
  }
}

/**
 * Fold, decide, go on. It asks for whatever takes time and goes on with what it is given, so that the same loop can be
 * driven with and without waiting. A driver that dies simply never asks again; one that fails throws in here.
 */
export function* course(log: Folded, io: Senses): Generator<Ask, Run, Payload | null> {
  const run = new RunState(log, io);
  try {
    return yield* loop(run, io);
  } finally {
    run.save();
  }
}

function* loop(run: RunState, io: Senses): Generator<Ask, Run, Payload | null> {
  for (;;) {
    const move = next(run.state, io.context(run.state));
    if (io.interrupted() && !settlesNow(move)) {
      run.flush([{ kind: "op.state", event: "interrupted", detail: null }]);
      return { state: run.state, refusal: null, interrupted: true };
    }
    switch (move.kind) {
      case "halt":
        // A decision that came in meanwhile is in the journal by now, and decides again.
        if (run.flush([])) return { state: run.state, refusal: move.refusal ?? null, interrupted: false };
        break;
      case "wait":
        io.progress({ kind: "wait", until: move.until, why: move.why });
        if (move.why === "acceptance") run.flush([]);
        yield { move, state: run.state };
        break;
      case "record":
        run.take(move.entries);
        break;
      case "observe":
        run.take(brought(yield { move, state: run.state }));
        break;
      case "send":
        run.flush(brought(yield { move, state: run.state }));
        break;
      default:
        move satisfies never;
    }
  }
}

function brought(answer: Payload | null): Payload[] {
  if (answer === null) throw bug("a read or a write came back with nothing");
  return [answer];
}

/** After a signal: what is announced is still sent and looked at, as far as that takes no waiting; nothing new is begun. */
function settlesNow(move: Move): boolean {
  switch (move.kind) {
    case "halt":
    case "send":
      return true;
    case "observe":
      return move.purpose === "settle" || move.purpose === "authorship";
    case "record":
      return move.entries.every(({ kind }) => kind === "step.receipt" || kind === "step.compensated");
    case "wait":
      return false;
    default:
      move satisfies never;
      return false;
  }
}

/** Folds what is read and appended; where somebody else appended meanwhile, everything is read anew. */
function folded(plan: Plan, planHash: string, log: Log): Folded {
  const load = () => log.read().reduce(fold, begin(plan, planHash));
  let state = load();
  return {
    state: () => state,
    append: (payloads, seq) => {
      const written = log.append(payloads, seq);
      state = written.ok ? written.entries.reduce(fold, state) : load();
      return written;
    },
    holds: () => log.holds(),
  };
}

/** The fold of what is durable and of what waits in memory to become so. */
class RunState {
  state: OperationState;
  private waiting: Payload[] = [];
  private readonly log: Folded;
  private readonly io: Senses;

  constructor(log: Folded, io: Senses) {
    this.log = log;
    this.io = io;
    this.state = log.state();
  }

  /** Takes entries in; only those that may be lost without harm stay in memory. */
  take(payloads: Payload[]): void {
    if (payloads.every((payload) => CAN_WAIT.includes(payload.kind))) {
      this.waiting.push(...payloads);
      for (const payload of payloads) this.state = fold(this.state, this.provisional(payload));
      return;
    }
    this.flush(payloads);
  }

  /** What waits in memory is worth one try on the way out; after a failed append nothing waits any more. */
  save(): void {
    if (this.waiting.length > 0 && this.log.holds()) this.flush([]);
  }

  private provisional(payload: Payload): AnyEntry {
    return { ...payload, seq: this.state.seq, at: instant(this.io.now()), op: this.state.plan.operation_id };
  }

  /** Makes everything durable. False: the journal had moved on, and the state was read anew. */
  flush(payloads: Payload[]): boolean {
    const all = [...this.waiting, ...payloads];
    this.waiting = [];
    const { ok, entries } = this.log.append(all, this.log.state().seq);
    this.state = this.log.state();
    for (const entry of entries) this.io.progress({ kind: "entry", entry, state: this.state });
    if (!ok && !this.log.holds()) throw leaseLost(this.state);
    return ok;
  }
}

function leaseLost({ plan }: OperationState): ProvisionError {
  const message = `${plan.operation_id} lost its lease: another executor took it over, or another operation holds the same account. Nothing more was sent from here.`;
  return new ProvisionError("lease_lost", 10, message, { hint: `provision status ${plan.operation_id}` });
}
