import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { conformance } from "../../providers/sandbox/conformance.ts";
import { sourceHash } from "../../src/model/proof.ts";
import { sourcesIn } from "../../src/runtime/sources.ts";
import { textOf } from "./file.ts";
import { describeKept } from "./kept.ts";
import { sandbox } from "./sandbox.double.ts";

describeKept("each step", sandbox, conformance, (row) => !row.endsWith(" undo"));

describe("what is kept of the matrix", () => {
  const folder = new URL("../../providers/sandbox/", import.meta.url);

  test("was found on the sources as they are now (else: npm run conformance)", () => {
    expect(conformance.source).toBe(sourceHash(sourcesIn(folder) ?? []));
  });

  test("is green, or not possible by a fact of the service", () => {
    const verdicts = Object.values(conformance.cells).flatMap((cell) => Object.values({ ...flat(cell) }));
    expect(verdicts.filter((verdict) => verdict !== "green" && !verdict.startsWith("n/a: "))).toEqual([]);
  });

  test("is the file that would be written again, to the letter", () => {
    expect(readFileSync(new URL("conformance.ts", folder), "utf8")).toBe(textOf(conformance));
  });
});

function flat(cell: (typeof conformance.cells)[string]): Readonly<Record<string, string>> {
  return typeof cell === "string" ? { others: cell } : cell;
}
