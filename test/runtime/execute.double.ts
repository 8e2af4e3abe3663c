import { instant, type Move } from "../../src/core/move.ts";
import type { AnyEntry, OperationState } from "../../src/core/state.ts";
import type { Payload } from "../../src/model/entry.ts";
import type { Plan } from "../../src/model/plan.ts";
import type { Hands, Log, Surroundings } from "../../src/runtime/execute.ts";
import { absent, member, ok } from "../core/build.ts";
import { LIMITS, Story } from "../core/story.ts";

/** What happened, in order: what was appended and when it was durable, what was read, and what was sent. */
type Happening = string;

export interface Stage {
  story: Story;
  log: Log;
  hands: Hands;
  io: Surroundings;
  happened: Happening[];
  /** Whether each append was made as the holder of the lease, at the expected sequence. */
  mine: boolean;
  interrupted: boolean;
  /** Runs just before the n-th thing of this name happens, once. */
  meanwhile: Map<string, () => void>;
  sends: number;
  turns: number;
}

/** A journal in memory under a lease, and a tenant on which groups are added as asked. */
export function stage(plan: Plan): Stage {
  const story = new Story(plan).approve().lease();
  const added = new Set<number>();
  const at: Stage = {
    ...{ story, happened: [], mine: true, interrupted: false, meanwhile: new Map(), sends: 0, turns: 0 },
    log: { read: () => [...story.entries], append: (payloads, seq) => append(at, payloads, seq), holds: () => at.mine },
    hands: {
      observe: async (state, move) => {
        happen(at, `read ${move.step}`);
        const shown = move.purpose === "authorship" ? absent : added.has(move.step) ? member() : absent;
        return observed(state, move, shown);
      },
      send: async (state, move) => {
        at.sends += 1;
        happen(at, `send ${move.step}`);
        added.add(move.step);
        return transport(state, move);
      },
    },
    io: {
      now: () => story.clock,
      sleepUntil: async (until) => {
        happen(at, "sleep");
        story.clock = Math.max(story.clock, until);
      },
      context: (state) => {
        // A loop that never waits cannot be stopped from outside.
        if (++at.turns > 500) throw new Error("the run never ends");
        return {
          ...{ now: story.clock, limits: LIMITS, keys: true, authorship: false, ifMatch: true, patienceUntil: null },
          authority: { approvals: new Map(state.decisions.map((one) => [one.approval_id, null])), denied: new Map() },
        };
      },
      interrupted: () => at.interrupted,
      progress: () => {},
    },
  };
  return at;
}

export function happen(at: Stage, what: string): void {
  const due = at.meanwhile.get(what);
  at.meanwhile.delete(what);
  due?.();
  at.happened.push(what);
}

/** As the journal does it: on a mismatch only evidence is written. */
function append(at: Stage, payloads: Payload[], seq: number): { ok: boolean; entries: AnyEntry[] } {
  const kinds = payloads.map(({ kind }) => kind);
  for (const kind of kinds) if (at.meanwhile.has(kind)) happen(at, kind);
  const { story } = at;
  const before = story.entries.length;
  const agreed = at.mine && story.state.seq === seq;
  const kept = agreed ? payloads : payloads.filter(({ kind }) => kind === "step.transport" || kind === "step.observed");
  story.add(...kept);
  if (kinds.length > 0) at.happened.push(`${agreed ? "" : "refused "}${kinds.join("+")}`);
  return { ok: agreed, entries: story.entries.slice(before) };
}

export function observed(
  state: OperationState,
  move: Extract<Move, { kind: "observe" }>,
  reading: typeof absent,
): Payload {
  const purpose = move.purpose === "authorship" ? "settle" : move.purpose;
  const head = { step: move.step, phase: move.phase, epoch: state.epoch, read_at: instant(Date.parse(state.asOf)) };
  return { kind: "step.observed", purpose, reading, reads: [], ...head };
}

export function transport(state: OperationState, move: Extract<Move, { kind: "send" }>, reply = ok): Payload {
  const work = state.steps[move.step - 1]?.apply;
  const facts = { status: 200, provider_request_id: "req_1", started_at: state.asOf, duration_ms: 1 };
  return {
    ...{ kind: "step.transport", step: move.step, phase: move.phase, epoch: state.epoch, reply },
    ...{ try: work?.try ?? 1, attempt: work?.intent?.attempt ?? 1 },
    transport: { ...facts, fingerprint: "", response: null },
  } as Payload;
}
