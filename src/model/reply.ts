import type { Instant, Version } from "./reading.ts";

/** What one write got back, before any conclusion. */
export type Reply =
  | { kind: "accepted"; status: number; remoteId?: string; version?: Version; asynchronous?: true }
  | { kind: "denied" | "rejected" | "conflict" | "gone"; status: number; code: string; detail: string }
  | { kind: "throttled"; status: number; retryAt: Instant | null; detail: string }
  /** Proven: nothing reached the server. `dead`: for want of a credential, which no further attempt can better. */
  | { kind: "not_sent"; detail: string; dead?: true }
  /** It may have happened: cut off, timed out, 5xx, 408, or an answer that makes no sense. `status` where one came,
   *  `retryAt` where the service named a time. */
  | { kind: "lost"; status?: number; detail: string; retryAt?: Instant };

/** Facts of one wire attempt, kept beside the reply and never merged with it. */
export interface Transport {
  status: number | null;
  provider_request_id: string | null;
  started_at: Instant;
  duration_ms: number;
  /** Keyed fingerprint of the request; comparable within one operation, worthless outside. */
  fingerprint: string;
  /** Keyed hash of the answer's body. */
  response: string | null;
}
