import { type Authority, type Refusal, refusalIn } from "../core/approval.ts";
import { cardHash } from "../core/card.ts";
import { catalogHash } from "../core/hashes.ts";
import { deniedSteps } from "../core/policy.ts";
import type { Decision, OperationState } from "../core/state.ts";
import { canonical } from "../model/json.ts";
import type { Plan } from "../model/plan.ts";
import { verifyApproval } from "../runtime/approvals/verify.ts";
import { approvalContext, onCards } from "./context.ts";
import type { Desk, TenantDesk } from "./desk.ts";
import { notNamed } from "./named.ts";
import { unverifiedWord } from "./words.ts";

/** Everything verified again, now: each recorded approval, and what the policy says of each step. */
export function authorityFor(desk: Desk, tenant: TenantDesk, state: OperationState): Authority {
  const approvals = new Map<string, Refusal | null>();
  for (const decision of state.decisions) approvals.set(decision.approval_id, recheck(desk, tenant, state, decision));
  const denied = deniedSteps(state.plan, desk.policy(), tenant.catalog);
  if (catalogHash(state.plan.steps, tenant.catalog) !== state.plan.catalog_hash)
    for (const step of state.plan.steps) denied.set(step.step, catalogChanged(state.plan));
  return { approvals, denied, word: unverifiedWord(desk, tenant, state) };
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
  return refusalIn(() => {
    const bound = decision.subject_id === null ? (state.plan.subject.id ?? null) : state.subjectId;
    const readings = decision.request?.readings ?? {};
    const context = approvalContext(desk, tenant, state, decision.phase, {
      steps: decision.steps,
      subjectId: bound,
      readings,
      cards: (steps) => cardHash({ ...state, subjectId: bound }, decision.phase, steps, onCards(readings, steps)),
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
  });
}

/** `authorityFor`, computed again whenever a decision or one of the files that it rests on changed, and once a second. */
export function memoAuthority(desk: Desk, tenant: TenantDesk): (state: OperationState) => Authority {
  let last: { key: string; authority: Authority } | null = null;
  return (state) => {
    const key = JSON.stringify([
      state.decisions.map(({ seq, spent }) => [seq, spent]),
      state.words.length,
      state.subjectId,
      Math.floor(desk.shell.now() / 1000),
      desk.stamps(),
    ]);
    if (last?.key !== key) last = { key, authority: authorityFor(desk, tenant, state) };
    return last.authority;
  };
}
