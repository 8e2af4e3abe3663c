import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { columns } from "../../src/cli/views/table.ts";
import { cells } from "../../src/model/text.ts";

const HOSTILE = JSON.parse(readFileSync(new URL("../../fixtures/hostile-strings.json", import.meta.url), "utf8")) as {
  name: string;
  text: string;
}[];

describe("a table", () => {
  test("has columns as wide as given, and as their longest cell and two more", () => {
    const rows = [
      ["1", "short", "x"],
      ["2", "a name that is much longer than its column", "y"],
    ];
    expect(columns(["NO", "NAME", "END"], rows, [6, 10]).split("\n")).toEqual([
      "NO    NAME                                        END",
      "1     short                                       x",
      "2     a name that is much longer than its column  y",
    ]);
  });

  test("cuts no name, however long", () => {
    const name = "n".repeat(400);
    expect(columns(["A", "B"], [[name, "z"]], [2])).toContain(`${name}  z`);
  });

  test("has no space at the end of a line, and no colour", () => {
    const text = columns(["A", "B"], [["x", ""]], [10, 10]);
    expect(text).not.toMatch(/ $/m);
    expect(text).not.toContain("\u001b");
    expect(text).toBe("A         B\nx");
  });

  test("lines up what is wide on a terminal", () => {
    const [, wide, narrow] = columns(
      ["A", "B"],
      [
        ["漢字", "x"],
        ["ab", "y"],
      ],
      [2],
    ).split("\n") as [string, string, string];
    expect(cells(wide.slice(0, wide.indexOf("x")))).toBe(narrow.indexOf("y"));
  });

  test.each(HOSTILE)("keeps one line a row, each character visible: $name", ({ text }) => {
    const lines = columns(["A", "B"], [[text, "end"]], [2]).split("\n");
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatch(/ {2}end$/);
    expect(lines[1]).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
  });
});
