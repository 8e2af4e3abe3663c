import { fileURLToPath, pathToFileURL } from "node:url";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { refuseStaleBuild } from "../e2e/built.ts";
import { boundedForm } from "./forms.ts";
import { hunt } from "./hunt.ts";
import type { Invariant } from "./invariants.ts";
import { PLANTED } from "./planted.ts";
import { pooled, seedTasks } from "./pool.ts";
import { breaches } from "./report.ts";
import type { Outcome, Task } from "./task.ts";

// It is the built machine that is played, on as many threads as there are.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const worker = pathToFileURL(`${ROOT}dist/test/simulation/worker.js`);

beforeAll(refuseStaleBuild);

const atStake = ({ stakes }: Outcome) => (Object.keys(stakes) as Invariant[]).filter((name) => stakes[name] > 0);

describe("the machine, in every world that the bounded form has", () => {
  let outcome: Outcome;
  beforeAll(async () => {
    const jobs = boundedForm().map((job): Task => ({ kind: "job", job }));
    outcome = await pooled(jobs, { worker });
  });

  test("keeps each promise", () => {
    expect(breaches(outcome)).toEqual([]);
  });

  test("was asked for each of them, and in many ways", () => {
    expect(atStake(outcome)).toEqual(Object.keys(outcome.stakes));
    expect(outcome.distinct).toBeGreaterThan(60_000);
  });
});

test("the machine keeps each promise in long plans, one after another, in hostile worlds", async () => {
  const outcome = await pooled(seedTasks(1, 6000), { worker });
  expect(breaches(outcome)).toEqual([]);
  expect(atStake(outcome)).toEqual(Object.keys(outcome.stakes));
});

test("each mistake that is planted in the machine is named by what it breaks", async () => {
  const caught = await hunt(ROOT);
  expect(caught.map(({ planted }) => planted)).toEqual(PLANTED);
  expect(caught.filter(({ by }) => by === null || by === "crash").map(({ planted }) => planted.name)).toEqual([]);
});
