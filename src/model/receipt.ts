import type { Undo } from "./plan.ts";
import type { Instant, Observed, Reading, Version } from "./reading.ts";

export type Result =
  | "pending"
  | "accepted"
  | "adopted"
  | "already_member"
  | "declined"
  | "expired"
  | "cancelled"
  | "created"
  | "already_exists"
  | "waiting"
  | "observed"
  | "changed"
  | "unchanged"
  | "added"
  | "already_present"
  | "removed"
  | "already_absent"
  | "assigned"
  | "already_assigned"
  | "already_accepted"
  | "revoked"
  | "suspended"
  | "already_suspended"
  | "restored"
  | "already_active"
  | "deleted"
  | "denied"
  | "rejected"
  | "conflict"
  | "unknown"
  | "no_effect";

/** How it is known that a change is ours. `presumed`: absent before, present after a lost reply, nobody names us. */
export type Attribution = "proven" | "presumed";

/** The proven result of a step. `attribution` is null where nothing was changed by us. */
export interface Receipt {
  result: Result;
  /** Whether this operation made the change; only then is there anything to take back. */
  ours: boolean;
  attribution: Attribution | null;
  before: Reading<Observed> | null;
  after: Reading<Observed> | null;
  remote_version_after: Version | null;
  /** The bounded way back, with the value to restore filled in. */
  compensation: Undo | null;
  /** Why, where it is not plain: the provider's code, what was expected, what is missing. */
  code: string | null;
  detail: string | null;
  status: number | null;
  provider_request_id: string | null;
}

export type UndoResult =
  | "undone"
  | "already gone"
  | "diverged"
  | "left"
  | "denied"
  | "rejected"
  | "unknown"
  | "no_effect";

export interface UndoReceipt {
  result: UndoResult;
  before: Reading<Observed> | null;
  after: Reading<Observed> | null;
  code: string | null;
  detail: string | null;
  status: number | null;
  provider_request_id: string | null;
  at?: Instant;
}
