import { undoStep } from "../../src/core/kinds.ts";
import { instant } from "../../src/core/move.ts";
import type { OperationState } from "../../src/core/state.ts";
import type { Payload, Phase } from "../../src/model/entry.ts";
import { ProvisionError } from "../../src/model/errors.ts";
import { isWrite, type Step } from "../../src/model/plan.ts";
import type { Observed, Reading } from "../../src/model/reading.ts";
import type { Reply } from "../../src/model/reply.ts";
import { type Ask, course, type Folded, type Hands, type Log, type Senses } from "../../src/runtime/execute.ts";
import { betweenMoves, whileReading, whileWaiting, whileWriting } from "./adversity.ts";
import { LIMITS, wire } from "./replies.ts";
import { DEATH, type Executor, type Theatre } from "./theatre.ts";
import { type Request, targetOf } from "./truth.ts";

export type Ending = "at rest" | "dead" | "fenced";
type Observe = Extract<Ask["move"], { kind: "observe" }>;
type Send = Extract<Ask["move"], { kind: "send" }>;

/** Takes the lease and runs; whoever was overtaken on the way goes on, too. */
export function run(theatre: Theatre): Ending {
  let ending = drive(theatre, theatre.takeLease());
  for (let next = theatre.sleepers.pop(); next; next = theatre.sleepers.pop()) ending = drive(theatre, next);
  return ending === "asleep" ? "at rest" : ending;
}

/** Drives an executor to its end, or through so many questions and no further. */
export function drive(theatre: Theatre, executor: Executor, questions = Number.POSITIVE_INFINITY): Ending | "asleep" {
  try {
    executor.course ??= course(logOf(theatre, executor), senses(theatre, executor));
    const { course: going } = executor;
    let turn = executor.asked ?? going.next(null);
    for (let asked = 0; !turn.done; asked++) {
      executor.asked = turn;
      if (asked >= questions) return "asleep";
      turn = going.next(answer(theatre, executor, turn.value));
    }
    return "at rest";
  } catch (error) {
    executor.alive = false;
    if (error === DEATH) return "dead";
    if (error instanceof ProvisionError && error.code === "lease_lost") return "fenced";
    throw error;
  }
}

/** Another executor takes the lease while this one sleeps; it goes on after this one woke, or is done before. */
function overtake(theatre: Theatre, questions: number): void {
  const other = theatre.takeLease();
  if (drive(theatre, other, questions) === "asleep") theatre.sleepers.push(other);
}

/** The hands that the loop would have, for the twin that waits. */
export function handsOf(theatre: Theatre, executor: Executor): Hands {
  return {
    observe: async (state, move) => answer(theatre, executor, { move, state }) as Payload,
    send: async (state, move) => answer(theatre, executor, { move, state }) as Payload,
  };
}

function answer(theatre: Theatre, executor: Executor, { move, state }: Ask): Payload | null {
  if (move.kind === "wait") {
    executor.asleep = false;
    theatre.print.word("wait");
    theatre.tick(Math.max(1, move.until - theatre.clock));
    if (move.why === "acceptance") whileWaiting(theatre);
    return null;
  }
  betweenMoves(theatre, executor, false, (questions) => overtake(theatre, questions));
  const brought = move.kind === "observe" ? observe(theatre, state, move) : send(theatre, executor, state, move);
  executor.asleep = false;
  return brought;
}

export function logOf(theatre: Theatre, executor: Executor): Log & Folded {
  /** The journal as this executor saw it last. */
  let known = theatre.state;
  return {
    read: () => [...theatre.entries],
    state: () => known,
    append: (payloads, seq) => {
      if (!executor.alive) throw DEATH;
      if (payloads.length > 0) betweenMoves(theatre, executor, true, (questions) => overtake(theatre, questions));
      const ok = theatre.state.seq === seq && executor.epoch === theatre.epoch;
      const kept = ok ? payloads : payloads.filter(isEvidence);
      const entries = theatre.write(kept);
      known = theatre.state;
      return { ok, entries };
    },
    holds: () => executor.alive && executor.epoch === theatre.epoch,
  };
}

function isEvidence({ kind }: Payload): boolean {
  return kind === "step.transport" || kind === "step.observed";
}

export function senses(theatre: Theatre, executor: Executor): Senses {
  return {
    now: () => theatre.clock,
    context: () => theatre.knows(),
    interrupted: () => executor.signalled,
    progress: () => {},
  };
}

/** The step that is carried out: forward as planned, back as its compensation. */
export function stepOf(state: OperationState, number: number, phase: Phase): Step {
  const held = state.steps[number - 1];
  const back = held?.receipt && isWrite(held.plan) ? undoStep(held.plan, held.receipt) : null;
  const step = phase === "apply" ? held?.plan : back;
  if (!step) throw new Error(`there is no step ${number} to ${phase}`);
  return step;
}

const UNREADABLE = { kind: "unreadable", reason: "timeout", detail: "no answer" } as const;
const LAST_OWNER = { code: "last_owner", detail: "the last owner stays" };

function observe(theatre: Theatre, state: OperationState, move: Observe): Payload {
  const { world, watch } = theatre;
  const { step: number, phase, purpose } = move;
  const step = stepOf(state, number, phase);
  const fault = whileReading(theatre, step, move);
  const { epoch } = state;
  const read_at = instant(theatre.clock);
  if (purpose === "authorship") {
    const held = state.steps[number - 1];
    const key = (phase === "apply" ? held?.apply : held?.undo)?.intent?.key ?? "";
    const reading = fault === "unreadable" ? UNREADABLE : world.author(key, step);
    theatre.tick(1);
    return { kind: "step.observed", step: number, phase, epoch, purpose, reading, read_at, reads: [] };
  }
  const truth = fault === "stale" ? world.truthAt(theatre.clock - LIMITS.settleMs) : world.truth;
  const reading: Reading<Observed> = fault === "unreadable" ? UNREADABLE : world.read(step, state.subjectId, truth);
  if (reading.kind !== "unreadable") watch.read(move, step, truth[targetOf(step)]?.version ?? 0, epoch);
  theatre.tick(1);
  const entry: Payload = { kind: "step.observed", step: number, phase, epoch, purpose, reading, read_at, reads: [] };
  return fault === "refused by a guard" ? { ...entry, refusal: LAST_OWNER } : entry;
}

function send(theatre: Theatre, executor: Executor, state: OperationState, move: Send): Payload {
  const { world, watch } = theatre;
  const step = stepOf(state, move.step, move.phase);
  const held = state.steps[move.step - 1];
  const work = move.phase === "apply" ? held?.apply : held?.undo;
  const intent = work?.intent;
  if (!isWrite(step) || !intent || !work) throw new Error("a send without an intent");
  const { key, ifVersion, attempt } = intent;
  const request: Request = {
    step,
    phase: move.phase,
    key,
    ifVersion,
    accountId: state.subjectId ?? world.at("account").id,
    invitationId: world.at("invitation").id,
  };
  const started = theatre.clock;
  const reply = attempted(theatre, executor, request, () => watch.sent(request, attempt, state.epoch, executor.epoch));
  theatre.tick(2);
  return {
    kind: "step.transport",
    step: move.step,
    phase: move.phase,
    try: work.try,
    attempt,
    epoch: state.epoch,
    reply,
    transport: {
      status: "status" in reply ? (reply.status ?? null) : null,
      provider_request_id: null,
      started_at: instant(started),
      duration_ms: theatre.clock - started,
      fingerprint: "",
      response: null,
    },
  };
}

/** The lease is looked at once more, just before the first byte. */
function attempted(theatre: Theatre, executor: Executor, request: Request, leaves: () => void): Reply {
  if (executor.asleep || executor.epoch !== theatre.epoch)
    return { kind: "not_sent", detail: "the lease does not outlive one request" };
  const fault = whileWriting(theatre, request.step);
  if (fault !== "not sent") leaves();
  if (fault === "200 and never done" || fault.startsWith("202")) theatre.watch.liedAbout(request.key);
  return wire(fault, {
    deliver: () => theatre.deliver(request),
    later: (ms) => theatre.later(ms, request, fault.startsWith("202")),
    die: () => {
      theatre.tell?.("the process dies");
      throw DEATH;
    },
    now: theatre.clock,
    limits: LIMITS,
  });
}
