import { type Authority, refusalAsError } from "../core/approval.ts";
import { fold } from "../core/fold.ts";
import { planHash } from "../core/hashes.ts";
import { type AnyEntry, begin, type OperationState } from "../core/state.ts";
import { invalid, unverified } from "../model/errors.ts";
import { parseCanonical } from "../model/json.ts";
import type { Plan } from "../model/plan.ts";
import type { Journal } from "../runtime/journal/journal.ts";
import { authorityFor } from "./authority.ts";
import type { Desk, TenantDesk } from "./desk.ts";

/** An operation as its entries tell it. */
export interface Opened {
  id: string;
  plan: Plan;
  planBytes: string;
  planHash: string;
  state: OperationState;
}

/** The operation that a person named by an ending, or by `@last`. Exit 2 where none or several are meant. */
export function resolveOperation(journal: Journal, name: string): string {
  if (name === "@last") {
    const last = journal.last();
    if (last === undefined)
      throw invalid("unknown_operation", "There is no operation yet.", [], "provision plan <request.yaml> begins one.");
    return last;
  }
  const found = journal.find(name);
  const exact = found.filter((id) => id === name);
  const [one, ...more] = exact.length === 1 ? exact : found;
  if (one === undefined)
    throw invalid(
      "unknown_operation",
      `No operation in this journal ends in ${name}.`,
      [{ path: "op", code: "unknown_operation", found: name }],
      "provision list",
    );
  if (more.length > 0)
    throw invalid(
      "ambiguous_operation",
      `${found.length} operations end in ${name}.`,
      [{ path: "op", code: "ambiguous_operation", found: name, allowed: found }],
      "Type more of the id.",
    );
  return one;
}

/** Reads and verifies the operation's entries and its plan. Exit 9 where anything stored does not verify. */
export function openOperation(journal: Journal, id: string): Opened {
  const entries: AnyEntry[] = journal.read(id);
  const frozen = entries[0];
  if (frozen?.kind !== "plan.frozen")
    throw unverified("plan_missing", `The journal of ${id} does not begin with a plan.`);
  const bytes = frozen.plan;
  if (planHash(bytes) !== frozen.plan_hash)
    throw unverified("plan_hash", `The plan of ${id} is not the plan that was hashed.`, "provision audit verify");
  const plan = parseCanonical(bytes) as unknown as Plan;
  if (plan.operation_id !== id)
    throw unverified(
      "plan_hash",
      `The plan stored under ${id} is the plan of ${plan.operation_id}.`,
      "provision audit verify",
    );
  return {
    id,
    plan,
    planBytes: bytes,
    planHash: frozen.plan_hash,
    state: entries.reduce(fold, begin(plan, frozen.plan_hash)),
  };
}

export interface OpenedHere extends Opened {
  tenant: TenantDesk;
  authority: Authority;
}

/** The operation with what the folder says of it now: tenant, policy, verified approvals. */
export async function openHere(desk: Desk, name: string): Promise<OpenedHere> {
  const journal = desk.journal();
  const opened = openOperation(journal, resolveOperation(journal, name));
  const tenant = await desk.tenant(opened.plan.tenant);
  if (tenant.provider.name !== opened.plan.provider) {
    const message = `The plan of ${opened.id} is for the provider ${opened.plan.provider}, and the tenant ${opened.plan.tenant} now uses ${tenant.provider.name}.`;
    throw invalid("provider_changed", message, [], "Plan again.");
  }
  return { ...opened, tenant, authority: authorityFor(desk, tenant, opened.state) };
}

/** The same, to act on it: not where it rests on a word that does not verify. */
export async function openToAct(desk: Desk, name: string): Promise<OpenedHere> {
  const opened = await openHere(desk, name);
  if (opened.authority.word) throw refusalAsError(opened.authority.word);
  return opened;
}
