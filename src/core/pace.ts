/** Bounds of one step's work, in milliseconds unless named otherwise. A run that comes later starts with fresh ones. */
export interface Limits {
  /** Time limit of one request. */
  requestMs: number;
  /** How long the provider's reads may lag behind its writes. */
  settleMs: number;
  /** How long an asynchronous change (202) may take before it is in doubt. */
  asyncMs: number;
  /** Wire attempts of one step in one run. */
  attempts: number;
  /** Reads that may fail one after another before the run gives up. */
  reads: number;
  /** Time that one step may take in one run, waiting included. */
  elapsedMs: number;
  /** The longest pause that a run sits out when a service asks for one. */
  retryAfterMs: number;
}

export function limitsFor(timing: { requestMs: number; settleMs: number }): Limits {
  return {
    ...timing,
    asyncMs: Math.max(4 * timing.requestMs, timing.settleMs),
    attempts: 5,
    reads: 5,
    elapsedMs: 120_000,
    retryAfterMs: 60_000,
  };
}

/**
 * How long reads go on after an accepted write whose effect is not seen. Never below a quarter of a second: a service
 * that declares no lag may still have a little, and one negative read proves nothing.
 */
export function settleWindow(limits: Limits, asynchronous: boolean): number {
  return asynchronous ? limits.asyncMs : Math.max(limits.settleMs, 250);
}

/** Pause before the n-th poll (from 1): short at first, doubling, never above `cap`. */
export function pollDelay(n: number, cap: number): number {
  return Math.min(20 * 2 ** (n - 1), Math.max(cap, 20));
}

/** Pause before the n-th resend (from 1) where the service names none. */
export function backoff(n: number, limits: Limits): number {
  return Math.min(limits.requestMs / 5, 1000) * 2 ** (n - 1);
}
