import { ProvisionError } from "../model/errors.ts";
import { isWrite, type Plan, type PlanObservation, type Requester } from "../model/plan.ts";
import type { Policy } from "../model/policy.ts";
import type { Account } from "../model/provider.ts";
import type { Instant, Reading } from "../model/reading.ts";
import type { Refusal } from "./approval.ts";
import { compileSteps, type Describe } from "./compile.ts";
import { type Footing, footingOf } from "./footing.ts";
import { type GuardFacts, guardStep } from "./guards.ts";
import { catalogHash, policyHash } from "./hashes.ts";
import { type Intent, intentHash } from "./intent.ts";
import { deniedSteps } from "./policy.ts";

/** What the shell brings to a plan beside the readings: identity, time, rules, and whose the credentials are. */
export interface PlanFacts {
  operationId: string;
  /** 22 base64url characters, so that the plan's hash cannot be guessed from what it says. */
  salt: string;
  now: Instant;
  requester: Requester;
  policy: Policy;
  describe: Describe;
  fold: GuardFacts["fold"];
  /** The account behind the read credential. */
  self: Reading<Account>;
  /** Ids, addresses or logins that the configuration names beside its credentials. */
  ownAccounts: readonly string[];
  /** Active people with the role that the plan would take; null where it takes none. */
  holders: Reading<string[]> | null;
}

export type Compiled = { ok: true; plan: Plan; notices: string[] } | { ok: false; error: ProvisionError };

/**
 * Freezes an intent against what was read. The same intent, readings and facts give the same bytes. Refused with
 * exit 12 where a reading proves nothing, 6 where the tenant contradicts the request, 13 by a guard or by policy.
 */
export function compilePlan(intent: Intent, readings: readonly PlanObservation[], facts: PlanFacts): Compiled {
  const footing = footingOf(intent, readings, facts.fold);
  if (footing instanceof ProvisionError) return { ok: false, error: footing };
  if (facts.self.kind === "unreadable") return { ok: false, error: selfUnreadable(intent, facts.self.detail) };
  const acceptBy = later(facts.now, intent.request.invitation.accept_within);
  const steps = compileSteps(intent, footing, readings, acceptBy, facts.describe);
  if (steps instanceof ProvisionError) return { ok: false, error: steps };

  const { tenant, request, subject } = intent;
  const id = footing.accountId ?? subject.id;
  const head = {
    tenant: tenant.name,
    provider: tenant.provider,
    requester: facts.requester,
    subject: { ...subject, ...(id !== undefined && { id }) },
    steps,
  };
  const error = guarded(intent, footing, head.steps, facts) ?? denied(head, intent, facts.policy);
  if (error) return { ok: false, error };
  const plan: Plan = {
    schema: "provision.plan/v1",
    operation_id: facts.operationId,
    salt: facts.salt,
    created_at: facts.now,
    ...head,
    kind: request.kind,
    ticket: request.ticket ?? null,
    reason: request.reason ?? null,
    intent_hash: intentHash(intent),
    preconditions: preconditions(intent),
    observations: [...readings],
    catalog_hash: catalogHash(steps, tenant.catalog),
    policy_hash: policyHash(head, facts.policy, tenant.catalog),
  };
  return { ok: true, plan, notices: footing.notices };
}

/** Stated or checked before anything was read, and still to hold when the plan runs. */
function preconditions({ request, subject }: Intent): Plan["preconditions"] {
  const domain = subject.email?.split("@").at(-1);
  return {
    ...(request.preconditions.account_absent === true && { account_absent: true }),
    ...(domain !== undefined && { allowed_email_domain: domain }),
  };
}

function guarded(intent: Intent, footing: Footing, steps: Plan["steps"], facts: PlanFacts): ProvisionError | null {
  const { name, catalog } = intent.tenant;
  let heldRole = footing.heldRole;
  for (const step of steps.filter(isWrite)) {
    const { fold, self, ownAccounts, holders } = facts;
    const { subject } = intent;
    const { account } = footing;
    const about = { tenant: name, subject, account, catalog, fold, self, ownAccounts, heldRole, holders };
    const refusal = guardStep(step, about);
    if (refusal) return asError([refusal]);
    if (step.kind === "set_role") heldRole = step.role;
  }
  return null;
}

function denied(
  plan: Pick<Plan, "tenant" | "provider" | "requester" | "subject" | "steps">,
  intent: Intent,
  policy: Policy,
) {
  const refusals = deniedSteps(plan, policy, intent.tenant.catalog);
  return refusals.size === 0 ? null : asError([...refusals.values()], [...refusals.keys()]);
}

function asError(refusals: readonly Refusal[], steps: readonly number[] = []): ProvisionError {
  const [first] = refusals as [Refusal];
  const details = steps.map((step, at) => {
    const { code, message } = refusals[at] ?? first;
    return { path: `steps[${step - 1}]`, code, message };
  });
  const message = refusals.map((refusal) => refusal.message).join(" ");
  return new ProvisionError(first.code, first.exit, message, {
    details,
    ...(first.hint !== undefined && { hint: first.hint }),
  });
}

/** Whether the plan would touch the account behind its own credential must be known, so this is a reading like others. */
function selfUnreadable({ tenant }: Intent, detail: string): ProvisionError {
  const message = `There is no plan: whose the read credential of ${tenant.name} is could not be read: ${detail}.`;
  return new ProvisionError("unreadable", 12, message, { hint: "Look at the read credential, then plan again." });
}

function later(now: Instant, ms: number): Instant {
  return new Date(Date.parse(now) + ms).toISOString();
}
