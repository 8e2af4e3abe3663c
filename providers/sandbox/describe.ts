import type { Effect, Reversibility, StepKind, Undo, WriteStep } from "../../src/model/plan.ts";
import type { Description } from "../../src/model/provider.ts";

type Sketch = Pick<WriteStep, "kind"> & Partial<WriteStep>;

const AUDIT: Effect = { kind: "audit_event", text: "The audit log of the tenant keeps the change." };
const SESSIONS_END: Effect = { kind: "sessions", text: "All sessions of the account end; they do not come back." };
const BILLING: Effect = { kind: "billing", text: "The tenant is billed for the licence from the day it is assigned." };
const UNBILLED: Effect = { kind: "billing", text: "The licence stays billed to the end of its period." };
const CREDENTIALS_END: Effect = { kind: "data", text: "All tokens that the account made are gone for good." };
const DELETED: Effect = { kind: "data", text: "The account can be restored for 30 days; its tokens cannot." };

/** What can be said of a step ahead of any call: how far it can be taken back, by what, and what stays anyway. */
export function describe(step: Sketch): Description {
  const { reversibility, undo } = WAYS[step.kind](step);
  return { reversibility, undo, effects: [...effects(step), AUDIT] };
}

type Way = { reversibility: Reversibility; undo: Undo | null };
const irreversible = (): Way => ({ reversibility: "irreversible", undo: null });
const back =
  (kind: Exclude<Undo["kind"], "set_role" | "cancel_invitation">, reversibility: Reversibility = "reversible") =>
  (): Way => ({ reversibility, undo: { kind } });

const WAYS: Readonly<Record<WriteStep["kind"], (step: Sketch) => Way>> = {
  invite: () => ({ reversibility: "compensable", undo: { kind: "cancel_invitation", while: "pending" } }),
  create_account: back("suspend_account", "compensable"),
  set_role: (step) => ({ reversibility: "reversible", undo: roleBefore(step) }),
  add_group: back("remove_group"),
  remove_group: back("add_group"),
  assign_license: back("remove_license"),
  remove_license: back("assign_license"),
  cancel_invitation: irreversible,
  revoke_sessions: irreversible,
  revoke_credentials: irreversible,
  suspend_account: back("restore_account"),
  restore_account: back("suspend_account"),
  remove_member: irreversible,
  delete_account: back("restore_account", "compensable"),
};

/** The role to go back to is known once the step says what it expects to find. */
function roleBefore(step: Sketch): Undo | null {
  const expects = "expects" in step ? step.expects : undefined;
  return expects !== undefined && "role" in expects ? { kind: "set_role", role: expects.role } : null;
}

function effects(step: Sketch): Effect[] {
  switch (step.kind) {
    case "invite":
      return "send_email" in step && step.send_email ? [MAIL] : [];
    case "assign_license":
      return [BILLING];
    case "remove_license":
      return [UNBILLED];
    case "suspend_account":
    case "revoke_sessions":
      return [SESSIONS_END];
    case "revoke_credentials":
      return [CREDENTIALS_END];
    case "delete_account":
      return [SESSIONS_END, DELETED];
    default:
      return [];
  }
}

const MAIL: Effect = {
  kind: "mail",
  text: "The tenant mails the invitation to the subject; no cancellation unsends it.",
};

export const STEP_KINDS_HERE: readonly StepKind[] = [
  ...(Object.keys(WAYS) as StepKind[]),
  "wait_for_acceptance" as const,
].filter((kind) => kind !== "remove_member");
