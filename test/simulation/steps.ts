import type { Step } from "../../src/model/plan.ts";

export const ACCEPT_BY = "2026-07-31T10:00:00.000Z";

const raises = {
  gate: "plan" as const,
  direction: "raise" as const,
  reversibility: "reversible" as const,
  effects: [],
  credential: "ordinary" as const,
};
const reduces = { ...raises, direction: "reduce" as const };
const forGood = {
  ...reduces,
  reversibility: "irreversible" as const,
  effects: [{ kind: "sessions" as const, text: "cannot be taken back" }],
  undo: null,
};

const ENGINEERING = { name: "engineering", id: "g1" };
const ON_CALL = { name: "on-call", id: "g2" };
const FORMER_TEAM = { name: "former-team", id: "g3" };
const PRO = { name: "pro", id: "l1" };
const FORMER_LICENSE = { name: "former-license", id: "l2" };

/** A step of each kind and gate, as the planner makes it. */
export const STEPS = {
  invite: (step) => ({
    ...raises,
    step,
    kind: "invite",
    send_email: false,
    role: "guest",
    accept_by: ACCEPT_BY,
    expects: { account: "absent" },
    reversibility: "compensable",
    undo: { kind: "cancel_invitation", while: "pending" },
  }),
  create: (step) => ({
    ...raises,
    step,
    kind: "create_account",
    expects: { account: "absent" },
    undo: { kind: "suspend_account" },
  }),
  wait: (step) => ({
    step,
    kind: "wait_for_acceptance",
    on_deadline: "stop",
    gate: "none",
    reversibility: "read_only",
  }),
  wait_or_cancel: (step) => ({
    step,
    kind: "wait_for_acceptance",
    on_deadline: "cancel",
    gate: "none",
    reversibility: "read_only",
  }),
  role: (step) => ({
    ...raises,
    step,
    kind: "set_role",
    role: "member",
    expects: { role: "guest" },
    undo: { kind: "set_role", role: "guest" },
  }),
  elevate: (step) => ({
    ...raises,
    step,
    kind: "set_role",
    role: "owner",
    gate: "call",
    credential: "privileged",
    expects: { role: "guest" },
    undo: { kind: "set_role", role: "guest" },
  }),
  lower: (step) => ({
    ...reduces,
    step,
    kind: "set_role",
    role: "guest",
    expects: { role: "member" },
    undo: { kind: "set_role", role: "member" },
  }),
  group: (step) => ({
    ...raises,
    step,
    kind: "add_group",
    group: ENGINEERING,
    expects: { member: false },
    undo: { kind: "remove_group" },
  }),
  sensitive: (step) => ({
    ...raises,
    step,
    kind: "add_group",
    group: ON_CALL,
    gate: "call",
    credential: "privileged",
    expects: { member: false },
    undo: { kind: "remove_group" },
  }),
  ungroup: (step) => ({
    ...reduces,
    step,
    kind: "remove_group",
    group: FORMER_TEAM,
    expects: { member: true },
    undo: { kind: "add_group" },
  }),
  license: (step) => ({
    ...raises,
    step,
    kind: "assign_license",
    license: PRO,
    requires: ["engineering"],
    expects: { assigned: false },
    undo: { kind: "remove_license" },
  }),
  unlicense: (step) => ({
    ...reduces,
    step,
    kind: "remove_license",
    license: FORMER_LICENSE,
    expects: { assigned: true },
    undo: { kind: "assign_license" },
  }),
  cancel: (step) => ({ ...forGood, step, kind: "cancel_invitation", expects: { invitation: "pending" } }),
  suspend: (step) => ({
    ...reduces,
    step,
    kind: "suspend_account",
    expects: { account: "active" },
    undo: { kind: "restore_account" },
  }),
  restore: (step) => ({
    ...raises,
    step,
    kind: "restore_account",
    expects: { account: "suspended" },
    undo: { kind: "suspend_account" },
  }),
  sessions: (step) => ({ ...forGood, step, kind: "revoke_sessions" }),
  credentials: (step) => ({ ...forGood, step, kind: "revoke_credentials" }),
  remove: (step) => ({ ...forGood, step, kind: "remove_member", gate: "call", expects: { account: "active" } }),
  delete: (step) => ({ ...forGood, step, kind: "delete_account", gate: "call", expects: { account: "active" } }),
} satisfies Record<string, (step: number) => Step>;

export type StepName = keyof typeof STEPS;
