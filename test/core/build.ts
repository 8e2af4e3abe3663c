import type { Plan, Step, StepKind, WriteStep } from "../../src/model/plan.ts";
import type { InvitationStatus, InvitationView, Observed, Reading } from "../../src/model/reading.ts";
import type { Reply } from "../../src/model/reply.ts";

export const NOW = "2026-07-24T10:00:00.000Z";
export const START = Date.parse(NOW);
export const HASH = `sha256:${"a".repeat(64)}`;
export const EMAIL = "priya@example.test";
export const ACCOUNT = "usr_1938";
export const ACCEPT_BY = "2026-07-31T10:00:00.000Z";

export const DAY = 86_400_000;
export const HOUR = 3_600_000;

/** The steps of one kind, also where the type is shared by several. */
type Of<K extends StepKind, S = Step> = S extends { kind: StepKind }
  ? K extends S["kind"]
    ? S & { kind: K }
    : never
  : never;

const base = {
  step: 0,
  gate: "plan" as const,
  direction: "raise" as const,
  reversibility: "reversible" as const,
  effects: [],
  credential: "ordinary" as const,
};
const reduces = { ...base, direction: "reduce" as const };
const final = { ...reduces, reversibility: "irreversible" as const, undo: null };

const ENGINEERING = { name: "engineering", id: "grp_77" };
const PRO = { name: "pro", id: "lic_1" };

/** One step of each kind, as the planner makes it: what it changes is in the state that it expects. */
export const STEP: { readonly [K in StepKind]: Of<K> } = {
  invite: {
    ...base,
    kind: "invite",
    send_email: false,
    role: "guest",
    accept_by: ACCEPT_BY,
    expects: { account: "absent" },
    reversibility: "compensable",
    undo: { kind: "cancel_invitation", while: "pending" },
  },
  create_account: {
    ...base,
    kind: "create_account",
    expects: { account: "absent" },
    undo: { kind: "suspend_account" },
  },
  wait_for_acceptance: {
    step: 0,
    kind: "wait_for_acceptance",
    on_deadline: "stop",
    gate: "none",
    reversibility: "read_only",
  },
  set_role: {
    ...base,
    kind: "set_role",
    role: "member",
    expects: { role: "guest" },
    undo: { kind: "set_role", role: "guest" },
  },
  add_group: {
    ...base,
    kind: "add_group",
    group: ENGINEERING,
    expects: { member: false },
    undo: { kind: "remove_group" },
  },
  remove_group: {
    ...reduces,
    kind: "remove_group",
    group: ENGINEERING,
    expects: { member: true },
    undo: { kind: "add_group" },
  },
  assign_license: {
    ...base,
    kind: "assign_license",
    license: PRO,
    expects: { assigned: false },
    undo: { kind: "remove_license" },
  },
  remove_license: {
    ...reduces,
    kind: "remove_license",
    license: PRO,
    expects: { assigned: true },
    undo: { kind: "assign_license" },
  },
  cancel_invitation: { ...final, kind: "cancel_invitation", expects: { invitation: "pending" } },
  revoke_sessions: { ...final, kind: "revoke_sessions" },
  revoke_credentials: { ...final, kind: "revoke_credentials" },
  suspend_account: {
    ...reduces,
    kind: "suspend_account",
    expects: { account: "active" },
    undo: { kind: "restore_account" },
  },
  restore_account: {
    ...base,
    kind: "restore_account",
    expects: { account: "suspended" },
    undo: { kind: "suspend_account" },
  },
  remove_member: { ...final, kind: "remove_member", gate: "call", expects: { account: "active" } },
  delete_account: {
    ...final,
    kind: "delete_account",
    direction: "neutral",
    gate: "call",
    expects: { account: "active" },
  },
};

/** The step of this kind with other values. */
export function stepOf<K extends StepKind>(kind: K, changes: object = {}): Of<K> {
  return { ...STEP[kind], ...changes };
}

export const invite = (changes: object = {}) => stepOf("invite", changes);
export const wait = (changes: object = {}) => stepOf("wait_for_acceptance", changes);
export const role = (to = "member", from = "guest", changes: object = {}) =>
  stepOf("set_role", { role: to, expects: { role: from }, undo: { kind: "set_role", role: from }, ...changes });
export const group = (name = "engineering", id = "grp_77", changes: object = {}) =>
  stepOf("add_group", { group: { name, id }, ...changes });
/** A group that is decided when the operation stands before it. */
export const sensitive = (changes: object = {}) =>
  group("on-call-readers", "grp_81", { gate: "call", credential: "privileged", ...changes });

/** A frozen plan of these steps, numbered in their order; the subject has an account unless the plan makes one. */
export function planOf(steps: readonly Step[], changes: Partial<Plan> = {}): Plan {
  const joins = steps.some(({ kind }) => ["invite", "create_account", "cancel_invitation"].includes(kind));
  return {
    schema: "provision.plan/v1",
    operation_id: "prov_2026_07_24_k3v9q2mz",
    salt: "AAAAAAAAAAAAAAAAAAAAAA",
    created_at: NOW,
    tenant: "acme-production",
    provider: "entra",
    kind: "joiner",
    requester: { id: "os:kim", via: "cli", verified: true, claimed: null },
    subject: joins ? { email: EMAIL } : { email: EMAIL, id: ACCOUNT },
    ticket: "HR-1042",
    reason: "Starts in the platform team",
    intent_hash: `sha256:${"1".repeat(64)}`,
    steps: steps.map((step, at) => ({ ...step, step: at + 1 })),
    preconditions: { allowed_email_domain: "example.test" },
    observations: [],
    catalog_hash: `sha256:${"2".repeat(64)}`,
    policy_hash: `sha256:${"3".repeat(64)}`,
    ...changes,
  };
}

/** The plan of the story: invited, accepted, a role, a group, and a group that needs more. */
export const joiner = (changes: Partial<Plan> = {}) =>
  planOf([invite(), wait(), role(), group(), sensitive()], changes);

export type Read = Reading<Observed>;

export const absent: Read = { kind: "absent", proof: "exact" };
export const unreadable: Read = { kind: "unreadable", reason: "timeout", detail: "no answer within 500 ms" };

/** A reading that shows this, at this version where one is given. */
export function found(value: Observed, version?: string): Read {
  return { kind: "found", value, ...(version !== undefined && { version }) };
}
export const roleIs = (name: string, version?: string) => found({ of: "role", role: name }, version);
export const member = (version?: string) => found({ of: "membership", member: true }, version);
export const assigned = (version?: string) => found({ of: "license", assigned: true }, version);
export const account = (status: "active" | "suspended" | "deleted") => found({ of: "account", id: ACCOUNT, status });

/** The invitation of the subject in this state; accepted by the subject where it is accepted. */
export function invited(status: InvitationStatus, changes: Partial<InvitationView> = {}): Read {
  const accepted = status === "accepted";
  return found({
    of: "invitation",
    invitation: {
      id: "inv_1",
      status,
      role: "guest",
      accepted_by: accepted ? { id: ACCOUNT, email: EMAIL } : null,
      mailed: false,
    },
    account: accepted ? { id: ACCOUNT, email: EMAIL, status: "active" } : null,
    ...changes,
  });
}
export const notInvited = invited("pending", { invitation: null });

/** What a read shows before the step and after it. */
export function around(step: WriteStep): { expected: Read; wanted: Read } {
  switch (step.kind) {
    case "invite":
      return { expected: notInvited, wanted: invited("pending") };
    case "cancel_invitation":
      return { expected: invited("pending"), wanted: invited("cancelled") };
    case "set_role":
      return { expected: roleIs(step.expects.role), wanted: roleIs(step.role) };
    case "add_group":
      return { expected: absent, wanted: member() };
    case "remove_group":
      return { expected: member(), wanted: absent };
    case "assign_license":
      return { expected: absent, wanted: assigned() };
    case "remove_license":
      return { expected: assigned(), wanted: absent };
    case "revoke_sessions":
      return { expected: found({ of: "sessions", count: 2 }), wanted: absent };
    case "revoke_credentials":
      return { expected: found({ of: "credentials", count: 2 }), wanted: absent };
    case "create_account":
      return { expected: absent, wanted: account("active") };
    case "suspend_account":
      return { expected: account("active"), wanted: account("suspended") };
    case "restore_account":
      return { expected: account("suspended"), wanted: account("active") };
    case "remove_member":
    case "delete_account":
      return { expected: account("active"), wanted: absent };
    default:
      step satisfies never;
      throw new Error("a step of unknown kind");
  }
}

export const ok: Reply = { kind: "accepted", status: 200 };
export const lost: Reply = { kind: "lost", detail: "the connection was reset" };
export const forbidden: Reply = { kind: "denied", status: 403, code: "forbidden", detail: "the token may not do this" };
export const expired401: Reply = { kind: "denied", status: 401, code: "unauthenticated", detail: "the token expired" };
