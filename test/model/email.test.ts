import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { foldEmail, normaliseDomain, normaliseEmail, shownDomain } from "../../src/model/email.ts";

function codes(text: string): string[] {
  const checked = normaliseEmail(text);
  return checked.ok ? [] : checked.faults.map(({ code }) => code);
}

test("letter case of the domain is taken away, that of the local part is kept", () => {
  expect(normaliseEmail("Priya@EXAMPLE.Test")).toMatchObject({ ok: true, email: "Priya@example.test" });
});

test("a domain in Unicode and the same as A-label are one", () => {
  const [shown, label] = [normaliseEmail("a@bücher.example"), normaliseEmail("a@xn--bcher-kva.example")];
  expect(shown).toMatchObject({ ok: true, email: "a@xn--bcher-kva.example" });
  expect(label).toEqual(shown);
  expect(shownDomain("xn--bcher-kva.example")).toBe("bücher.example");
  expect(shownDomain("example.test")).toBeNull();
});

test("sharp s is a letter of its own and no ss", () => {
  expect(normaliseDomain("straße.example")).toEqual({ ok: true, domain: "xn--strae-oqa.example" });
});

test("a tag after a plus and an apostrophe stay where they are", () => {
  for (const email of ["pat+ci@example.test", "o'brien@example.test"]) {
    expect(normaliseEmail(email)).toMatchObject({ ok: true, email });
  }
});

test.each([
  ["a control character", "a\u0000b@example.test", ["control_character"]],
  ["an escape sequence", "a\u001b[2Kb@example.test", ["control_character"]],
  ["a bidi isolate", "a\u2066b@example.test", ["bidi_character"]],
  ["a word joiner", "a\u2060b@example.test", ["zero_width_character"]],
  ["a Hangul filler", "a\u3164b@example.test", ["zero_width_character"]],
  ["a no-break space", "a\u00a0b@example.test", ["space"]],
  ["a lone surrogate", "a\ud800b@example.test", ["invisible_character"]],
  ["a private-use character", "a\ue000b@example.test", ["invisible_character"]],
  ["a mathematical letter", "\u{1d41a}@example.test", ["look_alike"]],
  ["two kinds of them", "a\u200b\u202e@example.test", ["bidi_character", "zero_width_character"]],
  ["Greek among Latin", "\u03bfliver@example.test", ["mixed_script", "non_ascii_local_part"]],
  ["an accent before the @", "zoë@example.test", ["non_ascii_local_part"]],
  ["a quoted local part", '"a b"@example.test', ["space"]],
  ["an address of nothing", "", ["missing_at"]],
  ["an address literal", "a@[127.0.0.1]", ["malformed_domain"]],
  ["an address of numbers", "a@127.0.0.1", ["malformed_domain"]],
  ["a single label", "a@localhost", ["malformed_domain"]],
  ["a dot at the end", "a@example.test.", ["malformed_domain"]],
  ["an underscore in the domain", "a@ex_ample.test", ["malformed_domain"]],
  ["an A-label that spells nothing", "a@xn--99999999.test", ["malformed_domain"]],
  ["a mixed label hidden in an A-label", "a@xn--xample-2of.test", ["mixed_script"]],
  ["a label that is too long", `a@${"x".repeat(64)}.test`, ["malformed_domain"]],
  ["an address that is too long", `${"a".repeat(60)}@${"x.".repeat(96)}test`, ["too_long"]],
  ["a local part that is too long", `${"a".repeat(65)}@example.test`, ["too_long"]],
  ["a megabyte", "a".repeat(1_000_000), ["too_long"]],
])("refused by name: %s", (_what, text, expected) => {
  expect(codes(text)).toEqual(expected);
});

test("the message names each character by its code point", () => {
  const checked = normaliseEmail("a\u200bb\u202ec@example.test");
  expect(checked.ok ? "" : checked.faults.map(({ message }) => message).join(" ")).toMatch(/U\+202E.*U\+200B/);
});

test("no hostile string of the collection passes, before the @ or after it", () => {
  const hostile = JSON.parse(readFileSync(new URL("../../fixtures/hostile-strings.json", import.meta.url), "utf8")) as {
    name: string;
    text: string;
  }[];
  expect(hostile.length).toBeGreaterThan(20);
  for (const { name, text } of hostile) {
    expect({ name, ok: normaliseEmail(`${text}@example.test`).ok }).toEqual({ name, ok: false });
    expect({ name, ok: normaliseDomain(`${text}.test`).ok }).toEqual({ name, ok: false });
  }
});

test("what was normalised once stays as it is", () => {
  fc.assert(
    fc.property(fc.emailAddress(), (email) => {
      const once = normaliseEmail(email);
      if (once.ok) expect(normaliseEmail(once.email)).toEqual(once);
    }),
  );
});

test("any text at all gets an answer", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => typeof normaliseEmail(text).ok === "boolean"));
});

test("comparison folds ASCII letters and no others", () => {
  expect(foldEmail("ADA@Example.test")).toBe("ada@example.test");
  expect(foldEmail("\u212aim")).toBe("\u212aim");
});
