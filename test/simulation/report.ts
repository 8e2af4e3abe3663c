import type { Caught } from "./hunt.ts";
import { INVARIANTS, type Invariant } from "./invariants.ts";
import { type Scenario, story } from "./scenario.ts";
import type { Outcome } from "./task.ts";

const count = (n: number) => n.toLocaleString("en");

export function summary(name: string, { histories, distinct, moves }: Outcome, ms: number): string {
  const rate = count(Math.round(histories / (ms / 1000)));
  return `${name}: ${count(histories)} histories, ${count(distinct)} distinct by their moves, ${count(moves)} moves, ${Math.round(ms / 1000)} s (${rate} a second)`;
}

/** Each invariant, and in how many histories it was at stake. */
export function invariantTable({ stakes, found }: Outcome): string {
  const rows = (Object.entries(INVARIANTS) as [Invariant, string][]).map(([name, text]) => {
    const broken = found.some(({ breach }) => breach.invariant === name) ? "BROKEN" : "holds";
    return `${name.padEnd(10)}  ${count(stakes[name]).padStart(12)}  ${broken}  ${text}`;
  });
  return ["INVARIANT   AT STAKE IN", ...rows].join("\n");
}

export function plantedTable(caught: readonly Caught[]): string {
  const rows = caught.map(({ planted, by, histories }) => {
    const word = by === null ? "SURVIVED" : by === "crash" ? "ONLY BY A CRASH" : by;
    return `${word.padEnd(10)}  ${count(histories).padStart(9)}  ${planted.about.padEnd(24)}  ${planted.name}`;
  });
  const named = caught.filter(({ by }) => by !== null && by !== "crash").length;
  return [
    "CAUGHT BY   HISTORIES  BREAKS                    PLANTED",
    ...rows,
    `${named} of ${caught.length} caught`,
  ].join("\n");
}

/** What was broken, each with how it is played again. */
export function breaches({ found }: Outcome): string[] {
  return found.flatMap(({ origin, breach }) => [
    `BROKEN ${breach.invariant}: ${breach.detail}`,
    "seed" in origin
      ? `  npm run test:sim -- --seed ${origin.seed}`
      : `  npm run test:sim -- --replay '${JSON.stringify(origin)}'`,
  ]);
}

export function retelling(origin: { scenario: Scenario; path: number[] }): string[] {
  return story(origin);
}
