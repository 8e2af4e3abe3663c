import type { Plan, Step, WriteStep } from "../../src/model/plan.ts";
import type { Truth } from "./world.ts";
import { SUBJECT } from "./world.ts";

const write = {
  gate: "plan" as const,
  direction: "raise" as const,
  reversibility: "reversible" as const,
  effects: [],
  credential: "ordinary" as const,
};

export const ACCEPT_BY = "2026-07-31T10:00:00.000Z";

/** A step of each kind, as the planner makes it. */
export const STEPS: Record<string, (step: number) => Step> = {
  invite: (step) => ({
    ...write,
    step,
    kind: "invite",
    send_email: false,
    role: "guest",
    accept_by: ACCEPT_BY,
    expects: { account: "absent" },
    reversibility: "compensable",
    undo: { kind: "cancel_invitation", while: "pending" },
  }),
  wait: (step) => ({
    step,
    kind: "wait_for_acceptance",
    on_deadline: "stop",
    gate: "none",
    reversibility: "read_only",
  }),
  role: (step) => ({
    ...write,
    step,
    kind: "set_role",
    role: "member",
    expects: { role: "guest" },
    undo: { kind: "set_role", role: "guest" },
  }),
  lower: (step) => ({
    ...write,
    step,
    kind: "set_role",
    role: "guest",
    direction: "reduce",
    expects: { role: "member" },
    undo: { kind: "set_role", role: "member" },
  }),
  group: (step) => ({
    ...write,
    step,
    kind: "add_group",
    group: { name: "engineering", id: "g1" },
    expects: { member: false },
    undo: { kind: "remove_group" },
  }),
  sensitive: (step) => ({
    ...write,
    step,
    kind: "add_group",
    group: { name: "on-call", id: "g2" },
    gate: "call",
    expects: { member: false },
    undo: { kind: "remove_group" },
  }),
  ungroup: (step) => ({
    ...write,
    step,
    kind: "remove_group",
    group: { name: "engineering", id: "g1" },
    direction: "reduce",
    expects: { member: true },
    undo: { kind: "add_group" },
  }),
  license: (step) => ({
    ...write,
    step,
    kind: "assign_license",
    license: { name: "pro", id: "l1" },
    requires: ["engineering"],
    expects: { assigned: false },
    undo: { kind: "remove_license" },
  }),
  unlicense: (step) => ({
    ...write,
    step,
    kind: "remove_license",
    license: { name: "pro", id: "l1" },
    direction: "reduce",
    expects: { assigned: true },
    undo: { kind: "assign_license" },
  }),
  suspend: (step) => ({
    ...write,
    step,
    kind: "suspend_account",
    direction: "reduce",
    expects: { account: "active" },
    undo: { kind: "restore_account" },
  }),
  restore: (step) => ({
    ...write,
    step,
    kind: "restore_account",
    expects: { account: "suspended" },
    undo: { kind: "suspend_account" },
  }),
  remove: (step) => ({
    ...write,
    step,
    kind: "remove_member",
    direction: "reduce",
    gate: "call",
    reversibility: "irreversible",
    expects: { account: "active" },
    undo: null,
  }),
  delete: (step) => ({
    ...write,
    step,
    kind: "delete_account",
    direction: "reduce",
    gate: "call",
    reversibility: "irreversible",
    expects: { account: "active" },
    undo: null,
  }),
  create: (step) => ({
    ...write,
    step,
    kind: "create_account",
    expects: { account: "absent" },
    undo: { kind: "suspend_account" },
  }),
  cancel: (step) => ({
    ...write,
    step,
    kind: "cancel_invitation",
    direction: "reduce",
    reversibility: "irreversible",
    expects: { invitation: "pending" },
    undo: null,
  }),
  sessions: (step) => ({
    ...write,
    step,
    kind: "revoke_sessions",
    direction: "reduce",
    reversibility: "irreversible",
    undo: null,
  }),
  credentials: (step) => ({
    ...write,
    step,
    kind: "revoke_credentials",
    direction: "reduce",
    reversibility: "irreversible",
    undo: null,
  }),
};

export function planOf(names: readonly string[], accountAbsent: boolean): Plan {
  const joins = names.some((name) => name === "invite" || name === "create");
  return {
    schema: "provision.plan/v1",
    operation_id: "prov_2026_07_24_k3v9q2mz",
    salt: "s",
    created_at: "2026-07-24T10:00:00.000Z",
    tenant: "acme",
    provider: "sandbox",
    kind: "joiner",
    requester: { id: "os:kim", via: "cli", verified: true, claimed: null },
    subject: joins || names.includes("cancel") ? { email: SUBJECT } : { email: SUBJECT, id: "usr_1" },
    ticket: null,
    reason: null,
    intent_hash: "sha256:i",
    steps: names.map((name, i) => {
      const make = STEPS[name];
      if (!make) throw new Error(`no step called ${name}`);
      return make(i + 1);
    }),
    preconditions: accountAbsent ? { account_absent: true } : {},
    observations: [],
    catalog_hash: "sha256:c",
    policy_hash: "sha256:p",
  };
}

/** The world as the plan expects it. */
export function worldFor(plan: Plan): Truth {
  const kinds = plan.steps.map((step) => step.kind);
  const joins = kinds.includes("invite") || kinds.includes("create_account");
  const cancels = kinds.includes("cancel_invitation");
  const suspended = plan.steps.some((step) => step.kind === "restore_account");
  const things: Record<string, { value: string | null; version: number; owner: "before" }> = {};
  let version = 1;
  for (const step of plan.steps) {
    const target = targetName(step);
    if (target && !(target in things))
      things[target] = { value: valueBefore(step as WriteStep), version: version++, owner: "before" };
  }
  return {
    account: joins || cancels ? null : { id: "usr_1", email: SUBJECT, status: suspended ? "suspended" : "active" },
    invitation: cancels ? { id: "inv_1", status: "pending", role: "guest", by: null, owner: "before" } : null,
    things,
  };
}

function targetName(step: Step): string | null {
  if ("group" in step) return `group ${step.group.id}`;
  if ("license" in step) return `license ${step.license.id}`;
  if (step.kind === "set_role") return "role";
  if (step.kind === "revoke_sessions") return "sessions";
  if (step.kind === "revoke_credentials") return "credentials";
  return null;
}

function valueBefore(step: WriteStep): string | null {
  if (step.kind === "revoke_sessions" || step.kind === "revoke_credentials") return "2";
  if (step.kind === "set_role") return step.expects.role;
  if ("member" in (("expects" in step && step.expects) || {}))
    return (step as { expects: { member: boolean } }).expects.member ? "yes" : null;
  return (step as { expects: { assigned: boolean } }).expects.assigned ? "yes" : null;
}
