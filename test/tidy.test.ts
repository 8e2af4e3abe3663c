import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readHouse } from "./tidy/house.ts";
import { importsOf } from "./tidy/imports.ts";
import { type Plant, RIGHT, WRONG } from "./tidy/plants.ts";
import { RULES } from "./tidy/rules.ts";
import { scan, type Violation } from "./tidy/source.ts";

const house = readHouse(join(import.meta.dirname, ".."));

function show({ path, line, why }: Violation): string {
  return `${path}:${line} ${why}`;
}

/** Where the plant's rule points when the planted files stand in the real house. The tree itself is never touched. */
function judge(plant: Plant): string[] {
  const rule = RULES.find(({ id }) => id === plant.rule)!;
  const planted = new Set(plant.files.map(({ path }) => path));
  const found = rule.check([...house.filter(({ path }) => !planted.has(path)), ...plant.files]);
  return found.filter(({ path }) => path === plant.path).map(({ path, line }) => `${path}:${line}`);
}

describe("the house as it stands", () => {
  for (const rule of RULES) {
    it(rule.name, () => {
      expect(rule.check(house).map(show)).toEqual([]);
    });
  }
});

describe("a breach is seen:", () => {
  for (const plant of WRONG) {
    it(`${plant.says} (${plant.rule})`, () => {
      expect(judge(plant)).toContain(`${plant.path}:${plant.line}`);
    });
  }

  it("there is one for each rule", () => {
    const ids = RULES.map(({ id }) => id);
    expect(ids.filter((id) => !WRONG.some(({ rule }) => rule === id))).toEqual([]);
    expect([...WRONG, ...RIGHT].filter(({ rule }) => !ids.includes(rule))).toEqual([]);
  });
});

describe("what only looks like a breach is left alone:", () => {
  for (const plant of RIGHT) {
    it(`${plant.says} (${plant.rule})`, () => {
      expect(judge(plant)).toEqual([]);
    });
  }
});

describe("the scanner", () => {
  it("keeps every offset and every line", () => {
    for (const { text } of house.filter(({ path }) => path.endsWith(".ts"))) {
      const { code } = scan(text);
      expect(code.length).toBe(text.length);
      expect(code.split("\n").map((line) => line.length)).toEqual(text.split("\n").map((line) => line.length));
    }
  });

  it("tells a regular expression from a division, and leaves quotes in it alone", () => {
    const { code } = scan('const a = b / c; const d = /["\'/]/.test(x) || y.match(/[/"]/g); const e = "f"; // g');
    expect(code).toContain("const a = b / c;");
    expect(code).toContain("const e = ");
    expect(code).not.toMatch(/[fg]"|\/\/ g/);
  });

  it("sees the code inside a template's holes, however deep, and nothing of its text", () => {
    const { code } = scan(
      "const a = `one #{b({ c: `two #{d} import` })} import { x }`; const e = 1;".replaceAll("#", "$"),
    );
    expect(code).toMatch(/b\(\{ c: /);
    expect(code).toContain("d}");
    expect(code).toContain("const e = 1;");
    expect(code).not.toMatch(/one|two|import/);
  });

  it("finds imports in all their forms", () => {
    const text = [
      'import "./bare.ts";',
      'import type { A, B } from "./type.ts";',
      "import {\n  C,\n  type D,\n} from './many-lines.ts';",
      'export * from "package/deep";',
      'const e = await import("./dynamic.ts");',
      'type F = import("./of-type.ts").F;',
    ].join("\n");
    expect(importsOf({ path: "src/core/x.ts", text }).map(({ target, specifier }) => target ?? specifier)).toEqual([
      "src/core/bare.ts",
      "src/core/type.ts",
      "src/core/many-lines.ts",
      "package/deep",
      "src/core/dynamic.ts",
      "src/core/of-type.ts",
    ]);
  });
});
