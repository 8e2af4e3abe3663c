import { foldEmail } from "../model/email.ts";
import type { Payload } from "../model/entry.ts";
import type { InvitationView } from "../model/reading.ts";
import type { Receipt, Result } from "../model/receipt.ts";
import { invitationIn } from "./kinds.ts";
import { type Context, halt, type Move, readAgain, record } from "./move.ts";
import { nothing, receiptEntry } from "./outcome.ts";
import type { OperationState, Seen, StepState } from "./state.ts";

/**
 * The barrier: it opens only on a membership that the invited person holds. An accepted invitation without an
 * account, one redeemed by somebody else, and one that ended otherwise each end the way forward, by name.
 */
export function nextWait(state: OperationState, step: StepState, context: Context): Move {
  const seen = step.apply.before;
  const number = step.plan.step;
  if (!seen) return { kind: "observe", step: number, phase: "apply", purpose: "before" };
  if (seen.reading.kind === "unreadable") return readAgain(step.apply, seen, context, number, "apply", "before");
  const view = invitationIn(seen.reading) ?? { of: "invitation", invitation: null, account: null };
  const shown = shownFrom(state, context);
  if (!showsOurs(state, view) && Date.parse(seen.at) < shown)
    return context.now < shown
      ? { kind: "wait", until: shown, why: "settle" }
      : { kind: "observe", step: number, phase: "apply", purpose: "before" };
  const found = look(state, view);
  if (found.kind === "bound") return record(...bind(state, number, found, seen));
  if (found.kind === "ended") return record(receiptEntry(number, ended(found.result, seen, found.code, found.detail)));
  return stillPending(state, step, seen, context);
}

/** From when on reads show what we made, however far they lag. */
function shownFrom(state: OperationState, context: Context): number {
  const at = state.steps.find((step) => step.plan.kind === "invite")?.receiptAt ?? null;
  return at === null ? 0 : Date.parse(at) + context.limits.settleMs;
}

function showsOurs(state: OperationState, { invitation, account }: InvitationView): boolean {
  const ours = ownInvitation(state);
  return account?.status === "active" || (ours === null ? invitation !== null : invitation?.id === ours);
}

type Look =
  | { kind: "pending" }
  | { kind: "bound"; id: string; by: "accepted_by" | "lookup" }
  | { kind: "ended"; result: Result; code: string; detail: string };

function look(state: OperationState, view: InvitationView): Look {
  const { invitation, account } = view;
  const ours = ownInvitation(state);
  const email = state.plan.subject.email;
  const another = invitation !== null && ours !== null && invitation.id !== ours;
  if (another && invitation.status === "pending")
    return end("conflict", "other_invitation", `another invitation (${invitation.id}) stands in place of ${ours}`);
  if (!invitation || (another && invitation.status !== "accepted")) {
    const known = state.plan.subject.id;
    if (account?.status === "active" && known !== undefined && account.id !== known)
      return end("conflict", "other_account", otherAccount(account.id, known));
    if (account?.status === "active") return { kind: "bound", id: account.id, by: "lookup" };
    return end("cancelled", "invitation_gone", "the invitation is gone and there is no account");
  }
  switch (invitation.status) {
    case "pending":
      return { kind: "pending" };
    case "declined":
      return end("declined", "declined", "the invited person declined");
    case "expired":
      return end("expired", "expired", "the service let the invitation expire");
    case "cancelled":
      return end("cancelled", "cancelled", "somebody cancelled the invitation");
    case "accepted": {
      const by = invitation.accepted_by;
      if (!by)
        return end(
          "conflict",
          "accepted_without_membership",
          "the invitation reads accepted, and no account came of it",
        );
      if (email !== undefined && (by.email === null || foldEmail(by.email) !== foldEmail(email)))
        return end(
          "conflict",
          "other_redeemer",
          `the invitation was redeemed by ${by.id}, which is not the invited address`,
        );
      if (state.plan.subject.id !== undefined && by.id !== state.plan.subject.id)
        return end(
          "conflict",
          "other_redeemer",
          `the invitation was redeemed by ${by.id}, not by ${state.plan.subject.id}`,
        );
      if (account?.status !== "active")
        return end(
          "conflict",
          "accepted_without_membership",
          `the invitation reads accepted by ${by.id}, and there is no active account`,
        );
      if (account.id !== by.id)
        return end(
          "conflict",
          "other_redeemer",
          `the address is held by ${account.id}, and the invitation was redeemed by ${by.id}`,
        );
      return { kind: "bound", id: by.id, by: "accepted_by" };
    }
    default:
      invitation.status satisfies never;
      return end("conflict", "unknown_status", "the invitation has a status that is not known");
  }
}

/** An address that is held by somebody else now is no way to the account that was planned for. */
export function otherAccount(found: string, planned: string): string {
  return `the address is held by ${found}, and the plan is for ${planned}; nothing was sent`;
}

function end(result: Result, code: string, detail: string): Look {
  return { kind: "ended", result, code, detail };
}

/** Whether somebody has redeemed the invitation, whoever it was and whatever came of it: nothing is left to cancel. */
export function redeemed({ result, after }: Receipt): boolean {
  return result === "observed" || (after !== null && invitationIn(after)?.invitation?.status === "accepted");
}

/** The invitation that this operation made or adopted; null where it found an account instead. */
function ownInvitation(state: OperationState): string | null {
  const receipt = state.steps.find((step) => step.plan.kind === "invite")?.receipt;
  return receipt?.after ? (invitationIn(receipt.after)?.invitation?.id ?? null) : null;
}

function bind(state: OperationState, number: number, found: Extract<Look, { kind: "bound" }>, seen: Seen): Payload[] {
  const receipt = receiptEntry(number, ended("observed", seen, null, null));
  if (state.subjectId === found.id) return [receipt];
  return [{ kind: "subject.bound", step: number, subject_id: found.id, by: found.by }, receipt];
}

function ended(result: Result, seen: Seen, code: string | null, detail: string | null): Receipt {
  return {
    ...nothing,
    result,
    ours: false,
    before: null,
    after: seen.reading,
    remote_version_after: null,
    code,
    detail,
  };
}

/** When the invitation must have been accepted, in milliseconds; null where the plan has none. */
export function deadline(state: OperationState): number | null {
  const invite = state.plan.steps.find((step) => step.kind === "invite");
  return invite?.kind === "invite" ? Date.parse(invite.accept_by) : null;
}

function stillPending(state: OperationState, step: StepState, seen: Seen, context: Context): Move {
  const number = step.plan.step;
  const due = deadline(state);
  if (due !== null && context.now >= due) {
    // Read, compare, act: the deadline counts only against a reading that began after it.
    if (Date.parse(seen.at) < due) return { kind: "observe", step: number, phase: "apply", purpose: "before" };
    const receipt = receiptEntry(
      number,
      ended("expired", seen, "deadline", "the deadline passed and the invitation is still open"),
    );
    const cancels = step.plan.kind === "wait_for_acceptance" && step.plan.on_deadline === "cancel";
    return cancels
      ? record(receipt, { kind: "op.state", event: "rollback", detail: "deadline", to_step: 0 })
      : record(receipt);
  }
  if (context.patienceUntil === null || context.now >= context.patienceUntil) return halt;
  const until = Date.parse(seen.at) + context.limits.requestMs;
  if (context.now >= until) return { kind: "observe", step: number, phase: "apply", purpose: "before" };
  return { kind: "wait", until: Math.min(until, context.patienceUntil, due ?? until), why: "acceptance" };
}
