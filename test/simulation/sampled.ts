import { isWrite, type Plan, type Step } from "../../src/model/plan.ts";
import { Dice } from "./chooser.ts";
import { ALL_ABILITIES } from "./forms.ts";
import { live } from "./life.ts";
import { lives } from "./neighbours.ts";
import { planOf, worldFor } from "./plans.ts";
import { type Counts, note } from "./scenario.ts";
import type { StepName } from "./steps.ts";
import { START, Theatre } from "./theatre.ts";
import { targetOf, wantedValue } from "./truth.ts";
import { World } from "./world.ts";

const CHANGES: readonly StepName[] = ["role", "group", "sensitive", "license", "ungroup", "unlicense"];
const LEAVES: readonly StepName[] = ["suspend", "sessions", "credentials", "lower", "ungroup", "unlicense", "delete"];
const INERT = { gate: "none", direction: "neutral", reversibility: "read_only", effects: [], undo: null } as const;

/** What one seed makes: several operations, one after another, on one subject in one hostile world. */
export function sample(
  seed: number,
  counts: Counts,
  seen: { add(value: number): void },
  tell?: (line: string) => void,
): void {
  const dice = new Dice(seed, CHANCES[seed % CHANCES.length] ?? 0.05);
  const abilities = ALL_ABILITIES[dice.below(ALL_ABILITIES.length)];
  if (!abilities) throw new Error("a service without a description");
  const joins = dice.below(2) === 0;
  const world = new World(worldFor(planOf(joins ? ["invite", "wait"] : [...CHANGES, ...LEAVES])), abilities);
  let clock = START;
  const operations = 1 + dice.below(4);
  for (let i = 0; i < operations; i++) {
    const plan = planNow(world, dice, i);
    tell?.(`OPERATION ${i + 1}: ${plan.steps.map(({ kind }) => kind).join(", ")}`);
    const planHash = `sha256:${String(i).padStart(8, "0")}${(seed >>> 0).toString(16).padStart(56, "0")}`;
    const patienceMs = dice.below(2) * 3_600_000;
    const told = tell ? { tell } : {};
    const adversities = 1 + dice.below(6);
    const theatre = new Theatre({ plan, planHash, world, chooser: dice, adversities, clock, patienceMs, ...told });
    note(played(theatre, 1 + dice.below(3)), () => ({ seed }), counts, seen);
    for (const { invariant, detail } of theatre.watch.tally.broken) tell?.(`BROKEN ${invariant}: ${detail}`);
    clock = theatre.clock + 60_000;
    world.settleDown();
  }
}

/** How often a fork is taken that is not the ordinary course; it is a matter of the seed. */
const CHANCES = [0.02, 0.05, 0.1, 0.25];

function played(theatre: Theatre, acts: number) {
  try {
    live(theatre, acts);
    return { theatre };
  } catch (error) {
    return { error };
  }
}

/** What the planner would freeze against the world as it is: a joiner where nobody is there, else a change or a leaver. */
function planNow(world: World, dice: Dice, i: number): Plan {
  const id = `prov_2026_07_24_sample${i}`;
  if (!lives(world)) {
    const wait = dice.below(2) === 0 ? "wait" : "wait_or_cancel";
    return planOf(["invite", wait, ...some(dice, CHANGES)], id, dice.below(2) === 0);
  }
  const plan = planOf(some(dice, dice.below(3) > 0 ? CHANGES : LEAVES), id, false, world.at("account").id ?? "");
  return { ...plan, steps: plan.steps.map((step) => against(step, world)) };
}

/** Some of the steps, in their order; at least one. */
function some(dice: Dice, names: readonly StepName[]): StepName[] {
  const kept = names.filter(() => dice.below(5) > 0);
  return kept.length > 0 ? kept : [names[0] ?? "role"];
}

/** The step with what it expects, and how it is undone, as the world is now; what holds already can never send. */
function against(step: Step, world: World): Step {
  const { value } = world.at(targetOf(step));
  if (!isWrite(step) || !("expects" in step)) return step;
  const inert = value === wantedValue(step) ? INERT : {};
  if ("member" in step.expects) return { ...step, expects: { member: value !== null }, ...inert } as Step;
  if ("assigned" in step.expects) return { ...step, expects: { assigned: value !== null }, ...inert } as Step;
  if (step.kind !== "set_role" || value === null) return step;
  return { ...step, expects: { role: value }, undo: { kind: "set_role", role: value }, ...inert };
}
