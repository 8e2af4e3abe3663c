import { describe, expect, test } from "vitest";
import { durationOption, numberOption, stepsOption, textOption } from "../../src/cli/options.ts";
import { ProvisionError } from "../../src/model/errors.ts";

function refusal(read: () => unknown): unknown[] {
  try {
    read();
  } catch (error) {
    if (error instanceof ProvisionError)
      return [error.code, error.exit, error.details[0]?.path, error.details[0]?.found];
    throw error;
  }
  return ["accepted"];
}

test("what was not given is null", () => {
  expect([stepsOption(undefined), durationOption("--wait", undefined)]).toEqual([null, null]);
  expect([numberOption("--step", undefined, { min: 1, max: 9 }), textOption(undefined)]).toEqual([null, null]);
});

describe("steps", () => {
  test.each([
    ["3", [3]],
    ["1,3", [1, 3]],
    ["3,1,3", [1, 3]],
    ["1, 2", [1, 2]],
    ["10,9", [9, 10]],
  ])("%s are %j", (text, steps) => expect(stepsOption(text)).toEqual(steps));

  test.each(["", "0", "-1", "1,", ",1", "1-3", "all", "1.5", "1e2", "0x1", "99999", "１"])("%j are none", (text) => {
    expect(refusal(() => stepsOption(text))).toEqual(["usage", 2, "--steps", text]);
  });
});

describe("a duration", () => {
  test.each([
    ["500ms", 500],
    ["90s", 90_000],
    ["10m", 600_000],
    ["4h", 14_400_000],
    ["7d", 604_800_000],
  ])("of %s is %i milliseconds", (text, ms) => expect(durationOption("--wait", text)).toBe(ms));

  test.each(["", "10", "0s", "-1s", "1.5h", "10 m", "1w", "forever", "1h30m"])("is not %j", (text) => {
    expect(refusal(() => durationOption("--wait", text))).toEqual(["usage", 2, "--wait", text]);
  });
});

describe("a number", () => {
  const range = { min: 1, max: 65_535 };
  test.each(["1", "65535", "080"])("may be %s", (text) => {
    expect(numberOption("--port", text, range)).toBe(Number(text));
  });
  test.each(["", "0", "65536", "-1", "1.0", "1e3", "0x10", " 1", "NaN"])("may not be %j", (text) => {
    expect(refusal(() => numberOption("--port", text, range))).toEqual(["usage", 2, "--port", text]);
  });
});

test("text is what is text, and nothing that only looks so", () => {
  expect([textOption("a"), textOption(""), textOption(true), textOption(1)]).toEqual(["a", "", null, null]);
});
