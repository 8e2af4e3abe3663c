import type { Plan } from "../../src/model/plan.ts";
import { type Chooser, Odometer, Replay } from "./chooser.ts";
import type { NumberSet } from "./fingerprint.ts";
import { type Breach, INVARIANTS, type Invariant } from "./invariants.ts";
import { live } from "./life.ts";
import { canEdit, EDITS, type Edit, edit } from "./neighbours.ts";
import { planOf, worldFor } from "./plans.ts";
import type { StepName } from "./steps.ts";
import { START, Theatre } from "./theatre.ts";
import type { Abilities } from "./truth.ts";
import { World } from "./world.ts";

/** What the histories of one enumeration have in common. */
export interface Scenario {
  names: readonly StepName[];
  abilities: Abilities;
  /** How the world begins: as planned, or with the thing of a step as somebody left it before. */
  begins: Beginning;
  /** The request said that no account may be there. */
  absent: boolean;
  adversities: number;
  /** How often a person does what is not ordinary. */
  acts: number;
  /** A run waits for an acceptance instead of looking once. */
  patient?: boolean;
}

export type Beginning = null | { step: number; edit: Edit };

export const PLAN_HASH = `sha256:${"a".repeat(64)}`;

/** As planned; and for each step, its thing as wanted already, or something else. */
export function beginningsOf(plan: Plan): Beginning[] {
  const world = new World(worldFor(plan), { keys: false, guard: "none", authorship: false });
  return [
    null,
    ...plan.steps.flatMap((step) =>
      EDITS.slice(0, 2).flatMap((one) => (canEdit(world, step, one) ? [{ step: step.step, edit: one }] : [])),
    ),
  ];
}

function beginning(plan: Plan, { begins, abilities }: Scenario): World {
  const world = new World(worldFor(plan), abilities);
  const step = begins && plan.steps[begins.step - 1];
  if (step && begins) {
    edit(world, step, begins.edit, START - 3_600_000);
    world.settleDown();
  }
  return world;
}

/** One history. Its theatre tells what it came to. */
export function playOne(scenario: Scenario, chooser: Chooser, tell?: (line: string) => void): Theatre {
  const plan = planFor(scenario);
  const theatre = new Theatre({
    plan,
    planHash: PLAN_HASH,
    world: beginning(plan, scenario),
    chooser,
    adversities: scenario.adversities,
    clock: START,
    patienceMs: scenario.patient ? 3_600_000 : 0,
    ...(tell && { tell }),
  });
  live(theatre, scenario.acts);
  return theatre;
}

const plans = new Map<string, Plan>();

function planFor({ names, absent }: Scenario): Plan {
  const key = `${names.join()} ${absent}`;
  const known = plans.get(key);
  if (known) return known;
  const made = planOf(names, undefined, absent);
  plans.set(key, made);
  return made;
}

/** How a history is played again: a path through a scenario, or a seed. */
export type Origin = { scenario: Scenario; path: number[] } | { seed: number };

export interface Found {
  origin: Origin;
  breach: Breach;
}

export interface Counts {
  histories: number;
  moves: number;
  stakes: Record<Invariant, number>;
  /** The first few of each invariant. */
  found: Found[];
}

export function noCounts(): Counts {
  const stakes = Object.fromEntries(Object.keys(INVARIANTS).map((name) => [name, 0])) as Record<Invariant, number>;
  return { histories: 0, moves: 0, stakes, found: [] };
}

const MOST_OF_ONE = 3;

/** Plays every history of a scenario, while there is time for `more`. False where there was not. */
export function enumerate(scenario: Scenario, counts: Counts, seen: NumberSet, more: () => boolean): boolean {
  const odometer = new Odometer();
  do {
    note(playSafely(scenario, odometer), () => ({ scenario, path: odometer.path() }), counts, seen);
    if (!more()) return false;
  } while (odometer.another());
  return true;
}

type Played = { theatre: Theatre } | { error: unknown };

function playSafely(scenario: Scenario, chooser: Chooser): Played {
  try {
    return { theatre: playOne(scenario, chooser) };
  } catch (error) {
    return { error };
  }
}

/** Counts one history, and keeps what was broken in it. */
export function note(played: Played, origin: () => Origin, counts: Counts, seen: { add(value: number): void }): void {
  counts.histories += 1;
  if ("error" in played) {
    keep(counts, { invariant: "crash", detail: `${played.error}` }, origin);
    return;
  }
  const { theatre } = played;
  seen.add(theatre.print.value());
  counts.moves += theatre.moves;
  const { staked, broken } = theatre.watch.tally;
  for (const name of staked) counts.stakes[name] += 1;
  for (const breach of broken) keep(counts, breach, origin);
}

function keep({ found }: Counts, breach: Breach, origin: () => Origin): void {
  if (found.filter((one) => one.breach.invariant === breach.invariant).length < MOST_OF_ONE)
    found.push({ origin: origin(), breach });
}

/** The story of one enumerated history, line by line. */
export function story({ scenario, path }: { scenario: Scenario; path: number[] }): string[] {
  const lines: string[] = [];
  try {
    const theatre = playOne(scenario, new Replay(path), (line) => lines.push(line));
    for (const { invariant, detail } of theatre.watch.tally.broken) lines.push(`BROKEN ${invariant}: ${detail}`);
  } catch (error) {
    lines.push(`IT BROKE: ${error}`);
  }
  return lines;
}
