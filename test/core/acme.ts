import { readFileSync } from "node:fs";
import { foldKeys } from "../../src/core/guards.ts";
import { type Intent, neededReadings, type TenantFacts } from "../../src/core/intent.ts";
import { type Compiled, compilePlan, type PlanFacts } from "../../src/core/planner.ts";
import { checkRequest } from "../../src/core/validate.ts";
import { type Catalog, catalogSchema } from "../../src/model/catalog.ts";
import type { Plan, PlanObservation, WriteStep } from "../../src/model/plan.ts";
import { INIT_POLICY_YAML, type Policy, policySchema } from "../../src/model/policy.ts";
import type { Capabilities, Description } from "../../src/model/provider.ts";
import type { InvitationView, Observed, Reading } from "../../src/model/reading.ts";
import { readYaml, readYamlFile } from "../../src/runtime/yaml.ts";

export const NOW = "2026-07-24T10:00:00.000Z";

const CATALOG = readFileSync(new URL("../../fixtures/catalogs/acme-sandbox.json", import.meta.url), "utf8");
const JOINER = readYamlFile(new URL("../../plans/joiner.yaml", import.meta.url).pathname, "the request");
const INIT_POLICY = policySchema.parse(
  readYaml(INIT_POLICY_YAML("acme-sandbox", "approver@acme-sandbox.test"), { file: "policy.yaml" }),
);

/** The catalogue of the fixture; entries given here stand instead of those of the same name, or beside the others. */
export function catalogOf(given: Partial<Record<"roles" | "groups" | "licenses", unknown[]>> = {}): Catalog {
  const plain = JSON.parse(CATALOG) as Record<string, unknown[]>;
  const nameOf = (entry: unknown) => (entry as { name: string }).name;
  for (const [shelf, entries] of Object.entries(given)) {
    const names = entries.map(nameOf);
    plain[shelf] = [...(plain[shelf] ?? []).filter((entry) => !names.includes(nameOf(entry))), ...entries];
  }
  return catalogSchema.parse(plain);
}

const WHOLE = catalogOf();

const capabilities: Capabilities = {
  idempotencyKeyLifetimeMs: 86_400_000,
  guard: "if_match",
  mail: "suppressible",
  authorship: true,
  stepKinds: ["invite", "wait_for_acceptance", "set_role", "add_group", "assign_license"],
};

export function acme(changes: Partial<TenantFacts> = {}): TenantFacts {
  return {
    name: "acme-sandbox",
    provider: "sandbox",
    allowedDomains: ["example.test"],
    landing: { role: "guest", groups: [] },
    catalog: WHOLE,
    capabilities,
    ...changes,
  };
}

/** The policy in this text, or the one that `init` writes. */
export function policyOf(yaml?: string): Policy {
  if (yaml === undefined) return INIT_POLICY;
  return policySchema.parse(readYaml(yaml, { file: "policy.yaml" }));
}

/** The request of the story, as it stands in the plans folder. */
export function joiner(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return { ...JOINER, ...changes };
}

export function intentOf(changes: Record<string, unknown> = {}, tenant: TenantFacts = acme()): Intent {
  const checked = checkRequest(joiner(changes), { tenants: [tenant.name], tenant });
  if (!checked.ok) throw new Error(JSON.stringify(checked.findings));
  return checked.intent;
}

/** What a tenant like the sandbox says of its steps. */
export function describe(step: WriteStep): Description {
  const mail = { kind: "mail" as const, text: "an invitation is mailed" };
  const seat = { kind: "billing" as const, text: "a seat is billed" };
  switch (step.kind) {
    case "invite":
      return {
        reversibility: "compensable",
        effects: step.send_email ? [mail] : [],
        undo: { kind: "cancel_invitation", while: "pending" },
      };
    case "set_role":
      return { reversibility: "reversible", effects: [], undo: { kind: "set_role", role: step.expects.role } };
    case "add_group":
      return { reversibility: "reversible", effects: [], undo: { kind: "remove_group" } };
    default:
      return { reversibility: "reversible", effects: [seat], undo: { kind: "remove_license" } };
  }
}

export function facts(changes: Partial<PlanFacts> = {}): PlanFacts {
  return {
    operationId: "prov_2026_07_24_k3v9q2mz",
    salt: "AAAAAAAAAAAAAAAAAAAAAA",
    now: NOW,
    requester: { id: "os:ana", via: "cli", verified: true, claimed: null },
    policy: policyOf(),
    describe,
    fold: foldKeys,
    self: { kind: "found", value: { id: "usr_bot", email: "bot@example.test", login: null, status: "active" } },
    ownAccounts: [],
    holders: null,
    ...changes,
  };
}

/** The tenant as far as plans look at it: what a reading of each thing gives; what is not named is absent. */
export type World = Record<string, Reading<Observed>>;

const absent: Reading<Observed> = { kind: "absent", proof: "exact" };
export const unreadable: Reading<Observed> = { kind: "unreadable", reason: "forbidden", detail: "HTTP 403" };

export function invitation(changes: Partial<InvitationView> = {}): Reading<Observed> {
  return { kind: "found", value: { of: "invitation", invitation: null, account: null, ...changes }, version: '"1"' };
}

/** A world where the subject has an account with this role and these groups. */
export function holding(role: string, groups: string[] = []): World {
  const account = { id: "usr_1938", email: "priya@example.test", status: "active" as const };
  const member: Reading<Observed> = { kind: "found", value: { of: "membership", member: true } };
  return {
    invitation: invitation({ account }),
    role: { kind: "found", value: { of: "role", role }, version: '"7"' },
    ...Object.fromEntries(groups.map((id) => [`group ${id}`, member])),
  };
}

/** Reads as the shell does: asks what is needed until nothing is. */
export function readAll(intent: Intent, world: World): PlanObservation[] {
  const taken: PlanObservation[] = [];
  for (let round = 0; round < 5; round++) {
    const needed = neededReadings(intent, taken, NOW);
    if (needed.length === 0) return taken;
    for (const { about } of needed) taken.push({ about, at: NOW, reading: world[about] ?? absent });
  }
  throw new Error("the planner asks for readings without end");
}

export function compile(intent: Intent, world: World = {}, changes: Partial<PlanFacts> = {}): Compiled {
  return compilePlan(intent, readAll(intent, { invitation: invitation(), ...world }), facts(changes));
}

export function planned(intent: Intent, world: World = {}, changes: Partial<PlanFacts> = {}): Plan {
  const compiled = compile(intent, world, changes);
  if (!compiled.ok) throw compiled.error;
  return compiled.plan;
}

/** How a plan was refused. */
export function refusal(compiled: Compiled): { code: string; exit: number; message: string } {
  if (compiled.ok) throw new Error("it was planned");
  const { code, exit, message } = compiled.error;
  return { code, exit, message };
}

/** The columns that a person compares: what, on which expectation, decided how. */
export function lines(plan: Plan): string[] {
  return plan.steps.map((step) => {
    const target =
      "group" in step ? step.group.id : "license" in step ? step.license.id : "role" in step ? step.role : "";
    const expects = "expects" in step ? JSON.stringify(step.expects) : "-";
    return [step.step, step.kind, target, expects, step.gate].join(" ").replace("  ", " ");
  });
}
