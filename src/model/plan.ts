import type { Instant, Observed, Reading } from "./reading.ts";

export const STEP_KINDS = [
  "invite",
  "create_account",
  "wait_for_acceptance",
  "set_role",
  "add_group",
  "remove_group",
  "assign_license",
  "remove_license",
  "cancel_invitation",
  "revoke_sessions",
  "revoke_credentials",
  "suspend_account",
  "restore_account",
  "remove_member",
  "delete_account",
] as const;
export type StepKind = (typeof STEP_KINDS)[number];

/** `none`: never asks and can never send. `plan`: decided once, for the frozen plan. `call`: decided on the reading made then. */
export type Gate = "none" | "plan" | "call";
/** `reduce` only takes authority away and destroys no data. */
export type Direction = "raise" | "reduce" | "neutral";
export type Reversibility = "read_only" | "reversible" | "compensable" | "irreversible";

/** A catalogue name with the provider's immutable id. */
export interface Named {
  name: string;
  id: string;
}

/** What a change does beside its main transition, and no compensation takes back. */
export interface Effect {
  kind: "mail" | "billing" | "sessions" | "audit_event" | "propagation" | "data" | "other_people";
  text: string;
}

/** The way back, as data: an ordinary step kind with its arguments. The receipt fills in the rest. */
export type Undo =
  | { kind: "cancel_invitation"; while: "pending" }
  | { kind: "set_role"; role: string }
  | { kind: "add_group" | "remove_group" }
  | { kind: "assign_license" | "remove_license" }
  | { kind: "suspend_account" | "restore_account" };

/** What the step was planned against: the value read, or what an earlier step will leave. */
export type Expects =
  | { account: "absent" | "active" | "suspended" | "deleted" }
  | { role: string }
  | { member: boolean }
  | { assigned: boolean }
  | { invitation: "pending" };

interface StepBase {
  /** Counts from 1. */
  step: number;
  gate: Gate;
  reversibility: Reversibility;
}

interface WriteBase extends StepBase {
  direction: Direction;
  effects: Effect[];
  undo: Undo | null;
  /** The step whose failure must stop this one; absent: every earlier step. A leaver's reductions are independent. */
  independent?: true;
  /** It asks per call because nothing shows that the provider holds under faults here (`Provider.unproven`). */
  unproven?: true;
  /** Loads the privileged credential where the tenant has one. */
  credential: "ordinary" | "privileged";
}

export type InviteStep = WriteBase & {
  kind: "invite";
  send_email: boolean;
  role: string;
  accept_by: Instant;
  expects: { account: "absent" };
};
export type WaitStep = StepBase & { kind: "wait_for_acceptance"; on_deadline: "stop" | "cancel" };
export type RoleStep = WriteBase & { kind: "set_role"; role: string; expects: { role: string } };
export type GroupStep = WriteBase & { kind: "add_group" | "remove_group"; group: Named; expects: { member: boolean } };
export type LicenseStep = WriteBase & {
  kind: "assign_license" | "remove_license";
  license: Named;
  requires?: string[];
  expects: { assigned: boolean };
};
export type AccountStep = WriteBase & {
  kind: "create_account" | "suspend_account" | "restore_account" | "remove_member" | "delete_account";
  role?: string;
  expects: { account: "absent" | "active" | "suspended" | "deleted" };
};
export type SessionsStep = WriteBase & { kind: "revoke_sessions" | "revoke_credentials" };
export type CancelStep = WriteBase & { kind: "cancel_invitation"; expects: { invitation: "pending" } };

export type WriteStep = InviteStep | RoleStep | GroupStep | LicenseStep | AccountStep | SessionsStep | CancelStep;
export type Step = WriteStep | WaitStep;

/** What is known of the person. Addresses and logins find; only the bound id changes anything. */
export interface SubjectKey {
  email?: string;
  login?: string;
  id?: string;
}

export interface Requester {
  id: string;
  via: "cli" | "ci" | "mcp";
  /** Named by the operating system or a checked token. */
  verified: boolean;
  /** What the caller says of itself, shown as a claim and used for nothing. */
  claimed: string | null;
}

/** One reading that the plan rests on. */
export interface PlanObservation {
  at: Instant;
  about: string;
  reading: Reading<Observed>;
}

export interface Preconditions {
  account_absent?: boolean;
  allowed_email_domain?: string;
}

export interface Plan {
  schema: "provision.plan/v1";
  operation_id: string;
  salt: string;
  created_at: Instant;
  tenant: string;
  provider: string;
  kind: "joiner" | "change" | "leaver";
  requester: Requester;
  subject: SubjectKey;
  ticket: string | null;
  reason: string | null;
  intent_hash: string;
  steps: Step[];
  preconditions: Preconditions;
  observations: PlanObservation[];
  catalog_hash: string;
  policy_hash: string;
}

export function isWrite(step: Step): step is WriteStep {
  return step.kind !== "wait_for_acceptance";
}
