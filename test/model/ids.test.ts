import fc from "fast-check";
import { expect, test } from "vitest";
import { base32, ID, OPERATION_ID, operationId, shortId } from "../../src/model/ids.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

test.each([
  ["", ""],
  ["f", "my"],
  ["fo", "mzxq"],
  ["foo", "mzxw6"],
  ["foob", "mzxw6yq"],
  ["fooba", "mzxw6ytb"],
  ["foobar", "mzxw6ytboi"],
])("%j in base32 is %j, as RFC 4648 gives it, without padding", (text, expected) => {
  expect(base32(bytes(text))).toBe(expected);
});

test("base32 keeps apart whatever differs", () => {
  const eight = fc.uint8Array({ minLength: 8, maxLength: 8 });
  fc.assert(fc.property(eight, eight, (a, b) => (base32(a) === base32(b)) === (Buffer.compare(a, b) === 0)));
});

test("an operation id holds the day in UTC and forty random bits", () => {
  const five = [0x00, 0x44, 0x32, 0x14, 0xc7];
  expect(operationId("2026-07-24T00:00:00.000Z", Uint8Array.from(five))).toBe("prov_2026_07_24_01234567");
  expect(operationId("2026-07-24T23:59:59.999Z", Uint8Array.from([...five, 255]))).toBe("prov_2026_07_24_01234567");
  expect("prov_2026_07_24_01234567").toMatch(OPERATION_ID);
});

test("an operation id has no letter that a person reads as a digit", () => {
  const random = fc.uint8Array({ minLength: 5, maxLength: 5 });
  fc.assert(
    fc.property(random, (five) => {
      const id = operationId("2026-07-24T00:00:00.000Z", five);
      expect(id).toMatch(OPERATION_ID);
      expect(shortId(id)).toMatch(/^[0-9a-hjkmnp-tv-z]{8}$/);
    }),
  );
});

test("the part that people type is the last one", () => {
  expect(shortId("prov_2026_07_24_k3v9q2mz")).toBe("k3v9q2mz");
});

test.each(["usr_1938", "grp-77", "a.b:c@d", "A", "x".repeat(128)])("%s may come in as an id", (id) => {
  expect(id).toMatch(ID);
});

test.each(["", " ", "a b", "a/b", "../x", "a\n", "a%2f", "é", "a?b", "a#b", "x".repeat(129), "a\u200b"])(
  "%j may not come in as an id",
  (id) => {
    expect(id).not.toMatch(ID);
  },
);
