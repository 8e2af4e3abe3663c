import { bug } from "../model/errors.ts";
import type { Expects, Step, StepKind, Undo, WriteStep } from "../model/plan.ts";
import type { AccountStatus, InvitationView, Observed, Reading } from "../model/reading.ts";
import type { Receipt, Result } from "../model/receipt.ts";

/** How what was read compares with what the step wants and what it was planned against. */
export type Standing = "wanted" | "expected" | "other";

/** A reading that proved something. */
export type Proof = Exclude<Reading<Observed>, { kind: "unreadable" }>;

interface Words {
  action: string;
  done: Result;
  already: Result;
}

const WORDS: Record<StepKind, Words> = {
  invite: { action: "invitation.create", done: "pending", already: "adopted" },
  create_account: { action: "account.create", done: "created", already: "already_exists" },
  wait_for_acceptance: { action: "acceptance.wait", done: "observed", already: "observed" },
  set_role: { action: "role.set", done: "changed", already: "unchanged" },
  add_group: { action: "group.add", done: "added", already: "already_present" },
  remove_group: { action: "group.remove", done: "removed", already: "already_absent" },
  assign_license: { action: "license.assign", done: "assigned", already: "already_assigned" },
  remove_license: { action: "license.remove", done: "removed", already: "already_absent" },
  cancel_invitation: { action: "invitation.cancel", done: "cancelled", already: "cancelled" },
  revoke_sessions: { action: "sessions.revoke", done: "revoked", already: "revoked" },
  revoke_credentials: { action: "credentials.revoke", done: "revoked", already: "revoked" },
  suspend_account: { action: "account.suspend", done: "suspended", already: "already_suspended" },
  restore_account: { action: "account.restore", done: "restored", already: "already_active" },
  remove_member: { action: "member.remove", done: "removed", already: "already_absent" },
  delete_account: { action: "account.delete", done: "deleted", already: "deleted" },
};

/** The word that policy, faults, messages and metrics use. */
export function actionOf(kind: StepKind): string {
  return WORDS[kind].action;
}

/** What the action is done to, by its name; null where the subject says it all. */
export function targetOf(step: Step): string | null {
  if ("group" in step) return step.group.name;
  if ("license" in step) return step.license.name;
  return null;
}

/** Result of a step whose target reads as wanted. */
export function resultWord(step: Step, reading: Proof, ours: boolean): Result {
  const view = invitationIn(reading);
  if (step.kind === "invite") {
    if (view?.invitation && ours) return view.invitation.status;
    if (view?.account && !ours) return "already_member";
  }
  if (step.kind === "cancel_invitation" && view?.invitation?.status === "accepted") return "already_accepted";
  return ours ? WORDS[step.kind].done : WORDS[step.kind].already;
}

export function invitationIn(reading: Reading<Observed>): InvitationView | null {
  return reading.kind === "found" && reading.value.of === "invitation" ? reading.value : null;
}

/** Compares a proven reading with the step. `accountAbsent`: the request stated that no account may be there. */
export function standing(step: WriteStep, reading: Proof, accountAbsent: boolean): Standing {
  switch (step.kind) {
    case "invite":
      return inviteStanding(step.role, reading, accountAbsent);
    case "cancel_invitation":
      return invitationIn(reading)?.invitation?.status === "pending" ? "expected" : "wanted";
    case "set_role": {
      const role = reading.kind === "found" && reading.value.of === "role" ? reading.value.role : null;
      if (role === step.role) return "wanted";
      return role !== null && role === step.expects.role ? "expected" : "other";
    }
    case "add_group":
    case "remove_group":
      return twoSided(reading.kind === "found", step.kind === "add_group", step.expects.member);
    case "assign_license":
    case "remove_license":
      return twoSided(reading.kind === "found", step.kind === "assign_license", step.expects.assigned);
    case "revoke_sessions":
    case "revoke_credentials":
      return reading.kind === "found" && "count" in reading.value && reading.value.count > 0 ? "expected" : "wanted";
    case "create_account":
    case "suspend_account":
    case "restore_account":
    case "remove_member":
    case "delete_account":
      return accountStanding(step.kind, step.expects.account, reading);
    default:
      step satisfies never;
      throw bug("a step of unknown kind");
  }
}

function twoSided(present: boolean, wantPresent: boolean, expectPresent: boolean): Standing {
  if (present === wantPresent) return "wanted";
  return present === expectPresent ? "expected" : "other";
}

function inviteStanding(role: string, reading: Proof, accountAbsent: boolean): Standing {
  const view = invitationIn(reading);
  if (!view) return "other";
  // A deleted account only held the address once; inviting it again is what a rejoiner needs.
  const account = view.account?.status === "deleted" ? null : view.account;
  if (account) return accountAbsent || account.status !== "active" ? "other" : "wanted";
  if (view.invitation?.status === "pending") return (view.invitation.role ?? role) === role ? "wanted" : "other";
  return "expected";
}

/**
 * The same, once the write was sent. An invitation that was not there before is what came of it, however it ended since.
 */
export function standingSince(step: WriteStep, before: Reading<Observed> | null, reading: Proof): Standing {
  const made = invitationIn(reading)?.invitation;
  if (step.kind !== "invite" || !made || made.id === (before && identityIn(before)))
    return standing(step, reading, false);
  return (made.role ?? step.role) === step.role ? "wanted" : "other";
}

/** The id of the invitation or account that was read; null where there is none. */
export function identityIn(reading: Reading<Observed>): string | null {
  if (reading.kind !== "found") return null;
  const { value } = reading;
  return value.of === "invitation" ? (value.invitation?.id ?? null) : value.of === "account" ? value.id : null;
}

function accountStanding(kind: StepKind, expected: "absent" | AccountStatus, reading: Proof): Standing {
  const status = reading.kind === "found" && reading.value.of === "account" ? reading.value.status : "absent";
  const wanted =
    kind === "create_account" || kind === "restore_account"
      ? status === "active"
      : kind === "suspend_account"
        ? status === "suspended"
        : status === "absent" || (kind === "delete_account" && status === "deleted");
  if (wanted) return "wanted";
  return status === expected ? "expected" : "other";
}

/** What was made of each receipt; it is asked for at every move of a rollback. */
const ways = new WeakMap<Receipt, WriteStep | null>();

/** The ordinary step that takes a receipt's change back. Its `expects` is what the change left. */
export function undoStep(step: WriteStep, receipt: Receipt): WriteStep | null {
  const undo = receipt.compensation;
  if (!undo) return null;
  const known = ways.get(receipt);
  if (known !== undefined) return known;
  const made = wayBack(step, undo);
  ways.set(receipt, made);
  return made;
}

function wayBack(step: WriteStep, undo: Undo): WriteStep | null {
  const base = {
    step: step.step,
    gate: undoGate(step, undo),
    direction: undoDirection(step, undo),
    reversibility: step.reversibility,
    effects: [],
    undo: null,
    credential: step.credential,
  };
  switch (undo.kind) {
    case "cancel_invitation":
      return { ...base, kind: undo.kind, expects: { invitation: "pending" } };
    case "set_role":
      return step.kind === "set_role"
        ? { ...base, kind: undo.kind, role: undo.role, expects: { role: step.role } }
        : null;
    case "add_group":
    case "remove_group":
      return "group" in step
        ? { ...base, kind: undo.kind, group: step.group, expects: { member: undo.kind === "remove_group" } }
        : null;
    case "assign_license":
    case "remove_license":
      return "license" in step
        ? { ...base, kind: undo.kind, license: step.license, expects: { assigned: undo.kind === "remove_license" } }
        : null;
    case "suspend_account":
    case "restore_account":
      return {
        ...base,
        kind: undo.kind,
        expects: { account: leftAccount(step, undo) },
      };
    default:
      undo satisfies never;
      throw bug("an undo of unknown kind");
  }
}

/** What the account reads before the way back is taken. */
function leftAccount(step: WriteStep, undo: Undo): AccountStatus {
  if (undo.kind === "suspend_account") return "active";
  return step.kind === "delete_account" ? "deleted" : "suspended";
}

function undoDirection(step: WriteStep, undo: Undo): "raise" | "reduce" {
  if (undo.kind === "set_role") return step.direction === "raise" ? "reduce" : "raise";
  const takes: readonly Undo["kind"][] = ["cancel_invitation", "remove_group", "remove_license", "suspend_account"];
  return takes.includes(undo.kind) ? "reduce" : "raise";
}

/** Taking authority back is covered by the plan's approval; giving it back is asked for. */
function undoGate(step: WriteStep, undo: Undo): "plan" | "call" {
  return undoDirection(step, undo) === "reduce" ? "plan" : "call";
}

/** One line for people: what a reading shows, in the words of the step's target. */
export function valueText(reading: Reading<Observed> | null): string {
  if (!reading) return "not read";
  if (reading.kind === "unreadable") return `unreadable (${reading.reason})`;
  if (reading.kind === "absent") return "absent";
  const value = reading.value;
  switch (value.of) {
    case "role":
      return value.role;
    case "membership":
      return "member";
    case "license":
      return "assigned";
    case "account":
      return value.status;
    case "sessions":
    case "credentials":
      return String(value.count);
    case "invitation":
      return value.invitation ? `invitation ${value.invitation.status}` : value.account ? "account" : "absent";
    default:
      value satisfies never;
      throw bug("an observation of unknown kind");
  }
}

/** `valueText` of what a step was planned against. */
export function expectsText(expects: Expects): string {
  const [value] = Object.values(expects) as [string | boolean];
  if (typeof value === "string") return value;
  return value ? ("member" in expects ? "member" : "assigned") : "absent";
}
