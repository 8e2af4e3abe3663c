import { instant } from "../../src/core/move.ts";
import { type Limits, limitsFor } from "../../src/core/pace.ts";
import type { Reply } from "../../src/model/reply.ts";

/** Short, so that few polls lie between one thing and the next; how many there are changes nothing. */
export const TIMING = { requestMs: 40, settleMs: 20 };

/** Fewer tries than a run has, for the same reason. */
export const LIMITS: Limits = { ...limitsFor(TIMING), attempts: 3, reads: 2 };

/** What may become of one write, by rows of the reply table. The first is the ordinary course. */
export const WRITES = [
  "answered",
  "lost before it arrived",
  "lost after it was done",
  "lost and done late",
  "not sent",
  "throttled",
  "throttled for long",
  "202 and done soon",
  "202 and done late",
  "202 and never done",
  "200 and never done",
  "403",
  "403 though done",
  "401",
  "409",
  "409 though done",
  "422",
  "422 though done",
  "404",
  "done, then the process dies",
  "the process dies, then it is done",
] as const;
export type WriteFault = (typeof WRITES)[number];

export const READS = ["answered", "unreadable", "stale", "refused by a guard"] as const;
export type ReadFault = (typeof READS)[number];

export interface Wire {
  /** The request reaches the tenant now. */
  deliver(): Reply;
  later(ms: number): void;
  die(): never;
  now: number;
  limits: Limits;
}

const LOST: Reply = { kind: "lost", detail: "cut off" };
const NOT_SENT: Reply = { kind: "not_sent", detail: "connection refused" };

/** One wire attempt under one fault. */
export function wire(fault: WriteFault, { deliver, later, die, now, limits }: Wire): Reply {
  switch (fault) {
    case "answered":
      return deliver();
    case "lost before it arrived":
      return LOST;
    case "lost after it was done":
      deliver();
      return LOST;
    case "lost and done late":
      later(limits.requestMs - 1);
      return LOST;
    case "not sent":
      return NOT_SENT;
    case "throttled":
      return { kind: "throttled", status: 429, retryAt: instant(now + 1000), detail: "slow down" };
    case "throttled for long":
      return { kind: "throttled", status: 423, retryAt: instant(now + 10 * limits.retryAfterMs), detail: "locked" };
    case "202 and done soon":
      later(limits.settleMs);
      return { kind: "accepted", status: 202, asynchronous: true };
    case "202 and done late":
      later(limits.asyncMs - limits.settleMs - 1);
      return { kind: "accepted", status: 202, asynchronous: true };
    case "202 and never done":
      return { kind: "accepted", status: 202, asynchronous: true };
    case "200 and never done":
      return { kind: "accepted", status: 200 };
    case "403":
      return refusal("denied", 403, "forbidden");
    case "403 though done":
      deliver();
      return refusal("denied", 403, "forbidden");
    case "401":
      return refusal("denied", 401, "unauthenticated");
    case "409":
      return refusal("conflict", 409, "conflict");
    case "409 though done":
      deliver();
      return refusal("conflict", 409, "conflict");
    case "422":
      return refusal("rejected", 422, "invalid");
    case "422 though done":
      deliver();
      return refusal("rejected", 422, "invalid");
    case "404":
      return refusal("gone", 404, "not_found");
    case "done, then the process dies":
      deliver();
      return die();
    case "the process dies, then it is done":
      later(limits.requestMs - 1);
      return die();
    default:
      fault satisfies never;
      return LOST;
  }
}

function refusal(kind: "denied" | "rejected" | "conflict" | "gone", status: number, code: string): Reply {
  return { kind, status, code, detail: code };
}
