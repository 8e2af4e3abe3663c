import Table from "cli-table3";
import { cells, escapeText } from "../../model/text.ts";

/**
 * Left-aligned columns without lines, each as wide as its longest cell and two more, and at least as given; the last
 * one as it comes. Names are never cut.
 */
export function columns(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  least: readonly number[],
): string {
  const all = [head, ...rows].map((row) => row.map(escapeText));
  const widths = head.map((_, at) => Math.max(least[at] ?? 0, ...all.map((row) => cells(row[at] ?? "") + 2)));
  const table = new Table({
    chars: {
      top: "",
      "top-mid": "",
      "top-left": "",
      "top-right": "",
      bottom: "",
      "bottom-mid": "",
      "bottom-left": "",
      "bottom-right": "",
      left: "",
      "left-mid": "",
      mid: "",
      "mid-mid": "",
      right: "",
      "right-mid": "",
      middle: "",
    },
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0, compact: true },
    colWidths: widths,
  });
  table.push(...all);
  return table
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
}
