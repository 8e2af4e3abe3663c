import { planOf, plansOf } from "./plans.ts";
import { beginningsOf, type Scenario } from "./scenario.ts";
import type { StepName } from "./steps.ts";
import type { Abilities } from "./truth.ts";

/** Scenarios of one plan. They are played together, so that equal histories are counted once. */
export interface Job {
  names: StepName[];
  scenarios: Scenario[];
}

const GUARDS = ["if_match", "versions", "none"] as const;

/** Every combination of what a service can and cannot do. */
export const ALL_ABILITIES: readonly Abilities[] = [true, false].flatMap((keys) =>
  GUARDS.flatMap((guard) => [true, false].map((authorship) => ({ keys, guard, authorship }))),
);

/** A service that helps in every way, and one that helps in none. */
export const EXTREMES: readonly Abilities[] = [
  { keys: true, guard: "if_match", authorship: true },
  { keys: false, guard: "none", authorship: false },
];

interface Depth {
  abilities: readonly Abilities[];
  adversities: number;
  acts: number;
  /** Also worlds that begin half true. */
  halfTrue: boolean;
}

/**
 * Every history of all plans of one and two steps with two adversities, of three and four with one. Beside them stand
 * worlds that begin half true, every combination of what a service can do, and acts of people that are not ordinary.
 */
export function completeForm(): Job[] {
  const all = { abilities: ALL_ABILITIES, adversities: 1, acts: 1, halfTrue: true };
  const extremes = { abilities: EXTREMES, adversities: 1, acts: 1, halfTrue: false };
  return [
    ...jobs(1, { ...all, adversities: 2, acts: 0, halfTrue: false }, all, { ...extremes, acts: 2 }),
    ...jobs(2, { ...extremes, adversities: 2, acts: 0 }, { ...all, acts: 0 }, extremes),
    ...jobs(3, { ...extremes, acts: 0, halfTrue: true }),
    ...jobs(4, { ...extremes, acts: 0 }),
  ];
}

/** The same with one adversity, for every change of the code: it takes about a minute. */
export function boundedForm(): Job[] {
  const once = { abilities: EXTREMES, adversities: 1, acts: 0, halfTrue: false };
  return [
    ...jobs(1, { ...once, abilities: ALL_ABILITIES, halfTrue: true }, { ...once, acts: 1 }),
    ...jobs(2, { ...once, halfTrue: true }),
    ...jobs(3, once),
  ];
}

function jobs(length: number, ...depths: Depth[]): Job[] {
  return plansOf(length).map((names) => ({ names, scenarios: depths.flatMap((depth) => scenariosOf(names, depth)) }));
}

function scenariosOf(names: StepName[], { abilities, adversities, acts, halfTrue }: Depth): Scenario[] {
  const begins = halfTrue ? beginningsOf(planOf(names)) : [null];
  const invites = names.includes("invite");
  return abilities.flatMap((able) =>
    begins.flatMap((begin): Scenario[] => {
      const scenario = { names, abilities: able, begins: begin, absent: false, adversities, acts };
      if (!invites) return [scenario];
      return [scenario, { ...scenario, absent: true }, { ...scenario, patient: true }];
    }),
  );
}
