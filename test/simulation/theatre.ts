import type { Authority, Refusal } from "../../src/core/approval.ts";
import { fold } from "../../src/core/fold.ts";
import { type Context, instant } from "../../src/core/move.ts";
import { type AnyEntry, begin, type OperationState } from "../../src/core/state.ts";
import { type StateName, stateOf } from "../../src/core/status.ts";
import type { Payload } from "../../src/model/entry.ts";
import type { Plan } from "../../src/model/plan.ts";
import type { Ask, Run } from "../../src/runtime/execute.ts";
import type { Chooser } from "./chooser.ts";
import { Fingerprint } from "./fingerprint.ts";
import { lineOf } from "./lines.ts";
import { LIMITS } from "./replies.ts";
import type { Request } from "./truth.ts";
import { Watch } from "./watch.ts";
import type { World } from "./world.ts";

export const START = Date.parse("2026-07-24T10:00:00.000Z");
const HOLDER = { host: "h", boot_id: "b", pid_namespace: "n", pid: 1, start_time: "1", user: "u" };
/** More moves than this and a history is said never to end. */
const LONGEST = 2000;

// What fails in here is told by a story that is played again, and traces cost the most.
Error.stackTraceLimit = 0;

/** The process dies here: what it held in memory is gone. One object, since making a trace for each costs the most. */
export const DEATH = new Error("the process died");

/** A run under one lease. */
export interface Executor {
  epoch: number;
  alive: boolean;
  /** A signal came. */
  signalled: boolean;
  /** It slept longer than its lease is good for, and has not given a sign of life since. */
  asleep: boolean;
  course: Generator<Ask, Run, Payload | null> | null;
  /** What it asked last and was not answered yet. */
  asked: IteratorResult<Ask, Run> | null;
}

export interface Props {
  plan: Plan;
  planHash: string;
  world: World;
  chooser: Chooser;
  /** How many adversities this history may hold. */
  adversities: number;
  clock: number;
  /** How long a run waits for an acceptance, in milliseconds; 0: it looks once. */
  patienceMs?: number;
  /** Called with each line of the story, where somebody listens. */
  tell?: (line: string) => void;
}

/** One operation on one world: the journal, the clock, what is in the air, and who watches. */
export class Theatre {
  readonly plan: Plan;
  readonly world: World;
  readonly chooser: Chooser;
  readonly entries: AnyEntry[] = [];
  readonly watch: Watch;
  readonly print = new Fingerprint();
  readonly tell: ((line: string) => void) | null;
  /** The fold of all entries, kept up with them. */
  state: OperationState;
  clock: number;
  /** The epoch of whoever holds the lease. */
  epoch = 0;
  adversities: number;
  moves = 0;
  /** Executors that were overtaken in their sleep and go on later. */
  readonly sleepers: Executor[] = [];
  private named: { state: OperationState; clock: number; name: StateName } | null = null;
  private air: { at: number; request: Request; promised: boolean }[] = [];
  private readonly authority: { approvals: Map<string, Refusal | null>; denied: Map<number, Refusal> };
  private readonly context: Context;
  private readonly patienceMs: number;

  constructor({ plan, planHash, world, chooser, adversities, clock, patienceMs, tell }: Props) {
    this.plan = plan;
    this.world = world;
    this.chooser = chooser;
    this.adversities = adversities;
    this.clock = clock;
    this.tell = tell ?? null;
    this.patienceMs = patienceMs ?? 0;
    this.state = begin(plan, planHash);
    this.authority = { approvals: new Map(), denied: new Map() };
    const { keys, guard, authorship } = world.abilities;
    const abilities = { keys, ifMatch: guard === "if_match", authorship };
    this.context = { now: clock, limits: LIMITS, ...abilities, authority: this.authority, patienceUntil: null };
    this.watch = new Watch(this);
    for (const step of plan.steps) this.print.word(step.kind);
    this.write([{ kind: "plan.frozen", plan: "", plan_hash: planHash }]);
  }

  get name(): StateName {
    const { state, clock } = this;
    if (this.named?.state !== state || this.named.clock !== clock)
      this.named = { state, clock, name: stateOf(state, clock, this.authority) };
    return this.named.name;
  }

  get rules(): Authority {
    return this.authority;
  }

  /** What the executor may know now. Read at once and not kept, so one object serves for all. */
  knows(): Context {
    this.moves += 1;
    if (this.moves > LONGEST) throw new Error("the run never ends");
    this.context.now = this.clock;
    return this.context;
  }

  /** Appends to the journal, durably. */
  write(payloads: readonly Payload[]): AnyEntry[] {
    const at = instant(this.clock);
    const added: AnyEntry[] = [];
    for (const payload of payloads) {
      // Each is made once and written once, so it may become the entry itself; copies would cost the most.
      const entry = payload as AnyEntry;
      entry.seq = this.entries.length + 1;
      entry.at = at;
      entry.op = this.plan.operation_id;
      if (entry.kind === "approval.recorded") this.authority.approvals.set(entry.approval.approval_id, null);
      this.watch.entry(entry);
      this.entries.push(entry);
      this.state = fold(this.state, entry);
      this.print.entry(entry);
      this.tell?.(`  ${lineOf(entry)}`);
      added.push(entry);
    }
    return added;
  }

  /** The roster was emptied: no approval recorded so far verifies any more. */
  revokeApprovals(): void {
    const refusal: Refusal = { code: "unknown_key", exit: 13, message: "the key is not on the roster" };
    this.named = null;
    for (const id of this.authority.approvals.keys()) this.authority.approvals.set(id, refusal);
  }

  /** A rule denies this step from now on. */
  forbid(step: number): void {
    this.named = null;
    this.authority.denied.set(step, { code: "policy", exit: 13, message: "denied by a rule" });
  }

  /** Takes the lease; whoever held it before is fenced off. */
  takeLease(): Executor {
    // An answer that promised it for later may be lost by now; what nobody knows of is done within the limit of a request.
    const soon = this.clock + LIMITS.requestMs - 1;
    this.air = this.air.map((one) => ({ ...one, at: Math.min(one.at, soon) }));
    if (this.patienceMs > 0) this.context.patienceUntil = this.clock + this.patienceMs;
    const epoch = this.entries.length + 2;
    this.epoch = epoch;
    this.write([{ kind: "lease.taken", epoch, holder: HOLDER }]);
    return { epoch, alive: true, signalled: false, asleep: false, course: null, asked: null };
  }

  /** `promised`: the answer said that it will be done later. */
  later(ms: number, request: Request, promised: boolean): void {
    this.air.push({ at: this.clock + ms, request, promised });
  }

  /** Whether a request of this operation may still arrive and change something. */
  get inTheAir(): boolean {
    // A change that was promised and is there cannot be told from one that somebody else made meanwhile.
    const untold = this.world.rivals > 0;
    return this.air.some(
      ({ request, promised }) =>
        !this.world.remembers(request.key) && !this.world.isPast(request) && !(promised && untold),
    );
  }

  /** Time passes, and what is due on the way arrives. */
  tick(ms: number): void {
    const until = this.clock + ms;
    while (this.air.length > 0) {
      const due = this.air.reduce((first, one) => (one.at < first.at ? one : first));
      if (due.at > until) break;
      this.air = this.air.filter((one) => one !== due);
      this.clock = Math.max(this.clock, due.at);
      this.deliver(due.request);
    }
    this.clock = until;
  }

  deliver(request: Request) {
    this.watch.arrival();
    const count = this.world.applied.length;
    const reply = this.world.write(request, this.clock);
    const applied = this.world.applied[count];
    if (applied) this.watch.applied(applied, request);
    this.tell?.(`  tenant: ${request.step.kind} ${request.phase} ${request.step.step} → ${JSON.stringify(reply)}`);
    return reply;
  }
}

export type { Authority };
