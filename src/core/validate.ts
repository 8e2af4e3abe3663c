import type { CatalogGroup, CatalogLicense, CatalogRole, Lookup } from "../model/catalog.ts";
import { catalogFindings, lookUp } from "../model/catalog.ts";
import { shownDomain } from "../model/email.ts";
import { type Finding, invalid, type ProvisionError } from "../model/errors.ts";
import { nearest } from "../model/nearest.ts";
import type { StepKind } from "../model/plan.ts";
import { type JoinerRequest, parseRequest, type Request } from "../model/request.ts";
import type { Sketch } from "../model/sketch.ts";
import { type Intent, ordered, type TenantFacts } from "./intent.ts";

export interface CheckContext {
  /** Every tenant that the configuration names. */
  tenants: readonly string[];
  /** Of the tenant that the request names; null where it names none that is known. */
  tenant: TenantFacts | null;
}

export type Checked = { ok: true; intent: Intent } | { ok: false; findings: Finding[] };

/** Kinds that compile to a plan. */
const COMPILED = ["joiner"];

/**
 * Judges a request without any credential or call. Everything that is wrong is told at once: what is malformed does
 * not hide an unknown name beside it.
 */
export function checkRequest(input: unknown, context: CheckContext): Checked {
  const { request, sketch, findings } = parseRequest(input);
  const facts = context.tenant?.name === sketch.tenant ? context.tenant : null;
  const all = [...findings, ...tenantFindings(sketch, context)];
  if (facts) all.push(...againstTenant(sketch, request, facts));
  if (all.length > 0 || !request || !facts) return { ok: false, findings: all };
  if (request.kind !== "joiner") return { ok: false, findings: [notCompiled(request.kind)] };
  return { ok: true, intent: intentOf(request, facts) };
}

/** The one error of a refused request, with every finding. */
export function requestError(findings: readonly Finding[]): ProvisionError {
  const [first] = findings;
  if (findings.length === 1 && first?.code === "kind_not_supported") {
    return invalid(first.code, first.message ?? "", findings, `These kinds work: ${COMPILED.join(", ")}.`);
  }
  const count = findings.length === 1 ? "One thing is" : `${findings.length} things are`;
  const message = `The request was refused and nothing was read or sent: ${count} wrong in it.`;
  return invalid("request_refused", message, findings, "Correct what the details name and plan again.");
}

function tenantFindings({ tenant }: Sketch, { tenants }: CheckContext): Finding[] {
  if (tenant === null || tenants.includes(tenant)) return [];
  return [{ path: "tenant", code: "unknown_tenant", found: tenant, allowed: nearest(tenant, tenants) }];
}

function againstTenant(sketch: Sketch, request: Request | null, facts: TenantFacts): Finding[] {
  const { catalog } = facts;
  return [
    ...(sketch.role === null ? [] : nameFindings(lookUp(catalog, "roles", sketch.role), "role", sketch.role, "role")),
    ...sketch.groups.flatMap(({ path, name }) => groupFindings(lookUp(catalog, "groups", name), path, name)),
    ...sketch.licenses.flatMap(({ path, name }) =>
      licenseFindings(lookUp(catalog, "licenses", name), path, name, sketch),
    ),
    ...domainFindings(sketch, facts),
    ...(request?.kind === "joiner" ? addressNeeded(request, facts) : []),
    ...(sketch.kind === "joiner" ? joinerFindings(sketch, facts) : []),
    ...landingFindings(facts),
    ...catalogFindings(catalog).map((one) => ({ ...one, path: `catalog.${one.path}` })),
  ];
}

function nameFindings(found: Lookup<{ name: string }>, path: string, name: string, what: string): Finding[] {
  if (found.kind === "one") return [];
  if (found.kind === "unknown") return [{ path, code: `unknown_${what}`, found: name, allowed: found.nearest }];
  const message = `The catalogue holds ${name} ${found.ids.length} times: ${found.ids.join(", ")}. Nothing says which is meant.`;
  return [{ path, code: "doubled_name", found: name, allowed: found.ids, message }];
}

function groupFindings(found: Lookup<CatalogGroup>, path: string, name: string): Finding[] {
  if (found.kind !== "one") return nameFindings(found, path, name, "group");
  const { membership, managed_by, instead } = found.entry;
  if (membership === "direct" && managed_by === "direct") return [];
  const code = membership === "direct" ? "group_managed" : `group_${membership}`;
  const allowed = instead ?? INSTEAD[membership === "direct" ? "managed" : membership];
  const why = membership === "direct" ? `managed by ${managed_by}` : membership;
  return [{ path, code, found: name, allowed, message: `The membership of ${name} is ${why}. Instead: ${allowed}` }];
}

/** Where the catalogue does not say what to do instead. */
const INSTEAD = {
  nested: "ask for the group through which it is inherited",
  dynamic: "change what its rule looks at",
  synced: "change it where it is synchronised from",
  managed: "change it where it is managed",
};

function licenseFindings(found: Lookup<CatalogLicense>, path: string, name: string, sketch: Sketch): Finding[] {
  if (found.kind !== "one") return nameFindings(found, path, name, "license");
  if (sketch.kind !== "joiner") return [];
  const asked = [...sketch.groups, ...sketch.licenses].map((one) => one.name);
  const missing = found.entry.requires.filter((required) => !asked.includes(required));
  if (missing.length === 0) return [];
  const message = `The licence ${name} requires ${missing.join(", ")}, which the request does not ask for.`;
  return [{ path, code: "requirement_missing", found: name, allowed: missing, message }];
}

function domainFindings({ domain }: Sketch, { allowedDomains }: TenantFacts): Finding[] {
  if (domain === null || allowedDomains.includes(domain)) return [];
  const shown = shownDomain(domain);
  const parent = allowedDomains.find((allowed) => domain.endsWith(`.${allowed}`));
  const message = [
    `${domain}${shown === null ? "" : ` (shown as ${shown})`} is not an allowed domain.`,
    ...(parent === undefined ? [] : [`A sub-domain of ${parent} is another domain.`]),
  ].join(" ");
  return [{ path: "subject.email", code: "domain_not_allowed", found: domain, allowed: [...allowedDomains], message }];
}

/** Where domains are restricted, a login alone would go round the restriction. */
function addressNeeded(request: JoinerRequest, { allowedDomains }: TenantFacts): Finding[] {
  if (request.subject.email !== undefined) return [];
  if (allowedDomains.length === 0 && request.subject.login !== undefined) return [];
  const message = "An invitation on this tenant goes to an address, whose domain is checked.";
  return [{ path: "subject.email", code: "missing", allowed: [...allowedDomains], message }];
}

function joinerFindings(sketch: Sketch, { capabilities, provider }: TenantFacts): Finding[] {
  const needs: readonly [string, StepKind, boolean][] = [
    ["invitation", "invite", true],
    ["role", "set_role", true],
    ["groups", "add_group", sketch.groups.length > 0],
    ["licenses", "assign_license", sketch.licenses.length > 0],
  ];
  const unable = needs.flatMap(([path, kind, needed]): Finding[] => {
    if (!needed || capabilities.stepKinds.includes(kind)) return [];
    const message = `The provider ${provider} has no ${kind}.`;
    return [{ path, code: "not_supported_by_provider", found: kind, allowed: [...capabilities.stepKinds], message }];
  });
  if (sketch.sendEmail !== false || capabilities.mail !== "always") return unable;
  const message = `${provider} mails every invitation; say send_email: true or invite elsewhere.`;
  return [...unable, { path: "invitation.send_email", code: "always_mails", found: false, allowed: true, message }];
}

/** The least that an invitation carries must be little, and must stand in the plan that is approved. */
function landingFindings({ name, landing, catalog }: TenantFacts): Finding[] {
  const path = `tenants.${name}.landing`;
  const found = lookUp(catalog, "roles", landing.role);
  const role = nameFindings(found, `${path}.role`, landing.role, "role");
  if (found.kind === "one" && found.entry.elevated) {
    role.push({
      path: `${path}.role`,
      code: "landing_elevated",
      found: landing.role,
      allowed: "a role that is not elevated",
    });
  }
  if (landing.groups.length === 0) return role;
  const message = "An invitation that puts people into groups is not supported.";
  return [
    ...role,
    { path: `${path}.groups`, code: "landing_groups_not_supported", found: [...landing.groups], allowed: [], message },
  ];
}

function notCompiled(kind: string): Finding {
  const message = `A request of kind ${kind} is well formed and cannot be planned by this version.`;
  return { path: "kind", code: "kind_not_supported", found: kind, allowed: COMPILED, message };
}

function intentOf(request: JoinerRequest, tenant: TenantFacts): Intent {
  const { catalog } = tenant;
  const { email, login, id } = request.subject;
  return {
    request,
    tenant,
    subject: {
      ...(email !== undefined && { email }),
      ...(login !== undefined && { login }),
      ...(id !== undefined && { id }),
    },
    landing: one<CatalogRole>(lookUp(catalog, "roles", tenant.landing.role)),
    role: one<CatalogRole>(lookUp(catalog, "roles", request.role)),
    ...ordered(
      request.groups.map((name) => one<CatalogGroup>(lookUp(catalog, "groups", name))),
      request.licenses.map((name) => one<CatalogLicense>(lookUp(catalog, "licenses", name))),
    ),
  };
}

/** Names were checked before; an entry that is gone meanwhile is a fault of ours. */
function one<T>(found: Lookup<T>): T {
  if (found.kind === "one") return found.entry;
  throw new TypeError("a name that was checked is not in the catalogue");
}
