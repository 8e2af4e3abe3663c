import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bounded, cells, escapeText, forbiddenCharacters, mixedScript } from "../../src/model/text.ts";

const hostile: { name: string; text: string }[] = JSON.parse(
  readFileSync(new URL("../../fixtures/hostile-strings.json", import.meta.url), "utf8"),
);

/** Written apart from the code under test: code points by number, no property escapes but the general category. */
function harmful(text: string): string[] {
  const fillers = [
    0x034f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x180b, 0x180c, 0x180d, 0x180f, 0x2800, 0x3164, 0xffa0, 0xfffc,
  ];
  return [...text].filter((character) => {
    const code = character.codePointAt(0)!;
    const selector = (code >= 0xfe00 && code <= 0xfe0f) || (code >= 0xe0100 && code <= 0xe01ef);
    const category = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Zs}]/u.test(character) && character !== " ";
    return category || selector || fillers.includes(code) || code === 0x1d159;
  });
}

describe("escaping", () => {
  test("there are at least forty hostile strings, each hostile by the plain list of code points", () => {
    expect(hostile.length).toBeGreaterThanOrEqual(40);
    expect(hostile.filter(({ text }) => harmful(text).length === 0)).toEqual([]);
  });

  test.each(hostile)("$name leaves no control, bidi or invisible character", ({ text }) => {
    const shown = escapeText(text);
    expect(harmful(shown)).toEqual([]);
    expect(shown.match(/<U\+[0-9A-F]{4,6}>/g)?.length).toBe(harmful(text).length);
  });

  test("what was hidden is shown where it stood, by its number", () => {
    expect(escapeText("user\u202Enimda\u{E0061}")).toBe("user<U+202E>nimda<U+E0061>");
    expect(escapeText("Ada\r\u001b[2KBob")).toBe("Ada<U+000D><U+001B>[2KBob");
    expect(escapeText("a\ud800")).toBe("a<U+D800>");
  });

  test("ordinary text in any script stays as it is", () => {
    for (const text of ["Priya 16FE4 4", "日本語 テスト", "Žluťoučký kůň", "e\u0301", "👍", "سلام", "a → b · c…"]) {
      expect(escapeText(text)).toBe(text);
    }
  });

  test("nothing harmful is left of any text, and escaping twice changes nothing", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 50 }), (text) => {
        const shown = escapeText(text);
        expect(harmful(shown)).toEqual([]);
        expect(escapeText(shown)).toBe(shown);
      }),
    );
  });
});

describe("characters that an address or id may not hold", () => {
  test("a plain address holds none", () => {
    expect(forbiddenCharacters("priya+ci.o'neil@example.test")).toEqual([]);
    expect(forbiddenCharacters("josé@bücher.example")).toEqual([]);
  });

  test.each([
    ["a\u202Eb", "U+202E", "RIGHT-TO-LEFT OVERRIDE", 1],
    ["ab\u200Bc", "U+200B", "ZERO WIDTH SPACE", 2],
    ["\u{1F44D}\u001b", "U+001B", "ESCAPE", 2],
    ["a\u0001", "U+0001", "control character", 1],
    ["a\u{E0061}", "U+E0061", "tag character", 1],
    ["a\uFE0F", "U+FE0F", "variation selector", 1],
    ["a\ue000", "U+E000", "private-use character", 1],
    ["a\u0378", "U+0378", "unassigned code point", 1],
    ["a\udc00", "U+DC00", "lone surrogate", 1],
    ["a\u2009", "U+2009", "space other than U+0020", 1],
    ["a\u180e", "U+180E", "format character", 1],
    ["quac\u212a@example.test", "U+212A", "KELVIN SIGN", 4],
    ["\uff41dmin", "U+FF41", "another form of a", 0],
    ["\u{1D41A}dmin", "U+1D41A", "another form of a", 0],
  ])("%j is refused by name", (text, codePoint, name, index) => {
    expect(forbiddenCharacters(text)).toEqual([{ codePoint, name, index }]);
  });

  test("each hostile string is refused", () => {
    expect(hostile.filter(({ text }) => forbiddenCharacters(text).length === 0)).toEqual([]);
  });

  test("all are named, not only the first", () => {
    expect(forbiddenCharacters("\u200ba\u200b").map(({ index }) => index)).toEqual([0, 2]);
  });
});

describe("scripts", () => {
  test.each([
    ["\u0430dmin", ["Cyrillic", "Latin"]],
    ["test\u043e@example.test", ["Cyrillic", "Latin"]],
    ["p\u03bfst", ["Greek", "Latin"]],
    ["\u0585ffice", ["Armenian", "Latin"]],
    ["\u13aadmin", ["Cherokee", "Latin"]],
    ["\u0430\u03b1", ["Cyrillic", "Greek"]],
    ["admin\u05d0", ["Hebrew", "Latin"]],
    ["ひらがな한글", ["Hangul", "Hiragana"]],
    ["a\u{10380}", ["Latin", "Other"]],
  ])("%j is of several scripts", (text, scripts) => {
    expect(mixedScript(text)).toEqual(scripts);
  });

  test.each([
    "admin",
    "администратор",
    "ana-99_@.",
    "",
    "日本語テストひらがな",
    "JR東日本のテスト",
    "한글漢字abc",
    "注音ㄅㄆabc",
    "e\u0301",
    "жизнь-24",
  ])("%j is of one writing system", (text) => {
    expect(mixedScript(text)).toEqual([]);
  });
});

describe("width", () => {
  test("cells are counted as a terminal counts them", () => {
    expect([cells("abc"), cells("日本語"), cells("e\u0301"), cells("👨‍👩‍👧")]).toEqual([3, 6, 1, 2]);
  });

  test("a short text stays whole and a long one ends in an ellipsis", () => {
    expect(bounded("abc", 3)).toBe("abc");
    expect(bounded("abcd", 3)).toBe("ab…");
    expect(bounded("日本語", 5)).toBe("日本…");
    expect(bounded("日本語", 4)).toBe("日…");
    expect(bounded("abc", 0)).toBe("");
    expect(bounded("", 0)).toBe("");
  });

  test("a letter made of several code points is never cut", () => {
    expect(bounded("e\u0301e\u0301e\u0301", 2)).toBe("e\u0301…");
    expect(bounded("👨‍👩‍👧👨‍👩‍👧", 3)).toBe("👨‍👩‍👧…");
  });

  test("a mountain of combining marks is cut off", () => {
    expect(bounded(`ab${"\u0301".repeat(10_000)}`, 10)).toBe("a…");
  });

  test("no text is wider than its bound", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.nat(12), (text, max) => {
        expect(cells(bounded(escapeText(text), max))).toBeLessThanOrEqual(max);
      }),
    );
  });
});
