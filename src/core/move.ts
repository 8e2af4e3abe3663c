import type { Payload, Phase, Purpose } from "../model/entry.ts";
import type { Instant, Observed, Reading } from "../model/reading.ts";
import type { Authority, Refusal } from "./approval.ts";
import { backoff, type Limits, pollDelay } from "./pace.ts";
import type { Seen, Work } from "./state.ts";

/** What the executor does next. Only `record` writes to the journal by itself; the loop appends what the others bring. */
export type Move =
  | { kind: "record"; entries: Payload[] }
  | { kind: "observe"; step: number; phase: Phase; purpose: Purpose }
  | { kind: "send"; step: number; phase: Phase; refresh: boolean }
  | { kind: "wait"; until: number; why: "settle" | "backoff" | "acceptance" }
  | { kind: "halt"; refusal?: Refusal };

/** Everything that `next` may know beside the fold. Times in milliseconds since the epoch. */
export interface Context {
  now: number;
  limits: Limits;
  /** The service remembers idempotency keys. */
  keys: boolean;
  /** The tenant's own record can name our request. */
  authorship: boolean;
  /** The service honours `If-Match`. */
  ifMatch: boolean;
  authority: Authority;
  /** Until when this run waits for acceptances; null: it looks once and halts. */
  patienceUntil: number | null;
}

export const halt: Move = { kind: "halt" };

/** Moments as they were written last: much happens within one millisecond. */
const written = new Map<number, Instant>();

export function instant(ms: number): Instant {
  const known = written.get(ms);
  if (known !== undefined) return known;
  if (written.size > 1000) written.clear();
  const text = new Date(ms).toISOString();
  written.set(ms, text);
  return text;
}

export function pausedEntry(detail: string, until: number | null): Move {
  const entry: Payload = { kind: "op.state", event: "paused", detail, until: until === null ? null : instant(until) };
  return { kind: "record", entries: [entry] };
}

export function versionOf(reading: Reading<Observed>): string | null {
  return reading.kind === "unreadable" ? null : (reading.version ?? null);
}

export function record(...entries: Payload[]): Move {
  return { kind: "record", entries };
}

/** A reading may steer a write only while it is as young as one request may be old. */
export function isFresh(seen: Seen | null, context: Context): seen is Seen {
  return seen !== null && context.now - Date.parse(seen.at) <= context.limits.requestMs;
}

/**
 * A failed read is tried again a few times, no sooner than the service asked; then the run pauses, since nothing is in
 * doubt. With a credential that is dead no further read can be better.
 */
export function readAgain(
  work: Work,
  seen: Seen,
  context: Context,
  step: number,
  phase: Phase,
  purpose: "before" | "verify",
): Move {
  const reason = seen.reading.kind === "unreadable" ? `${seen.reading.reason}: ${seen.reading.detail}` : "";
  const until = rereadAt(work, seen, context);
  if (until === null) return pausedEntry(`the tenant cannot be read (${reason})`, toldBy(seen));
  return context.now < until ? { kind: "wait", until, why: "backoff" } : { kind: "observe", step, phase, purpose };
}

/** When a failed read may be made again; null where this run does not make it again. */
export function rereadAt(work: Work, seen: Seen, { now, limits }: { now: number; limits: Limits }): number | null {
  const { reading } = seen;
  if (reading.kind !== "unreadable" || reading.reason === "unauthenticated") return null;
  const n = work.unreadable;
  const told = toldBy(seen);
  const pause = reading.reason === "throttled" ? backoff(Math.max(1, n), limits) : pollDelay(n, limits.requestMs);
  const at = told ?? Date.parse(seen.at) + pause;
  const begun = work.startedAt === null ? now : Date.parse(work.startedAt);
  const tooLong = told !== null && (told - now > limits.retryAfterMs || told - begun > limits.elapsedMs);
  return n >= limits.reads || tooLong ? null : at;
}

/** The time that the service named with a failed read; null where it named none. */
export function toldBy({ reading }: Seen): number | null {
  return reading.kind === "unreadable" && reading.until !== undefined ? Date.parse(reading.until) : null;
}
