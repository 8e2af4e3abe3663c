import type { Holder } from "../model/entry.ts";
import { shortId } from "../model/ids.ts";
import { isWrite, type Requester, type StepKind, type SubjectKey } from "../model/plan.ts";
import type { Receipt } from "../model/receipt.ts";
import { type NextCommand, nextCommands } from "./advice.ts";
import { type Authority, coverOf, decidedWithPlan, requestFor } from "./approval.ts";
import { type Blocked, blockedBy } from "./blocked.ts";
import { hasNow } from "./holdings.ts";
import { actionOf, targetOf, valueText } from "./kinds.ts";
import { currentStep, inDoubt } from "./progress.ts";
import { type CompensationLine, compensationLines, type ResidualEffect, residualEffects } from "./residue.ts";
import { isOpen, type OperationState, type StepState } from "./state.ts";
import { type StateName, stateOf } from "./status.ts";
import { compensations } from "./undo.ts";
import { redeemed } from "./wait.ts";

export interface StepDocument {
  step: number;
  action: string;
  target: string | null;
  result: string;
  undo: string;
  gate: string;
  approval: "none" | "needed" | "given" | "lapsed";
  requested: Record<string, string | boolean> | null;
  transport: { attempts: number; last_status: number | null; provider_request_id: string | null } | null;
  observed: Record<string, string | boolean | null> | null;
  receipt: Record<string, unknown> | null;
}

export interface OperationDocument {
  schema: "provision.operation/v1";
  operation_id: string;
  plan_hash: string;
  tenant: string;
  kind: string;
  subject: SubjectKey & { remote_id: string | null };
  requester: Requester;
  state: StateName;
  as_of: string;
  steps: StepDocument[];
  compensations: CompensationLine[];
  residual_effects: ResidualEffect[];
  approvals: { approval_id: string; approver: string; phase: string; steps: number[]; not_after: string }[];
  in_flight: { step: number; phase: string; action: string; since: string; holder: Holder | null } | null;
  stopped: { by: string; at: string; reason: string | null } | null;
  denied: { by: string; at: string; reason: string } | null;
  /** What reads showed last of what this operation is about, in words; what was taken back is left out. */
  has_now: string[];
  blocked: Blocked | null;
  next: NextCommand[];
}

/** Everything that is known of an operation, from the journal alone. */
export function operationDocument(
  state: OperationState,
  now: number,
  authority: Authority,
  holder: Holder | null,
): OperationDocument {
  const name = stateOf(state, now, authority, holder !== null);
  return {
    schema: "provision.operation/v1",
    operation_id: state.plan.operation_id,
    plan_hash: state.planHash,
    tenant: state.plan.tenant,
    kind: state.plan.kind,
    subject: { ...state.plan.subject, remote_id: state.subjectId },
    requester: state.plan.requester,
    state: name,
    as_of: state.asOf,
    steps: state.steps.map((step) => stepDocument(state, step, now, authority, holder !== null)),
    compensations: compensationLines(state),
    residual_effects: residualEffects(state),
    approvals: state.decisions.map(({ approval_id, approver, phase, steps, not_after }) => ({
      approval_id,
      approver,
      phase,
      steps,
      not_after,
    })),
    in_flight: inFlight(state, holder),
    stopped: state.stopped && { by: state.stopped.by, at: state.stopped.at, reason: state.stopped.reason },
    denied: state.denied,
    has_now: hasNow(state),
    blocked: blockedBy(state, name, authority),
    next: nextCommands(shortId(state.plan.operation_id), state, name, { now, authority }),
  };
}

function stepDocument(
  state: OperationState,
  step: StepState,
  now: number,
  authority: Authority,
  live: boolean,
): StepDocument {
  const last = step.apply.attempts.at(-1);
  const receipt = step.receipt;
  return {
    step: step.plan.step,
    action: actionOf(step.plan.kind),
    target: targetOf(step.plan),
    result: resultText(state, step, live),
    undo: undoText(state, step),
    gate: step.plan.gate,
    approval: approvalText(state, step, now, authority),
    requested: requestedOf(step),
    transport: last
      ? {
          attempts: step.apply.attempts.length,
          last_status: last.transport.status,
          provider_request_id: last.transport.provider_request_id,
        }
      : null,
    observed: observedOf(step),
    receipt: receipt
      ? {
          subject_id: state.subjectId,
          result: receipt.result,
          before: receipt.before ? valueText(receipt.before) : null,
          after: receipt.after ? valueText(receipt.after) : null,
          attribution: receipt.attribution,
          remote_version_after: receipt.remote_version_after,
          compensation: compensationOf(step),
          code: receipt.code,
          detail: receipt.detail,
        }
      : null,
  };
}

/** The action words and value of the way back, as the receipt holds it. */
function compensationOf(step: StepState): Record<string, string> | null {
  const undo = step.receipt?.compensation;
  if (!undo) return null;
  return undo.kind === "set_role" ? { action: actionOf(undo.kind), value: undo.role } : { action: actionOf(undo.kind) };
}

/** The word of the RESULT column. */
export function resultText(state: OperationState, step: StepState, live: boolean): string {
  const { receipt } = step;
  if (step.plan.kind === "invite" && receipt?.result === "pending") return cameOf(state) ?? receipt.result;
  if (receipt) return receipt.result;
  if (inDoubt(step)) return live && isOpen(step.apply) ? "-" : "unknown";
  if (step.plan.kind === "wait_for_acceptance" && step.apply.before !== null) return "waiting";
  return "-";
}

/** What became of the invitation, as the wait found it; null while it is open. */
function cameOf(state: OperationState): string | null {
  const receipt = state.steps.find((step) => step.plan.kind === "wait_for_acceptance")?.receipt;
  const waited = receipt?.result;
  if (receipt && redeemed(receipt)) return "accepted";
  return waited === "declined" || waited === "expired" || waited === "cancelled" ? waited : null;
}

/** Nothing brings back what these take away. */
const FOR_GOOD: readonly StepKind[] = [
  "cancel_invitation",
  "revoke_sessions",
  "revoke_credentials",
  "remove_member",
  "delete_account",
];

/** The word of the UNDO column. */
export function undoText(state: OperationState, step: StepState): string {
  const { plan, receipt, undone } = step;
  if (!isWrite(plan)) return receipt || step.apply.before ? "n/a" : "-";
  if (undone && ["undone", "already gone", "diverged", "left"].includes(undone.result)) return undone.result;
  if (!receipt) return step.apply.intent === null ? "-" : "none";
  if (!receipt.ours) {
    const redeemed = plan.kind === "invite" && receipt.result === "adopted" && cameOf(state) !== null;
    return redeemed || (FOR_GOOD.includes(plan.kind) && !refusedWord(receipt.result)) ? "unavailable" : "none";
  }
  const open = compensations(state, 0).some((compensation) => compensation.step === step);
  if (!open) return "unavailable";
  switch (receipt.compensation?.kind) {
    case "cancel_invitation":
      return "ready: cancel";
    case "set_role":
      return `ready: ${receipt.compensation.role}`;
    case "suspend_account":
      return plan.kind === "create_account" ? "ready: suspend" : "ready";
    case "restore_account":
      return plan.kind === "delete_account" ? `ready: restore until ${restoreUntil(receipt)}` : "ready";
    default:
      return "ready";
  }
}

function refusedWord(result: string): boolean {
  return ["denied", "rejected", "conflict", "no_effect", "unknown"].includes(result);
}

/** The day until which the service keeps what was deleted. */
function restoreUntil({ after }: Receipt): string {
  const value = after?.kind === "found" ? after.value : null;
  return (value?.of === "account" && value.restore_until?.slice(0, 10)) || "the service forgets it";
}

function approvalText(
  state: OperationState,
  step: StepState,
  now: number,
  authority: Authority,
): StepDocument["approval"] {
  if (!isWrite(step.plan) || step.plan.gate === "none") return "none";
  if (step.apply.intent?.approvals.length) return "given";
  const reading = decidedWithPlan(state, step.plan)
    ? null
    : (requestFor(state, step.plan.step, "apply")?.readings[String(step.plan.step)] ?? null);
  const cover = coverOf(state, step, "apply", reading, now, authority).kind;
  return cover === "given" || cover === "lapsed" ? cover : "needed";
}

function requestedOf(step: StepState): StepDocument["requested"] {
  const { plan } = step;
  if (step.apply.intent === null || !isWrite(plan)) return null;
  if ("group" in plan) return { group: plan.group.name, group_id: plan.group.id };
  if ("license" in plan) return { license: plan.license.name, license_id: plan.license.id };
  if (plan.kind === "invite") return { role: plan.role, send_email: plan.send_email };
  return "role" in plan && plan.role !== undefined ? { role: plan.role } : {};
}

function observedOf(step: StepState): StepDocument["observed"] {
  const reading =
    step.apply.verified?.reading ??
    step.receipt?.after ??
    step.apply.seen.at(-1)?.reading ??
    step.apply.before?.reading ??
    null;
  if (!reading) return null;
  if (reading.kind === "unreadable") return { unreadable: reading.reason };
  if (reading.kind === "absent") return { present: false };
  const value = reading.value;
  switch (value.of) {
    case "role":
      return { role: value.role };
    case "membership":
      return { member: true };
    case "license":
      return { assigned: true };
    case "account":
      return { account: value.status };
    case "sessions":
    case "credentials":
      return { count: String(value.count) };
    case "invitation":
      return {
        invitation: value.invitation?.status ?? null,
        invitation_id: value.invitation?.id ?? null,
        account: value.account?.status ?? null,
      };
    default:
      value satisfies never;
      return null;
  }
}

/** The request that is out, or the step that a live process is at. */
function inFlight(state: OperationState, holder: Holder | null): OperationDocument["in_flight"] {
  for (const step of state.steps) {
    for (const [phase, work] of [
      ["apply", step.apply],
      ["rollback", step.undo],
    ] as const) {
      if (isOpen(work) && work.intent)
        return { step: step.plan.step, phase, action: actionOf(step.plan.kind), since: work.intent.at, holder };
    }
  }
  const current = state.rollback
    ? compensations(state).find(({ step }) => step.undone === null)?.step
    : currentStep(state);
  if (holder === null || !current) return null;
  const phase = state.rollback ? "rollback" : "apply";
  return { step: current.plan.step, phase, action: actionOf(current.plan.kind), since: state.asOf, holder };
}
