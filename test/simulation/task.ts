import { NumberSet } from "./fingerprint.ts";
import type { Job } from "./forms.ts";
import { sample } from "./sampled.ts";
import { type Counts, enumerate, noCounts } from "./scenario.ts";

/** A part of the work that one thread does by itself: every history of one plan, or the worlds of some seeds. */
export type Task = { kind: "job"; job: Job } | { kind: "seeds"; from: number; to: number };

export interface Outcome extends Counts {
  /** Histories that are different by their moves. Equal ones lie within one task, since they have one plan. */
  distinct: number;
}

/** @param stopAtFirst - ends with the first breach, for whoever only wants to know whether there is one */
export function carryOut(task: Task, stopAtFirst = false): Outcome {
  const counts = noCounts();
  const seen = new NumberSet();
  const more = () => !stopAtFirst || counts.found.length === 0;
  if (task.kind === "seeds") for (let seed = task.from; seed < task.to && more(); seed++) sample(seed, counts, seen);
  else for (const scenario of task.job.scenarios) if (!more() || !enumerate(scenario, counts, seen, more)) break;
  return { ...counts, distinct: seen.size };
}

export function noOutcome(): Outcome {
  return { ...noCounts(), distinct: 0 };
}

/** Adds one outcome to another. Of what was found, the first of each invariant is kept. */
export function add(to: Outcome, one: Outcome): void {
  to.histories += one.histories;
  to.distinct += one.distinct;
  to.moves += one.moves;
  for (const name of Object.keys(one.stakes) as (keyof Outcome["stakes"])[]) to.stakes[name] += one.stakes[name];
  for (const found of one.found)
    if (!to.found.some(({ breach }) => breach.invariant === found.breach.invariant)) to.found.push(found);
}
