import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonical, digest, hashOf, type Json, parseCanonical } from "../../src/model/json.ts";

const sparse: unknown[] = [];
sparse[1] = 1;

describe("what has no exact JSON form is refused, wherever it stands", () => {
  test.each<[string, unknown]>([
    ["not a number", Number.NaN],
    ["infinity", Number.POSITIVE_INFINITY],
    ["minus infinity", Number.NEGATIVE_INFINITY],
    ["an integer beyond what a double holds", 2 ** 53],
    ["a huge integer", 1e30],
    ["a big integer", 1n],
    ["nothing", undefined],
    ["a function", () => 1],
    ["a symbol", Symbol("x")],
    ["a Map", new Map([["a", 1]])],
    ["a Set", new Set([1])],
    ["a Date", new Date(0)],
    ["bytes", new Uint8Array(2)],
    [
      "an object of a class",
      new (class {
        a = 1;
      })(),
    ],
    ["an array with a hole", sparse],
    ["a lone high surrogate", "\ud800"],
    ["a lone low surrogate", "a\udc00b"],
  ])("%s", (_, value) => {
    expect(() => canonical(value)).toThrow();
    expect(() => canonical({ a: [value] })).toThrow();
  });

  test("a key with a lone surrogate", () => expect(() => canonical({ "\ud800": 1 })).toThrow());
});

describe("the canonical form", () => {
  test("orders keys by their UTF-16 units, and writes no space", () => {
    expect(canonical({ b: [1, { d: null, c: true }], a: "x", "\ufb33": 1, "😂": 2 })).toBe(
      '{"a":"x","b":[1,{"c":true,"d":null}],"😂":2,"\ufb33":1}',
    );
  });

  test("writes numbers as ECMAScript does, and minus zero as zero", () => {
    expect(canonical([333333333.3333333, 4.5, 2e-3, 1e-27, -0])).toBe("[333333333.3333333,4.5,0.002,1e-27,0]");
  });

  test("escapes only what must be escaped", () => {
    expect(canonical("€$\u000f\nA'B\"\\/")).toBe('"€$\\u000f\\nA\'B\\"\\\\/"');
  });

  test("leaves out what is undefined, as JSON does", () => {
    expect(canonical({ a: undefined, b: 1 })).toBe('{"b":1}');
  });
});

describe("bytes that claim to be canonical", () => {
  test.each([
    ["a key twice", '{"a":1,"a":1}'],
    ["a key twice, in another spelling", '{"a":1,"\\u0061":1}'],
    ["another order", '{"b":1,"a":2}'],
    ["a space", '{"a": 1}'],
    ["a line feed at the end", '{"a":1}\n'],
    ["a number in another form", '{"a":1.0}'],
    ["minus zero", '{"a":-0}'],
    ["an integer that a double cannot hold", '{"a":9007199254740993}'],
    ["a number that overflows", '{"a":1e999}'],
    ["an escape where none is needed", '{"a":"\\u0041"}'],
    ["an escaped slash", '{"a":"\\/"}'],
    ["a lone surrogate", '{"a":"\\ud800"}'],
    ["a byte order mark", '\ufeff{"a":1}'],
    ["nothing", ""],
    ["half of it", '{"a":'],
  ])("are refused with %s", (_, text) => expect(() => parseCanonical(text)).toThrow());

  test("give back what was written", () => {
    const values = fc.jsonValue({ maxDepth: 4, stringUnit: "binary" }).filter(exact);
    fc.assert(
      fc.property(values, (value) => {
        const text = canonical(value);
        expect(canonical(parseCanonical(text))).toBe(text);
        expect(parseCanonical(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: 500 },
    );
  });

  test("keep a key that an object would treat as its prototype", () => {
    const text = '{"__proto__":{"admin":true}}';
    expect(canonical(parseCanonical(text))).toBe(text);
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });
});

/** Whether the value has an exact JSON form. */
function exact(value: unknown): boolean {
  try {
    canonical(value as Json);
    return true;
  } catch {
    return false;
  }
}

test("a digest has its domain before the bytes, ended by a zero byte", () => {
  const expected = createHash("sha256").update(Buffer.from("provision/plan/v1\0{}", "utf8")).digest("hex");
  expect(digest("plan", "{}")).toBe(expected);
  expect(digest("plan", new TextEncoder().encode("{}"))).toBe(expected);
  expect(digest("card", "{}")).not.toBe(expected);
  expect(hashOf("plan", {})).toBe(`sha256:${expected}`);
});

test("a hash is the same for the same value, whatever the order of its keys", () => {
  expect(hashOf("plan", { a: 1, b: [2] })).toBe(hashOf("plan", { b: [2], a: 1 }));
  expect(hashOf("plan", { a: 1, b: [2] })).not.toBe(hashOf("plan", { a: 1, b: [3] }));
});
