import { describe, expect, test } from "vitest";
import type { Conformance, ProofRow } from "../../src/model/proof.ts";
import { conformanceOf, linesOf } from "./file.ts";
import { conform, type Double } from "./suite.ts";

/** Longer than the matrix takes on a machine that has other things to do. */
const PATIENCE_MS = 600_000;

/** The rows that these tests play; the others are played beside them, so that two cores share the matrix. */
export function describeKept(
  what: string,
  double: Double,
  kept: Conformance,
  isMine: (row: ProofRow) => boolean,
): void {
  describe(`${what} of ${double.provider.name}, under every fault`, () => {
    test(
      "does what the kept matrix says, cell by cell",
      async () => {
        const matrix = await conform(double, { rows: isMine });
        const found = conformanceOf(double.provider.name, kept.source, matrix);
        expect(matrix.rows).toEqual(kept.rows.filter(isMine));
        expect(linesOf(found, matrix.rows)).toEqual(linesOf(kept, matrix.rows));
      },
      PATIENCE_MS,
    );
  });
}
