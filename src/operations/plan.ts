import { type Card, planCards } from "../core/card.ts";
import { planBytes, planHash } from "../core/hashes.ts";
import { type Intent, intentHash, neededReadings } from "../core/intent.ts";
import { compilePlan } from "../core/planner.ts";
import { begin } from "../core/state.ts";
import { FINISHED, type StateName, stateOf } from "../core/status.ts";
import { checkRequest, requestError } from "../core/validate.ts";
import { bug } from "../model/errors.ts";
import { operationId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { Plan, PlanObservation } from "../model/plan.ts";
import type { Session } from "../model/provider.ts";
import { authorityFor } from "./authority.ts";
import type { Desk, TenantDesk } from "./desk.ts";
import { openOperation } from "./open.ts";
import { requesterOf } from "./requester.ts";
import { openSessions } from "./sessions.ts";
import { instantOf } from "./shell.ts";
import { subjectKeys } from "./subject.ts";
import { supersede } from "./supersede.ts";

export interface Planned {
  operation_id: string | null;
  plan_hash: string;
  state: StateName;
  plan: Plan;
  planBytes: string;
  cards: Card[];
  notices: string[];
  /** It was planned before and is not finished; nothing new was stored. */
  existing: boolean;
}

/** Validates, reads, freezes and stores. Sends no write, and needs no credential that could. */
export async function planRequest(
  desk: Desk,
  request: Json,
  options: { dryRun: boolean; fresh: boolean },
): Promise<Planned> {
  const { intent, tenant } = await understand(desk, request);
  if (!options.fresh && !options.dryRun) {
    const open = unfinished(desk, tenant, intentHash(intent));
    if (open) return open;
  }
  const random = desk.shell.random(16);
  const salt = Buffer.from(random).toString("base64url");
  const id = operationId(instantOf(desk.shell), desk.shell.random(5));
  const { plan, notices } = await read(desk, tenant, intent, id, salt);
  const bytes = planBytes(plan);
  const hash = planHash(bytes);
  const state = begin(plan, hash);
  if (!options.dryRun) {
    const subjects = subjectKeys(tenant, plan.tenant, plan.subject);
    supersede(desk, tenant, plan, subjects);
    desk
      .journal()
      .create(id, { kind: "plan.frozen", plan: bytes, plan_hash: hash }, { intent: plan.intent_hash, subjects });
  }
  const authority = { approvals: new Map(), denied: new Map() };
  const name = stateOf(state, desk.shell.now(), authority);
  if (!options.dryRun) desk.journal().setState(id, name);
  return {
    operation_id: options.dryRun ? null : id,
    plan_hash: hash,
    state: name,
    plan,
    planBytes: bytes,
    cards: planCards(state, !options.dryRun),
    notices,
    existing: false,
  };
}

/** The request held against configuration and catalogue, before any credential is read. */
async function understand(desk: Desk, request: Json): Promise<{ intent: Intent; tenant: TenantDesk }> {
  const tenants = Object.keys(desk.loaded.config.tenants);
  const named = request !== null && typeof request === "object" && !Array.isArray(request) ? request.tenant : undefined;
  const tenant = typeof named === "string" && tenants.includes(named) ? await desk.tenant(named) : null;
  const facts = tenant && {
    name: tenant.resolved.name,
    provider: tenant.provider.name,
    allowedDomains: tenant.resolved.allowedEmailDomains,
    landing: tenant.resolved.landing,
    catalog: tenant.catalog,
    capabilities: tenant.provider.capabilities,
    unproven: tenant.provider.unproven ?? [],
  };
  const checked = checkRequest(request, { tenants, tenant: facts });
  if (!checked.ok) throw requestError(checked.findings);
  // A policy that cannot be read is said before anything else is touched.
  desk.policy();
  if (!tenant) throw bug("a request without a tenant was accepted");
  return { intent: checked.intent, tenant };
}

/** Planning what is planned already, and not finished, gives that operation again. */
function unfinished(desk: Desk, tenant: TenantDesk, intent: string): Planned | null {
  const journal = desk.journal();
  for (const id of journal.byIntent(intent).reverse()) {
    const opened = openOperation(journal, id);
    const authority = authorityFor(desk, tenant, opened.state);
    const name = stateOf(opened.state, desk.shell.now(), authority);
    if (FINISHED.includes(name)) continue;
    return {
      operation_id: id,
      plan_hash: opened.planHash,
      state: name,
      plan: opened.plan,
      planBytes: opened.planBytes,
      cards: planCards(opened.state),
      notices: [],
      existing: true,
    };
  }
  return null;
}

async function read(desk: Desk, tenant: TenantDesk, intent: Intent, id: string, salt: string) {
  const sessions = openSessions(desk, tenant, desk.shell.random(32));
  try {
    const session = sessions.open("read", () => {});
    const taken = await readings(desk, session, intent);
    const heldRole = roleIn(taken);
    const now = instantOf(desk.shell);
    const facts = {
      operationId: id,
      salt,
      now,
      requester: requesterOf(desk.shell.env),
      policy: desk.policy(),
      describe: (step: Parameters<NonNullable<ReturnType<Session["action"]>>["describe"]>[0]) =>
        session.action(step.kind)?.describe(step),
      fold: tenant.provider.fold,
      self: await session.self(),
      ownAccounts: (["read", "ordinary", "privileged"] as const).flatMap(
        (name) => sessions.credentials.accountOf(name) ?? [],
      ),
      holders: null,
    };
    const first = compilePlan(intent, taken, facts);
    const guarded = first.ok || first.error.code !== "owners_unreadable" || heldRole === null ? [] : [heldRole];
    const compiled =
      guarded.length === 0 ? first : compilePlan(intent, taken, { ...facts, holders: await session.holders(guarded) });
    if (!compiled.ok) throw compiled.error;
    return compiled;
  } finally {
    await sessions.close();
  }
}

/** Reads until the planner needs nothing more. */
async function readings(desk: Desk, session: Session, intent: Intent): Promise<PlanObservation[]> {
  const taken: PlanObservation[] = [];
  for (;;) {
    const needed = neededReadings(intent, taken, instantOf(desk.shell));
    if (needed.length === 0) return taken;
    for (const { about, step, subject } of needed) {
      const action = session.action(step.kind);
      const at = instantOf(desk.shell);
      const reading = action
        ? await action.observe(step, subject)
        : ({ kind: "unreadable", reason: "malformed", detail: `the provider has no ${step.kind}` } as const);
      taken.push({ at, about, reading });
    }
  }
}

function roleIn(taken: readonly PlanObservation[]): string | null {
  const reading = taken.find(({ about }) => about === "role")?.reading;
  return reading?.kind === "found" && reading.value.of === "role" ? reading.value.role : null;
}
