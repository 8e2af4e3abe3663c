import type { AnyEntry } from "../../src/core/state.ts";
import type { Phase } from "../../src/model/entry.ts";
import type { WriteStep } from "../../src/model/plan.ts";
import type { Observed, Reading } from "../../src/model/reading.ts";
import type { Claim, Invariant } from "./invariants.ts";
import type { Stage } from "./stage.ts";

interface Given {
  seq: number;
  id: string;
  phase: Phase;
  steps: number[];
  from: number;
  to: number;
  readings: Readonly<Record<string, Reading<Observed>>>;
  spent: number[];
}

type Intent = Extract<AnyEntry, { kind: "step.requested" }>;

/** What was decided so far, told by the entries alone and by no code of the machine. */
export class Decisions {
  private readonly theatre: Stage;
  private readonly given: Given[] = [];
  private asked: { phase: Phase; steps: number[]; readings: Given["readings"] }[] = [];
  /** When this run began to send for this key; a window limits the start. */
  private readonly started = new Map<string, { epoch: number; at: number }>();
  private stopped = 0;

  constructor(theatre: Stage) {
    this.theatre = theatre;
  }

  entry(entry: AnyEntry): void {
    switch (entry.kind) {
      case "approval.requested":
        this.asked.push({ phase: entry.phase, steps: entry.steps, readings: entry.readings });
        break;
      case "approval.recorded": {
        const { phase, steps, approval_id, not_before, not_after } = entry.approval;
        const asked = this.asked.findLast((one) => one.phase === phase && steps.every((n) => one.steps.includes(n)));
        const window = { from: Date.parse(not_before), to: Date.parse(not_after) };
        const readings = asked?.readings ?? {};
        this.given.push({ seq: entry.seq, id: approval_id, phase, steps, ...window, readings, spent: [] });
        break;
      }
      case "approval.spent":
        for (const one of this.given) if (one.id === entry.approval_id) one.spent.push(...entry.steps);
        break;
      case "op.stopped":
      case "approval.denied":
        this.stopped = entry.seq;
        break;
    }
  }

  /** A step that is opened again is decided again. */
  reopened(steps: number[]): void {
    for (const one of this.given) one.spent.push(...steps);
  }

  judge(entry: Intent, first: number): Claim[] {
    const step = entry.requested as WriteStep;
    const at = this.startOf(entry);
    const detail = () => `step ${entry.step} ${entry.phase}, attempt ${entry.attempt}`;
    const claim = (invariant: Invariant, holds: boolean): Claim => ({ invariant, holds, detail });
    const open = this.candidates(entry, at);
    if (entry.phase === "rollback")
      return gives(step)
        ? [
            claim(
              "giving",
              open.some((one) => sameAs(one, entry)),
            ),
          ]
        : [claim("covered", this.wasApproved(entry.step))];
    const live = open.filter((one) => one.seq > this.stopped);
    const { denied } = this.theatre.rules;
    return [
      claim("covered", step.gate !== "none" && open.length > 0),
      ...(this.stopped > 0 ? [claim("stopped", live.length > 0)] : []),
      ...(step.gate === "call" && step.step !== first
        ? [
            claim(
              "reading",
              live.some((one) => sameAs(one, entry)),
            ),
          ]
        : []),
      ...(denied.size > 0 ? [claim("guarded", !denied.has(entry.step))] : []),
    ];
  }

  private startOf({ key, epoch, at }: Intent): number {
    const started = this.started.get(key);
    if (started?.epoch === epoch) return started.at;
    this.started.set(key, { epoch, at: Date.parse(at) });
    return Date.parse(at);
  }

  private candidates({ phase, step }: Intent, at: number): Given[] {
    return this.given.filter(
      (one) =>
        one.phase === phase &&
        one.steps.includes(step) &&
        !one.spent.includes(step) &&
        at >= one.from &&
        at < one.to &&
        this.theatre.rules.approvals.get(one.id) === null,
    );
  }

  /** Taking authority back is covered by what approved the change, without an end. */
  private wasApproved(step: number): boolean {
    return this.given.some((one) => one.phase === "apply" && one.steps.includes(step));
  }
}

/** Whether carrying the step out gives authority. */
function gives(step: WriteStep): boolean {
  return step.direction !== "reduce";
}

function sameAs(one: Given, { step, before }: Intent): boolean {
  const asked = one.readings[String(step)];
  return asked !== undefined && essence(asked) === essence(before);
}

function essence(reading: Reading<Observed>): string {
  return reading.kind === "found" ? JSON.stringify([reading.value, reading.version]) : reading.kind;
}
