import { hashOf } from "./json.ts";
import type { StepKind } from "./plan.ts";

/** What one step kind did under one fault. `n/a` names the fact of the service for which the fault cannot befall it. */
export type Verdict = "green" | `red: ${string}` | `n/a: ${string}`;

/** A step kind taken forward, or its compensation. */
export type ProofRow = StepKind | `${StepKind} undo`;

/** What the conformance suite found of one provider; written by it, and true only of the sources that it ran on. */
export interface Conformance {
  provider: string;
  /** `sourceHash` of the provider's folder at that time. */
  source: string;
  rows: readonly ProofRow[];
  /** By fault: one verdict for all rows, or each row that differs beside what the `others` showed. */
  cells: Readonly<Record<string, Verdict | Readonly<Record<string, Verdict>>>>;
}

/** One source file; the path is relative to the provider's folder. */
export interface SourceFile {
  path: string;
  text: string;
}

/** Covers the text of every file under its path, in whatever order they come. */
export function sourceHash(files: readonly SourceFile[]): string {
  const pairs = files.map(({ path, text }): [string, string] => [path, text]);
  return hashOf(
    "provider-source",
    pairs.sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/**
 * Of these step kinds, those that nothing shows to hold: never put through the faults, red under one of them, or shown
 * on other sources than those at hand (`source`; undefined: they cannot be told).
 */
export function unprovenKinds(
  kinds: readonly StepKind[],
  conformance: Conformance,
  source: string | undefined,
): StepKind[] {
  const writes = kinds.filter((kind) => kind !== "wait_for_acceptance");
  if (conformance.source !== source) return writes;
  return writes.filter((kind) => {
    const rows = conformance.rows.filter((row) => row === kind || row === `${kind} undo`);
    return !rows.includes(kind) || !rows.every((row) => holds(conformance, row));
  });
}

function holds({ cells }: Conformance, row: ProofRow): boolean {
  const verdicts = Object.values(cells).map((cell) => (typeof cell === "string" ? cell : (cell[row] ?? cell.others)));
  return verdicts.length > 0 && verdicts.every((verdict) => verdict === "green" || verdict?.startsWith("n/a: "));
}
