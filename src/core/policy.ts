import { type Catalog, groupById, roleById } from "../model/catalog.ts";
import { isWrite, type Plan, type WriteStep } from "../model/plan.ts";
import type { Conditions, Match, Policy, PolicyRule } from "../model/policy.ts";
import type { Refusal } from "./approval.ts";
import { actionOf } from "./kinds.ts";

/** What rules can ask of one step. What a step does not have, or nobody knows, is absent. */
export interface StepAttributes {
  tenant: string;
  provider: string;
  action: string;
  /** Name and id. */
  role?: string[];
  group?: string[];
  group_label?: string[];
  subject_domain?: string;
  requester: string;
  /** Whether the step mails the subject. */
  send_email: boolean;
  direction: string;
  reversibility: string;
}

export interface Verdict {
  verdict: "deny" | "ask" | "allow";
  /** Ids of the matching rules, sorted; empty where the default denied. */
  rules: string[];
  /** Principals who may decide: those that every matching ask rule names. */
  approvers: string[];
}

export type PolicySubject = Pick<Plan, "tenant" | "provider" | "requester" | "subject">;

export function attributesOf(step: WriteStep, plan: PolicySubject, catalog: Catalog): StepAttributes {
  const role = "role" in step && step.role !== undefined ? step.role : null;
  const group = "group" in step ? step.group : null;
  const entry = group && groupById(catalog, group.id);
  const domain = plan.subject.email?.split("@").at(-1);
  return {
    tenant: plan.tenant,
    provider: plan.provider,
    action: actionOf(step.kind),
    requester: plan.requester.id,
    send_email: ("send_email" in step && step.send_email) || step.effects.some(({ kind }) => kind === "mail"),
    direction: step.direction,
    reversibility: step.reversibility,
    ...(role !== null && { role: [role, ...both(roleById(catalog, role)?.name)] }),
    ...(group && { group: [group.id, group.name] }),
    ...(entry && { group_label: [...entry.labels, ...(entry.sensitive ? ["sensitive"] : [])] }),
    ...(domain !== undefined && { subject_domain: domain }),
  };
}

function both(name: string | undefined): string[] {
  return name === undefined ? [] : [name];
}

/**
 * Deny is stronger than ask, ask than allow, and what no rule covers is denied. A deny rule also matches where an
 * attribute that it asks about is absent: what cannot be ruled out is not permitted. Other rules then do not match.
 */
export function policyFor(attributes: StepAttributes, policy: Policy): Verdict {
  const matching = policy.rules.filter((rule) => matches(rule, attributes));
  const verdict = (["deny", "ask", "allow"] as const).find((effect) => matching.some((rule) => rule.effect === effect));
  const asked = matching.flatMap((rule) =>
    rule.effect === "ask" ? [rule.approval.from.flatMap((group) => policy.approvers[group] ?? [])] : [],
  );
  const approvers = (asked[0] ?? []).filter((person) => asked.every((people) => people.includes(person)));
  return {
    verdict: verdict ?? "deny",
    rules: matching.map(({ id }) => id).sort(),
    approvers: [...new Set(approvers)].sort(),
  };
}

function matches({ effect, match }: PolicyRule, attributes: StepAttributes): boolean {
  const ifAbsent = effect === "deny";
  const { any_of, ...own } = match;
  return holds(own, attributes, ifAbsent) && (any_of?.some((one) => holds(one, attributes, ifAbsent)) ?? true);
}

function holds(conditions: Conditions, attributes: StepAttributes, ifAbsent: boolean): boolean {
  return (Object.keys(conditions) as (keyof Conditions)[]).every((key) => {
    const found = attributes[key];
    const wanted: Match[keyof Conditions] = conditions[key];
    if (wanted === undefined) return true;
    if (found === undefined) return ifAbsent;
    return among([found].flat(), wanted);
  });
}

type Wanted = string | boolean | readonly string[] | { not_in: readonly string[] };

function among(found: readonly (string | boolean)[], wanted: Wanted): boolean {
  if (typeof wanted !== "object") return found.includes(wanted);
  const listed = "not_in" in wanted ? wanted.not_in : wanted;
  const some = listed.some((one) => found.includes(one));
  return "not_in" in wanted ? !some : some;
}

/** Every step that the policy denies, with the reason. The same at plan and, with the policy of that time, at run. */
export function deniedSteps(
  plan: PolicySubject & Pick<Plan, "steps">,
  policy: Policy,
  catalog: Catalog,
): Map<number, Refusal> {
  const denied = new Map<number, Refusal>();
  for (const step of plan.steps.filter(isWrite)) {
    const { verdict, rules } = policyFor(attributesOf(step, plan, catalog), policy);
    if (verdict !== "deny") continue;
    const by = policy.rules.filter(({ id, effect }) => effect === "deny" && rules.includes(id)).map(({ id }) => id);
    const why = by.length === 0 ? "no rule covers it, and the default is deny" : `by rule ${by.join(", ")}`;
    const message = `Step ${step.step} (${actionOf(step.kind)}) on ${plan.tenant} is denied: ${why}.`;
    denied.set(step.step, {
      code: "policy_denied",
      exit: 13,
      message,
      hint: "The policy file is changed by its owners.",
    });
  }
  return denied;
}

/** The rules that a plan's steps meet and the approvers these name, in one order: what `policy_hash` covers. */
export function relevantPolicy(plan: PolicySubject & Pick<Plan, "steps">, policy: Policy, catalog: Catalog) {
  const used = plan.steps.filter(isWrite).flatMap((step) => policyFor(attributesOf(step, plan, catalog), policy).rules);
  const rules = policy.rules.filter(({ id }) => used.includes(id)).sort((a, b) => (a.id < b.id ? -1 : 1));
  const groups = rules.flatMap((rule) => (rule.effect === "ask" ? rule.approval.from : []));
  const approvers = Object.fromEntries(
    Object.entries(policy.approvers).flatMap(([group, people]) =>
      groups.includes(group) ? [[group, [...people].sort()]] : [],
    ),
  );
  return { default: policy.default, rules, approvers };
}
