import type { Catalog } from "../model/catalog.ts";
import { canonical, digest, hashOf } from "../model/json.ts";
import { isWrite, type Plan, type Step } from "../model/plan.ts";
import type { Policy } from "../model/policy.ts";
import { type PolicySubject, relevantPolicy } from "./policy.ts";

/** The bytes that are stored, hashed and approved; nothing serialises the plan again. */
export function planBytes(plan: Plan): string {
  return canonical(plan);
}

/** `sha256:` and the hex digest of the frozen bytes. */
export function planHash(bytes: string): string {
  return `sha256:${digest("plan", bytes)}`;
}

/** Covers the catalogue entries that the steps name, and no others: an edit beside them leaves an approval standing. */
export function catalogHash(steps: readonly Step[], catalog: Catalog): string {
  return hashOf("catalog", relevantCatalog(steps, catalog));
}

/** Covers the rules that the steps meet and the approvers these name. */
export function policyHash(plan: PolicySubject & Pick<Plan, "steps">, policy: Policy, catalog: Catalog): string {
  return hashOf("policy", relevantPolicy(plan, policy, catalog));
}

export function relevantCatalog(
  steps: readonly Step[],
  catalog: Catalog,
): Pick<Catalog, "roles" | "groups" | "licenses"> {
  const ids = { roles: new Set<string>(), groups: new Set<string>(), licenses: new Set<string>() };
  for (const step of steps.filter(isWrite)) {
    if ("role" in step && step.role !== undefined) ids.roles.add(step.role);
    if ("expects" in step && "role" in step.expects) ids.roles.add(step.expects.role);
    if ("group" in step) ids.groups.add(step.group.id);
    if ("license" in step) ids.licenses.add(step.license.id);
  }
  return {
    roles: used(catalog.roles, ids.roles),
    groups: used(catalog.groups, ids.groups),
    licenses: used(catalog.licenses, ids.licenses),
  };
}

function used<T extends { id: string }>(entries: readonly T[], ids: ReadonlySet<string>): T[] {
  return entries.filter(({ id }) => ids.has(id)).sort((a, b) => (a.id < b.id ? -1 : 1));
}
