import { describe, expect, test } from "vitest";
import { execute } from "../../src/runtime/execute.ts";
import { Dice, Odometer, Replay } from "./chooser.ts";
import { handsOf, logOf, run, senses } from "./executor.ts";
import { NumberSet } from "./fingerprint.ts";
import { completeForm } from "./forms.ts";
import { approve } from "./people.ts";
import { planOf, worldFor } from "./plans.ts";
import { PLANTED } from "./planted.ts";
import { sample } from "./sampled.ts";
import { noCounts, PLAN_HASH, type Scenario, story } from "./scenario.ts";
import { STEPS, type StepName } from "./steps.ts";
import { DEATH, START, Theatre } from "./theatre.ts";
import { World } from "./world.ts";

describe("the odometer", () => {
  test("gives every combination once, also where later choices hang on earlier ones", () => {
    const odometer = new Odometer();
    const seen: string[] = [];
    do {
      const first = odometer.pick(3);
      seen.push(first === 1 ? `1${odometer.pick(2)}${odometer.pick(2)}` : `${first}`);
    } while (odometer.another());
    expect(seen).toEqual(["0", "100", "101", "110", "111", "2"]);
  });

  test("notices a history that does not fork the second time as it did the first", () => {
    const odometer = new Odometer();
    odometer.pick(2);
    odometer.another();
    expect(() => odometer.pick(3)).toThrow("choice 0 had 2 answers and now has 3");
  });

  test("gives paths that play the same history again", () => {
    const odometer = new Odometer();
    const play = (chooser: { pick(n: number): number }) => [chooser.pick(2), chooser.pick(4), chooser.pick(3)].join("");
    do {
      const played = play(odometer);
      expect(play(new Replay(odometer.path()))).toBe(played);
    } while (odometer.another());
  });
});

test("one seed tells one story, and another seed another", () => {
  const told = (seed: number) => {
    const lines: string[] = [];
    sample(seed, noCounts(), new NumberSet(), (line) => lines.push(line));
    return lines;
  };
  expect(told(7)).toEqual(told(7));
  expect(told(8)).not.toEqual(told(7));
  expect(new Dice(7, 0.5).below(1000)).toBe(new Dice(7, 0.5).below(1000));
});

test("the complete form has every kind of step, and every ability of a service", () => {
  const jobs = completeForm();
  expect(new Set(jobs.flatMap(({ names }) => names))).toEqual(new Set(Object.keys(STEPS)));
  const abilities = jobs.flatMap(({ scenarios }) => scenarios.map(({ abilities: able }) => JSON.stringify(able)));
  expect(new Set(abilities).size).toBe(12);
  const deepest = (length: number) =>
    Math.max(
      ...jobs.flatMap(({ names, scenarios }) => (names.length === length ? scenarios.map((s) => s.adversities) : [])),
    );
  expect([1, 2, 3, 4].map(deepest)).toEqual([2, 2, 1, 1]);
});

test("at least twenty mistakes are planted, two for each promise that the machine keeps and one for each row of the table", () => {
  expect(PLANTED.length).toBeGreaterThanOrEqual(20);
  const about = (text: string) => PLANTED.filter((one) => one.about === text).length;
  for (const promise of [1, 2, 3, 4, 5, 6, 8]) expect(about(`promise ${promise}`)).toBeGreaterThanOrEqual(2);
  for (const row of ["accepted, 202", "lost, 5xx, 408", "not sent", "throttled, 423", "409, 412, 428, 404, 410"])
    expect(about(row)).toBeGreaterThanOrEqual(1);
  for (const row of ["400, 422, 3xx", "401", "403", "cannot read"]) expect(about(row)).toBeGreaterThanOrEqual(1);
});

const ABLE = { keys: true, guard: "if_match", authorship: true } as const;

function theatre(names: StepName[], path: number[], adversities: number): Theatre {
  const plan = planOf(names);
  const world = new World(worldFor(plan), ABLE);
  const chooser = new Replay(path);
  const made = new Theatre({ plan, planHash: PLAN_HASH, world, chooser, adversities, clock: START });
  approve(made);
  return made;
}

test("the loop that is driven without waiting writes what the loop of the product writes", async () => {
  for (const path of [[], [0, 0, 0, 0, 2], [0, 0, 0, 0, 3], [0, 0, 0, 0, 12], [0, 0, 0, 0, 0, 1]])
    for (const names of [
      ["role", "group"],
      ["invite", "wait", "role"],
      ["suspend", "sessions"],
    ] as StepName[][]) {
      const driven = theatre(names, path, 1);
      run(driven);
      const awaited = theatre(names, path, 1);
      const executor = awaited.takeLease();
      const sense = senses(awaited, executor);
      const going = execute(awaited.plan, PLAN_HASH, logOf(awaited, executor), handsOf(awaited, executor), {
        ...sense,
        sleepUntil: async (at) => awaited.tick(Math.max(1, at - awaited.clock)),
      });
      await going.catch((error) => {
        if (error !== DEATH) throw error;
      });
      expect(awaited.entries.map((entry) => ({ ...entry }))).toEqual(driven.entries.map((entry) => ({ ...entry })));
      expect(awaited.entries.length).toBeGreaterThan(4);
    }
});

test("a history is told line by line, from the path that a violation names", () => {
  const scenario: Scenario = {
    names: ["group"],
    abilities: ABLE,
    begins: null,
    absent: false,
    adversities: 1,
    acts: 0,
  };
  const lines = story({ scenario, path: [0, 0, 0, 0, 2] });
  expect(lines.some((line) => line.startsWith("ADVERSITY"))).toBe(true);
  expect(lines.some((line) => line.includes("step.receipt 1"))).toBe(true);
});
