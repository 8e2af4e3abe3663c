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
 * Every history of all plans of one and two steps with two adversities, of three and four with one; of one step in
 * every combination of abilities. A person's unusual act is counted beside them.
 */
export function completeForm(): Job[] {
  const one = { abilities: ALL_ABILITIES, halfTrue: false };
  return [
    ...jobs(1, { ...one, adversities: 1, acts: 2, halfTrue: true }, { ...one, adversities: 2, acts: 1 }),
    ...jobs(
      2,
      { abilities: ALL_ABILITIES, adversities: 1, acts: 1, halfTrue: true },
      { abilities: EXTREMES, adversities: 2, acts: 0, halfTrue: true },
    ),
    ...jobs(3, { abilities: EXTREMES, adversities: 1, acts: 1, halfTrue: true }),
    ...jobs(4, { abilities: EXTREMES, adversities: 1, acts: 1, halfTrue: false }),
  ];
}

/** The same with one adversity, the shortest plans first: as much of it as there is time for. */
export function boundedForm(): Job[] {
  const once = { abilities: EXTREMES, adversities: 1 };
  return [
    ...jobs(1, { ...once, abilities: ALL_ABILITIES, acts: 0, halfTrue: true }, { ...once, acts: 1, halfTrue: false }),
    ...jobs(2, { ...once, acts: 0, halfTrue: true }),
    ...jobs(3, { ...once, acts: 0, halfTrue: false }),
    ...jobs(4, { ...once, acts: 0, halfTrue: false }),
    ...jobs(2, { ...once, acts: 1, halfTrue: false }),
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
