import type { Catalog, CatalogGroup, CatalogLicense, CatalogRole } from "../model/catalog.ts";
import { hashOf } from "../model/json.ts";
import type { Named, PlanObservation, Step, StepKind, SubjectKey } from "../model/plan.ts";
import type { Capabilities, Subject } from "../model/provider.ts";
import type { Instant } from "../model/reading.ts";
import type { JoinerRequest } from "../model/request.ts";
import { invitationIn } from "./kinds.ts";

/** What the configuration, the catalogue and the provider say of one tenant. */
export interface TenantFacts {
  name: string;
  provider: string;
  /** A-labels. An address in no listed domain is refused, so that an empty list refuses every address. */
  allowedDomains: readonly string[];
  /** By catalogue name. */
  landing: { role: string; groups: readonly string[] };
  catalog: Catalog;
  capabilities: Capabilities;
  /** Steps of which nothing shows that the provider holds under faults; absent: none. */
  unproven?: readonly StepKind[];
}

/** A request that was found sound, with every name resolved. It depends on no reading. */
export interface Intent {
  request: JoinerRequest;
  tenant: TenantFacts;
  /** As the request gives it, normalised. */
  subject: SubjectKey;
  landing: CatalogRole;
  role: CatalogRole;
  /** From low to high privilege. */
  groups: CatalogGroup[];
  /** Each after what it requires. */
  licenses: CatalogLicense[];
}

/** What a step does, without anything that depends on a reading or on the time. */
export type Draft =
  | { kind: "invite"; send_email: boolean; role: string }
  | { kind: "wait_for_acceptance"; on_deadline: "stop" | "cancel" }
  | { kind: "set_role"; role: string }
  | { kind: "add_group"; group: Named }
  | { kind: "assign_license"; license: Named; requires?: string[] };

/**
 * The steps in their order: the invitation with the least authority, the wait, the role, groups from low to high
 * privilege so that whoever stops half way holds the less, licences after what they require.
 */
export function drafts(intent: Intent): Draft[] {
  const { invitation } = intent.request;
  return [
    { kind: "invite", send_email: invitation.send_email, role: intent.landing.id },
    { kind: "wait_for_acceptance", on_deadline: invitation.on_deadline },
    ...(intent.role.id === intent.landing.id ? [] : [{ kind: "set_role" as const, role: intent.role.id }]),
    ...intent.groups.map(({ name, id }) => ({ kind: "add_group" as const, group: { name, id } })),
    ...intent.licenses.map(({ name, id, requires }) => ({
      kind: "assign_license" as const,
      license: { name, id },
      ...(requires.length > 0 && { requires }),
    })),
  ];
}

/** Covers who gets what on which tenant, and nothing that differs when the same is planned again. */
export function intentHash(intent: Intent): string {
  const { request, tenant, subject } = intent;
  return hashOf("intent", { tenant: tenant.name, kind: request.kind, subject, steps: drafts(intent) });
}

export function ordered(
  groups: readonly CatalogGroup[],
  licenses: readonly CatalogLicense[],
): Pick<Intent, "groups" | "licenses"> {
  const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
  const waiting = [...licenses].sort(byName);
  const given: CatalogLicense[] = [];
  while (waiting.length > 0) {
    const ready = waiting.findIndex(({ requires }) => !waiting.some(({ name }) => requires.includes(name)));
    // A circle was refused with the catalogue; taking the first keeps this total.
    given.push(...waiting.splice(Math.max(ready, 0), 1));
  }
  const rank = (group: CatalogGroup) => group.privilege + (group.sensitive ? 0.5 : 0);
  return { groups: [...groups].sort((a, b) => rank(a) - rank(b) || byName(a, b)), licenses: given };
}

/** One thing to read before the plan can be made. The answer is kept under the same `about`. */
export interface ReadingRequest {
  about: string;
  step: Step;
  subject: Subject;
}

/**
 * What is still to be read, given what was. First the invitation and the account that holds the address; where there is
 * an account, also the exact state of everything that the plan would change on it. Ask until nothing is left.
 */
export function neededReadings(intent: Intent, taken: readonly PlanObservation[], now: Instant): ReadingRequest[] {
  const first = taken.find(({ about }) => about === "invitation");
  const view = first ? invitationIn(first.reading) : null;
  // Where the request says that there is no account, finding one ends the matter.
  const goesOn = view?.account?.status === "active" && intent.request.preconditions.account_absent !== true;
  const account = goesOn ? view.account : null;
  const subject: Subject = account ? { ...intent.subject, id: account.id } : intent.subject;
  const roleToo = intent.role.id === intent.landing.id ? [{ kind: "set_role" as const, role: intent.role.id }] : [];
  return [...drafts(intent), ...roleToo].flatMap((draft, at) => {
    const about = aboutOf(draft);
    const wanted = draft.kind !== "wait_for_acceptance" && (draft.kind === "invite" || account !== null);
    if (!wanted || taken.some((one) => one.about === about)) return [];
    return [{ about, step: bare(draft, at + 1, now), subject }];
  });
}

/** The name under which the reading of a step's target stands in the plan. */
export function aboutOf(draft: Draft): string {
  switch (draft.kind) {
    case "invite":
    case "wait_for_acceptance":
      return "invitation";
    case "set_role":
      return "role";
    case "add_group":
      return `group ${draft.group.id}`;
    case "assign_license":
      return `license ${draft.license.id}`;
    default:
      draft satisfies never;
      throw new TypeError("a draft of unknown kind");
  }
}

/** The step before anything is known: what it expects is what a new account would show. */
export function bare(draft: Draft, step: number, acceptBy: Instant): Step {
  if (draft.kind === "wait_for_acceptance") return { ...draft, step, gate: "none", reversibility: "read_only" };
  const base = {
    step,
    gate: "plan" as const,
    direction: "raise" as const,
    reversibility: "irreversible" as const,
    effects: [],
    undo: null,
    credential: "ordinary" as const,
  };
  switch (draft.kind) {
    case "invite":
      return { ...draft, ...base, accept_by: acceptBy, expects: { account: "absent" } };
    case "set_role":
      return { ...draft, ...base, expects: { role: draft.role } };
    case "add_group":
      return { ...draft, ...base, expects: { member: false } };
    case "assign_license":
      return { ...draft, ...base, expects: { assigned: false } };
    default:
      draft satisfies never;
      throw new TypeError("a draft of unknown kind");
  }
}
