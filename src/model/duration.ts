import { z } from "zod";

const UNITS: readonly [string, number][] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
  ["ms", 1],
];

/** A duration as people write it, `500ms` `5s` `10m` `4h` `7d`, in milliseconds; undefined where it is none. */
export function parseDuration(text: string): number | undefined {
  const found = /^(0|[1-9][0-9]{0,9})(ms|s|m|h|d)$/.exec(text);
  const unit = UNITS.find(([name]) => name === found?.[2]);
  return found && unit ? Number(found[1]) * unit[1] : undefined;
}

/** The shortest exact form: the largest unit that leaves no rest. */
export function formatDuration(ms: number): string {
  const unit = UNITS.find(([, size]) => ms !== 0 && ms % size === 0);
  return unit ? `${ms / unit[1]}${unit[0]}` : `${ms}${ms === 0 ? "s" : "ms"}`;
}

/** A duration in a file; milliseconds once parsed. */
export const Duration = z.string().transform((text, context) => {
  const ms = parseDuration(text);
  if (ms !== undefined) return ms;
  context.addIssue({ code: "custom", params: { code: "malformed_duration", allowed: "500ms, 5s, 10m, 4h, 7d" } });
  return z.NEVER;
});

/** As `Duration`, and longer than nothing. */
export const PositiveDuration = Duration.refine((ms) => ms > 0, {
  params: { code: "malformed_duration", allowed: "a duration above zero" },
});
