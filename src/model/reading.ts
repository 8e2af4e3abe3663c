/** Point in time as ISO 8601 in UTC with milliseconds. */
export type Instant = string;

/** The provider's token for one version of one sub-resource (an ETag, a revision), as it came. */
export type Version = string;

export type UnreadableReason =
  | "unauthenticated"
  | "forbidden"
  | "timeout"
  | "truncated"
  | "throttled"
  | "server_error"
  | "malformed"
  | "filter_ignored";

/**
 * What a read proved. `absent` needs a proof: an exact read that the provider documents as such, or a complete list.
 * Whatever else went wrong is `unreadable` and proves nothing.
 */
export type Reading<T> =
  | { kind: "found"; value: T; version?: Version; derived?: true }
  | { kind: "absent"; proof: "exact" | "complete_scan"; version?: Version }
  | {
      kind: "unreadable";
      reason: UnreadableReason;
      detail: string;
      /** When the service asked to be asked again, by our clock. */
      until?: Instant;
    };

export type InvitationStatus = "pending" | "accepted" | "declined" | "expired" | "cancelled";

/** The newest invitation for the address, and the account that holds the address now, read together. */
export interface InvitationView {
  of: "invitation";
  invitation: null | {
    id: string;
    status: InvitationStatus;
    role: string | null;
    /** Who redeemed it, by the provider's own record; never a guess from the address. */
    accepted_by: null | { id: string; email: string | null };
    /** Whether the provider says that it sent mail; null where it does not say. */
    mailed: boolean | null;
  };
  account: null | { id: string; email: string | null; status: AccountStatus };
}

export type AccountStatus = "active" | "suspended" | "deleted";

/** What a step's target looks like, one shape for each thing that a step can change. */
export type Observed =
  | InvitationView
  | { of: "role"; role: string }
  | { of: "membership"; member: true }
  | { of: "license"; assigned: true }
  | { of: "account"; id: string; status: AccountStatus; restore_until?: Instant }
  /** Absence means that none is left. */
  | { of: "sessions"; count: number }
  | { of: "credentials"; count: number };

/** Whether the tenant's own record names our request as the author of what is there now. */
export type Authorship = "ours" | "theirs";
