import { type Authority, decidedWithPlan, firstWrite, type Refusal } from "../core/approval.ts";
import { cardHash } from "../core/card.ts";
import { catalogHash, policyHash } from "../core/hashes.ts";
import { deniedSteps } from "../core/policy.ts";
import type { Decision, OperationState } from "../core/state.ts";
import type { Phase } from "../model/entry.ts";
import { ProvisionError } from "../model/errors.ts";
import { canonical } from "../model/json.ts";
import { isWrite, type Plan } from "../model/plan.ts";
import type { Policy } from "../model/policy.ts";
import type { Statement } from "../model/statement.ts";
import { type ApprovalContext, verifyApproval, type Window } from "../runtime/approvals/verify.ts";
import type { Desk, TenantDesk } from "./desk.ts";
import { notNamed } from "./named.ts";
import { instantOf } from "./shell.ts";

const HOUR = 3_600_000;

/**
 * How long an approval of these steps may be valid. A call: one hour. What the plan decides: a day, or up to a day
 * after the invitation must have been accepted.
 */
export function windowFor(state: OperationState, phase: Phase, steps: readonly number[]): Window {
  const first = firstWrite(state);
  const calls = steps.some((number) => {
    const plan = state.plan.steps[number - 1];
    return phase === "rollback" || (plan && isWrite(plan) && plan.gate === "call");
  });
  if (calls) return { maxMs: HOUR, until: null };
  const invite = state.plan.steps.find((step) => step.kind === "invite" && step.step === first);
  const until = invite?.kind === "invite" ? new Date(Date.parse(invite.accept_by) + 24 * HOUR).toISOString() : null;
  return { maxMs: 24 * HOUR, until };
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
    window: (steps) => windowFor(state, phase, steps),
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

/** Everything verified again, now: each recorded approval, and what the policy says of each step. */
export function authorityFor(desk: Desk, tenant: TenantDesk, state: OperationState): Authority {
  const approvals = new Map<string, Refusal | null>();
  for (const decision of state.decisions) approvals.set(decision.approval_id, recheck(desk, tenant, state, decision));
  const denied = deniedSteps(state.plan, desk.policy(), tenant.catalog);
  if (catalogHash(state.plan.steps, tenant.catalog) !== state.plan.catalog_hash)
    for (const step of state.plan.steps) denied.set(step.step, catalogChanged(state.plan));
  return { approvals, denied };
}

/** What was approved stood on entries that have another meaning by now; nobody approved that. */
function catalogChanged(plan: Plan): Refusal {
  return {
    code: "catalog_changed",
    exit: 13,
    message: `The catalogue of ${plan.tenant} has changed in an entry that this plan uses.`,
    hint: "Plan again; what was changed already can still be rolled back.",
  };
}

function recheck(desk: Desk, tenant: TenantDesk, state: OperationState, decision: Decision): Refusal | null {
  try {
    const bound = decision.subject_id === null ? (state.plan.subject.id ?? null) : state.subjectId;
    const readings = decision.request?.readings ?? {};
    const context = approvalContext(desk, tenant, state, decision.phase, {
      steps: decision.steps,
      subjectId: bound,
      cards: (steps) =>
        cardHash(
          { ...state, subjectId: bound },
          decision.phase,
          steps,
          perCall(state, decision.phase, steps, readings),
        ),
    });
    const found = verifyApproval(decision.envelope, context);
    if (!found.ok) return found;
    const unnamed = notNamed(desk, tenant, state, decision.steps, decision.approver);
    if (unnamed) return unnamed;
    // What the fold goes by must be what was signed: a fact beside the envelope carries no signature of its own.
    const { seq: _seq, spent: _spent, request: _request, ...facts } = decision;
    return canonical(found.approval) === canonical(facts)
      ? null
      : { code: "other_statement", exit: 9, message: "The recorded approval is not the statement that was signed." };
  } catch (error) {
    if (error instanceof ProvisionError && (error.exit === 13 || error.exit === 9))
      return {
        code: error.code,
        exit: error.exit,
        message: error.message,
        ...(error.hint === undefined ? {} : { hint: error.hint }),
      };
    throw error;
  }
}

/** The readings that belong on the cards of these steps: those of calls, and none on what the plan alone decides. */
export function perCall<T>(
  state: OperationState,
  phase: Phase,
  steps: readonly number[],
  readings: Readonly<Record<string, T>>,
): Record<string, T> {
  const first = firstWrite(state);
  const kept = Object.entries(readings).filter(([number]) => {
    const plan = state.plan.steps[Number(number) - 1];
    return (
      steps.includes(Number(number)) &&
      (phase === "rollback" || (plan && isWrite(plan) && !decidedWithPlan(plan, first)))
    );
  });
  return Object.fromEntries(kept);
}

/** `authorityFor`, computed again whenever a decision or one of the files that it rests on changed, and once a second. */
export function memoAuthority(desk: Desk, tenant: TenantDesk): (state: OperationState) => Authority {
  let last: { key: string; authority: Authority } | null = null;
  return (state) => {
    const key = JSON.stringify([
      state.decisions.map(({ seq, spent }) => [seq, spent]),
      state.subjectId,
      Math.floor(desk.shell.now() / 1000),
      desk.stamps(),
    ]);
    if (last?.key !== key) last = { key, authority: authorityFor(desk, tenant, state) };
    return last.authority;
  };
}
