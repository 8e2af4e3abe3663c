import type { Phase } from "../../src/model/entry.ts";
import { isWrite, type Step, type WriteStep } from "../../src/model/plan.ts";

export const SUBJECT = "priya@example.test";
export const OTHER = "other@example.test";

/** Who decided last about a thing: it was so before, this operation, or somebody else. */
export type Owner = "before" | "us" | "rival";

/** One thing that a step can change: a role, a membership, a licence, the account, the newest invitation. */
export interface Thing {
  /** null: not there. */
  value: string | null;
  version: number;
  owner: Owner;
  /** The key of our request that made it, where it was ours. */
  key: string | null;
  /** Of an invitation that ended: the key of our request that ended it; "" where somebody else did. */
  endedBy: string | null;
  id: string | null;
  /** What an invitation carries, and who redeemed it. */
  role: string | null;
  by: { id: string; email: string } | null;
  /** Of an account. */
  email: string | null;
}

export type Truth = Readonly<Record<string, Thing>>;

export interface Abilities {
  /** The service remembers idempotency keys. */
  keys: boolean;
  /** `none`: readings carry no version. `versions`: they do, and no write is guarded by them. */
  guard: "none" | "versions" | "if_match";
  /** The service's record names the request that made what is there. */
  authorship: boolean;
}

/** One write of ours that changed something. */
export interface Applied {
  key: string;
  step: number;
  phase: Phase;
  target: string;
  from: Thing;
  to: Thing;
}

/** What is on the wire. Whom it is about was looked up when it was sent. */
export interface Request {
  step: WriteStep;
  phase: Phase;
  key: string;
  ifVersion: string | null;
  accountId: string | null;
  invitationId: string | null;
}

export const NOTHING: Thing = {
  value: null,
  version: 0,
  owner: "before",
  key: null,
  endedBy: null,
  id: null,
  role: null,
  by: null,
  email: null,
};

export function thing(value: string | null, more: Partial<Thing> = {}): Thing {
  return { ...NOTHING, value, ...more };
}

/** The name of the thing that a step reads or changes. */
export function targetOf(step: Step): string {
  switch (step.kind) {
    case "add_group":
    case "remove_group":
      return `group ${step.group.id}`;
    case "assign_license":
    case "remove_license":
      return `license ${step.license.id}`;
    case "set_role":
      return "role";
    case "revoke_sessions":
      return "sessions";
    case "revoke_credentials":
      return "credentials";
    case "invite":
    case "cancel_invitation":
    case "wait_for_acceptance":
      return "invitation";
    default:
      return "account";
  }
}

/** What the thing reads once the step is done; null: not there. */
export function wantedValue(step: Step): string | null {
  switch (step.kind) {
    case "set_role":
      return step.role;
    case "add_group":
    case "assign_license":
      return "yes";
    case "invite":
      return "pending";
    case "cancel_invitation":
      return "cancelled";
    case "suspend_account":
      return "suspended";
    case "create_account":
    case "restore_account":
      return "active";
    case "delete_account":
      return "deleted";
    default:
      return null;
  }
}

const expectations = new WeakMap<Step, string | null>();

/** What the step was planned against. */
export function expectedValue(step: Step): string | null {
  let value = expectations.get(step);
  if (value === undefined) {
    value = expectationOf(step);
    expectations.set(step, value);
  }
  return value;
}

function expectationOf(step: Step): string | null {
  if (!isWrite(step) || step.kind === "invite") return null;
  if (!("expects" in step)) return "2";
  const [value] = Object.values(step.expects) as [string | boolean];
  if (typeof value === "boolean") return value ? "yes" : null;
  return value === "absent" ? null : value;
}
