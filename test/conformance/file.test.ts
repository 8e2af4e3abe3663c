import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { conformance } from "../../providers/sandbox/conformance.ts";
import { type ProofRow, sourceHash, type Verdict } from "../../src/model/proof.ts";
import { sourcesIn } from "../../src/runtime/sources.ts";
import { FAULTS } from "./faults.ts";
import { conformanceOf, linesOf, textOf } from "./file.ts";

const folder = new URL("../../providers/sandbox/", import.meta.url);

describe("what is kept of the sandbox's matrix", () => {
  test("was found on the sources as they are now (else: npm run conformance)", () => {
    expect(conformance.source).toBe(sourceHash(sourcesIn(folder) ?? []));
  });

  test("has every fault that there is now", () => {
    expect(Object.keys(conformance.cells)).toEqual(FAULTS.map(({ name }) => name));
  });

  test("is green, or not possible by a fact of the service", () => {
    const lines = linesOf(conformance, conformance.rows);
    expect(lines.filter((line) => !line.endsWith(" · green") && !line.includes(" · n/a: "))).toEqual([]);
  });

  test("is the file that would be written again, to the letter", () => {
    expect(readFileSync(new URL("conformance.ts", folder), "utf8")).toBe(textOf(conformance));
  });
});

test("a row that was not played is red, and rows that all failed stand there one by one", () => {
  const rows = ["invite", "set_role"] as const;
  const kept = conformanceOf("sandbox", "sha256:1", {
    rows,
    cells: new Map<string, Map<ProofRow, Verdict>>([
      ["calm", new Map([["invite", "green"]])],
      ["lost", new Map(rows.map((row) => [row, "red: says done"]))],
    ]),
  });
  expect(linesOf(kept, rows)).toEqual([
    "calm · invite · green",
    "calm · set_role · red: it was not played",
    "lost · invite · red: says done",
    "lost · set_role · red: says done",
  ]);
});
