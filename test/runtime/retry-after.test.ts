import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { httpDate, retryAfter } from "../../src/runtime/retry-after.ts";

const NOW = "2026-08-26T10:00:00.000Z";
const DATE = "Wed, 26 Aug 2026 10:00:00 GMT";
const IN_TWO_MINUTES = "2026-08-26T10:02:00.000Z";
const until = (headers: Record<string, string>) => retryAfter(headers, NOW);

describe("Retry-After", () => {
  test.each([
    ["120", IN_TWO_MINUTES],
    [" 120 ", IN_TWO_MINUTES],
    ["0", NOW],
    ["0.249", "2026-08-26T10:00:01.000Z"],
    ["119.0001", IN_TWO_MINUTES],
    ["86400", "2026-08-27T10:00:00.000Z"],
    ["Wed, 26 Aug 2026 10:02:00 GMT", IN_TWO_MINUTES],
    ["Wednesday, 26-Aug-26 10:02:00 GMT", IN_TWO_MINUTES],
    ["Wed Aug 26 10:02:00 2026", IN_TWO_MINUTES],
  ])("%j says when", (value, at) => {
    expect(until({ "retry-after": value, date: DATE })).toBe(at);
    expect(until({ "x-retry-after": value, date: DATE })).toBe(at);
  });

  test.each([
    "",
    "-5",
    "+5",
    "1e3",
    "soon",
    "120, 120",
    "999999999999",
    "Infinity",
    "NaN",
    "Wed, 26 Aug 2026 09:59:59 GMT",
    "Wed, 26 Aug 2126 10:02:00 GMT",
    "Wed, 32 Aug 2026 10:02:00 GMT",
    "Wed, 26 Aug 2026 25:02:00 GMT",
    "Wed, 26 Aug 2026 10:02:00 CET",
    "2026-08-26T10:02:00Z",
  ])("%j says nothing", (value) => {
    expect(until({ "retry-after": value, date: DATE })).toBeNull();
  });

  test("a date counts from the answer's own Date, whatever our clock says", () => {
    const theirs = { date: "Wed, 26 Aug 2026 10:01:30 GMT", "retry-after": "Wed, 26 Aug 2026 10:02:00 GMT" };
    expect(until(theirs)).toBe("2026-08-26T10:00:30.000Z");
    expect(until({ "retry-after": "Wed, 26 Aug 2026 10:02:00 GMT" })).toBe(IN_TWO_MINUTES);
    expect(until({ ...theirs, date: "rubbish" })).toBe(IN_TWO_MINUTES);
  });

  test("rubbish gives way to the next header that makes sense", () => {
    expect(until({ "retry-after": "soon", "x-retry-after": "120" })).toBe(IN_TWO_MINUTES);
    expect(until({ "retry-after": "60", "x-retry-after": "120" })).toBe("2026-08-26T10:01:00.000Z");
  });

  test("any text gives an instant not before now, or nothing", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme-ascii" }), (value) => {
        const at = until({ "retry-after": value, "x-ratelimit-reset": value });
        return at === null || (at >= NOW && at === new Date(at).toISOString());
      }),
    );
  });
});

describe("the reset of a rate limit", () => {
  const reset = String(Date.parse(IN_TWO_MINUTES) / 1000);

  test.each(["x-ratelimit", "x-rate-limit"])("%s-reset counts once nothing remains", (name) => {
    expect(until({ [`${name}-reset`]: reset, [`${name}-remaining`]: "0", date: DATE })).toBe(IN_TWO_MINUTES);
    expect(until({ [`${name}-reset`]: reset, date: DATE })).toBe(IN_TWO_MINUTES);
    expect(until({ [`${name}-reset`]: `${reset}000`, date: DATE })).toBe(IN_TWO_MINUTES);
  });

  test("says nothing while calls remain, and counts from the answer's own Date", () => {
    expect(until({ "x-ratelimit-reset": reset, "x-ratelimit-remaining": "4999" })).toBeNull();
    const early = { "x-ratelimit-reset": reset, date: "Wed, 26 Aug 2026 10:01:30 GMT" };
    expect(until(early)).toBe("2026-08-26T10:00:30.000Z");
    expect(until({ "x-ratelimit-reset": "60" })).toBeNull();
  });

  test("stands behind Retry-After", () => {
    expect(until({ "x-ratelimit-reset": reset, "retry-after": "1" })).toBe("2026-08-26T10:00:01.000Z");
  });
});

test("the three forms of an HTTP date name the same moment", () => {
  const forms = ["Sun, 06 Nov 2094 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 2094"];
  expect(new Set(forms.map(httpDate))).toEqual(new Set([Date.UTC(2094, 10, 6, 8, 49, 37)]));
});
