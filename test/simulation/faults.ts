import { instant } from "../../src/core/move.ts";
import type { Reply } from "../../src/model/reply.ts";

/** The process dies here: what it held in memory is gone. */
export class Crash extends Error {}

export const TIMING = { requestMs: 500, settleMs: 100 };

/** What may go wrong at one point; index 0 is the ordinary course. */
export const SEND_FAULTS = [
  "ok",
  "lost_before",
  "lost_after",
  "late",
  "not_sent",
  "throttled",
  "500_applied",
  "500_not",
  "403",
  "403_applied",
  "401",
  "409",
  "422",
  "404",
  "202_never",
  "200_never",
  "crash_before",
  "crash_after",
  "rival_before",
] as const;
export const READ_FAULTS = ["ok", "stale", "unreadable", "crash_before", "crash_after", "rival"] as const;
export type SendFault = (typeof SEND_FAULTS)[number];

/** What a fault can do on its way. */
export interface Wire {
  /** The request reaches the tenant. */
  deliver(): Reply;
  rival(): void;
  later(ms: number, run: () => void): void;
  now: number;
}

/** One wire attempt under one fault. */
export function wire(fault: SendFault, at: Wire): Reply {
  const { deliver } = at;
  const lost: Reply = { kind: "lost", detail: "cut off" };
  switch (fault) {
    case "ok":
      return deliver();
    case "rival_before":
      at.rival();
      return deliver();
    case "lost_before":
      return lost;
    case "lost_after":
      deliver();
      return lost;
    case "late":
      at.later(TIMING.requestMs - 10, () => deliver());
      return lost;
    case "not_sent":
      return { kind: "not_sent", detail: "refused" };
    case "throttled":
      return { kind: "throttled", status: 429, retryAt: instant(at.now + 1000), detail: "slow down" };
    case "500_applied":
      deliver();
      return { kind: "lost", status: 500, detail: "server error" };
    case "500_not":
      return { kind: "lost", status: 500, detail: "server error" };
    case "403":
      return { kind: "denied", status: 403, code: "forbidden", detail: "no authority" };
    case "403_applied":
      deliver();
      return { kind: "denied", status: 403, code: "forbidden", detail: "no authority" };
    case "401":
      return { kind: "denied", status: 401, code: "unauthenticated", detail: "expired" };
    case "409":
      return { kind: "conflict", status: 409, code: "conflict", detail: "conflict" };
    case "422":
      return { kind: "rejected", status: 422, code: "invalid", detail: "invalid" };
    case "404":
      return { kind: "gone", status: 404, code: "not_found", detail: "not found" };
    case "202_never":
      return { kind: "accepted", status: 202, asynchronous: true };
    case "200_never":
      return { kind: "accepted", status: 200 };
    case "crash_before":
      throw new Crash();
    case "crash_after":
      deliver();
      throw new Crash();
    default:
      fault satisfies never;
      return lost;
  }
}
