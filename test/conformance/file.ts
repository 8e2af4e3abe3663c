import type { Conformance, ProofRow, Verdict } from "../../src/model/proof.ts";
import type { Matrix } from "./suite.ts";

/** What a matrix says, ready to be kept. */
export function conformanceOf(provider: string, source: string, matrix: Matrix): Conformance {
  const cells = [...matrix.cells].map(([fault, found]): [string, Cell] => [fault, folded(matrix.rows, found)]);
  return { provider, source, rows: matrix.rows, cells: Object.fromEntries(cells) };
}

type Cell = Conformance["cells"][string];

/** One word where all rows are alike; else the rows that are not as most of them. */
function folded(rows: readonly ProofRow[], found: ReadonlyMap<ProofRow, Verdict>): Cell {
  const apart = rows.filter((row) => found.get(row) !== "green");
  if (apart.length === 0) return "green";
  const named = apart.map((row): [string, Verdict] => [row, found.get(row) ?? "red: it was not played"]);
  return Object.fromEntries(apart.length === rows.length ? named : [...named, ["others", "green"]]);
}

/** The verdicts of these rows, cell by cell, each on a line: what two matrices are compared by. */
export function linesOf(conformance: Conformance, rows: readonly ProofRow[]): string[] {
  return Object.entries(conformance.cells).flatMap(([fault, cell]) =>
    rows.map(
      (row) => `${fault} · ${row} · ${typeof cell === "string" ? cell : (cell[row] ?? cell.others ?? "missing")}`,
    ),
  );
}

/** The file that ships beside the provider, as the formatter would have it. */
export function textOf({ provider, source, rows, cells }: Conformance): string {
  const key = (name: string) => (/^[a-z_]+$/.test(name) ? name : JSON.stringify(name));
  const table = Object.entries(cells).flatMap(([fault, cell]) => {
    if (typeof cell === "string") return [`    ${key(fault)}: ${JSON.stringify(cell)},`];
    const exceptions = Object.entries(cell).map(([row, verdict]) => `      ${key(row)}: ${JSON.stringify(verdict)},`);
    return [`    ${key(fault)}: {`, ...exceptions, "    },"];
  });
  return [
    'import type { Conformance } from "../../src/model/proof.ts";',
    "",
    "/** Written by `npm run conformance`, and true only of the sources that it names: each row under each fault. */",
    "export const conformance: Conformance = {",
    `  provider: ${JSON.stringify(provider)},`,
    `  source: ${JSON.stringify(source)},`,
    "  rows: [",
    ...rows.map((row) => `    ${JSON.stringify(row)},`),
    "  ],",
    "  cells: {",
    ...table,
    "  },",
    "};",
    "",
  ].join("\n");
}
