import { firstWrite, type Pending } from "../core/approval.ts";
import { policyHash } from "../core/hashes.ts";
import type { OperationState } from "../core/state.ts";
import type { Phase } from "../model/entry.ts";
import { isWrite, type Plan } from "../model/plan.ts";
import type { Policy } from "../model/policy.ts";
import type { Statement } from "../model/statement.ts";
import type { ApprovalContext, Window } from "../runtime/approvals/verify.ts";
import type { Desk, TenantDesk } from "./desk.ts";
import { instantOf } from "./shell.ts";

const HOUR = 3_600_000;

/**
 * How long an approval of these steps may be valid. A call: one hour. What the plan decides: a day, or up to a day
 * after the invitation must have been accepted.
 */
export function windowFor(
  state: OperationState,
  phase: Phase,
  steps: readonly number[],
  readings: Pending["readings"],
): Window {
  const first = firstWrite(state);
  if (steps.some((step) => isCall(state, phase, step, readings))) return { maxMs: HOUR, until: null };
  const invite = state.plan.steps.find((step) => step.kind === "invite" && step.step === first);
  const until = invite?.kind === "invite" ? new Date(Date.parse(invite.accept_by) + 24 * HOUR).toISOString() : null;
  return { maxMs: 24 * HOUR, until };
}

/** Decided by itself, for an hour: by its gate, or because it was asked for on a reading after its gate had risen. */
export function isCall(state: OperationState, phase: Phase, step: number, readings: Pending["readings"]): boolean {
  const plan = state.plan.steps[step - 1];
  return (
    phase === "rollback" || (plan && isWrite(plan) && plan.gate === "call") || readings[String(step)] !== undefined
  );
}

/** The readings that belong on the cards of these steps. */
export function onCards(readings: Pending["readings"], steps: readonly number[]): Pending["readings"] {
  return Object.fromEntries(Object.entries(readings).filter(([step]) => steps.includes(Number(step))));
}

/** What every approval of this operation is held against: nothing of it comes from the approval. */
export function approvalContext(
  desk: Desk,
  tenant: TenantDesk,
  state: OperationState,
  phase: Phase,
  about: {
    steps: readonly number[];
    subjectId: string | null;
    readings: Pending["readings"];
    cards: (steps: number[], statement: Statement) => string;
  },
): ApprovalContext {
  const journal = desk.journal();
  const { plan } = state;
  return {
    operationId: plan.operation_id,
    planHash: state.planHash,
    tenant: plan.tenant,
    policyHash: currentPolicyHash(plan, desk.policy(), tenant),
    phase,
    steps: about.steps,
    cardHash: about.cards,
    requester: plan.requester.id,
    subjectKeys: tenant.provider.fold({
      ...plan.subject,
      ...(state.subjectId === null ? {} : { id: state.subjectId }),
    }),
    subjectId: about.subjectId,
    identities: desk.loaded.config.identities ?? {},
    roster: desk.roster(),
    revoked: desk.revoked(),
    now: instantOf(desk.shell),
    window: (steps) => windowFor(state, phase, steps, about.readings),
    minAssurance: "software",
    journal: {
      origin: journal.origin(),
      rootAt: (size) => (size <= journal.head().size ? journal.rootAt(size) : undefined),
    },
    sandbox: plan.provider === "sandbox",
    sandboxKeys: desk.sandboxKeys(),
  };
}

/** Over the rules that the plan meets now; another hash than the plan's means that the policy changed under it. */
export function currentPolicyHash(plan: Plan, policy: Policy, tenant: TenantDesk): string {
  return policyHash(plan, policy, tenant.catalog);
}
