import { parseDuration } from "../model/duration.ts";
import { invalid } from "../model/errors.ts";

/** `1,3` as ascending step numbers. */
export function stepsOption(value: unknown): number[] | null {
  if (value === undefined) return null;
  const words = String(value).split(",");
  const steps = words.map(Number);
  if (words.some((word) => !/^[1-9][0-9]{0,3}$/.test(word.trim())))
    throw wrong("--steps", value, "step numbers, as in 1,3");
  return [...new Set(steps)].sort((a, b) => a - b);
}

/** `10m` in milliseconds. */
export function durationOption(name: string, value: unknown): number | null {
  if (value === undefined) return null;
  const ms = parseDuration(String(value));
  if (ms === undefined || ms <= 0) throw wrong(name, value, "a duration, as in 90s, 10m, 4h or 7d");
  return ms;
}

export function numberOption(name: string, value: unknown, range: { min: number; max: number }): number | null {
  if (value === undefined) return null;
  const number = Number(value);
  if (!/^[0-9]+$/.test(String(value)) || number < range.min || number > range.max)
    throw wrong(name, value, `a number from ${range.min} to ${range.max}`);
  return number;
}

export function textOption(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function wrong(name: string, found: unknown, allowed: string) {
  return invalid("usage", `${name} takes ${allowed}.`, [
    { path: name, code: "malformed", found: String(found), allowed },
  ]);
}
