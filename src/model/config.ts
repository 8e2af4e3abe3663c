import { z } from "zod";
import { Duration, PositiveDuration } from "./duration.ts";
import { normaliseDomain } from "./email.ts";
import { ID } from "./ids.ts";
import { nearest } from "./nearest.ts";
import type { STEP_KINDS } from "./plan.ts";

export const PROVIDER_NAMES = ["sandbox", "github", "scim", "entra", "google", "slack", "okta"] as const;
export type ProviderName = (typeof PROVIDER_NAMES)[number];

/** What an agent may be allowed to ask for: the words that policy and messages use for the steps. */
export const ACTIONS = [
  "invitation.create",
  "account.create",
  "acceptance.wait",
  "role.set",
  "group.add",
  "group.remove",
  "license.assign",
  "license.remove",
  "invitation.cancel",
  "sessions.revoke",
  "credentials.revoke",
  "account.suspend",
  "account.restore",
  "member.remove",
  "account.delete",
] as const satisfies { length: (typeof STEP_KINDS)["length"] };

const text = z
  .string()
  .min(1)
  .max(4096)
  .refine((value) => !/[\p{Cc}\p{Cf}]/u.test(value), {
    params: { code: "control_character", allowed: "text without control or invisible characters" },
  });
const id = z.string().regex(ID);
const envName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/);
const argv = z
  .array(
    z
      .string()
      .max(4096)
      .refine((part) => !part.includes("\0")),
  )
  .min(1)
  .refine(([program]) => /^(\/|[A-Za-z]:[\\/])/.test(program ?? ""), {
    params: { code: "relative_command", allowed: "the absolute path of a program, then its arguments" },
  });

/** Rules across keys run although a key beside them is wrong, so that one look tells everything. */
const ALWAYS = { when: () => true };

/** Says what is wrong where a mapping must hold exactly one of some keys. */
function exactlyOne(keys: readonly string[]) {
  return (value: unknown, context: z.core.$RefinementCtx): void => {
    if (!isMap(value) || keys.filter((key) => Object.hasOwn(value, key)).length === 1) return;
    context.addIssue({ code: "custom", params: { code: "exactly_one", allowed: keys } });
  };
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Where a token comes from; never the token. `account` is the id or address of the account behind it. */
const CredentialSource = z
  .strictObject({
    env: envName.optional(),
    file: text.optional(),
    command: argv.optional(),
    keyring: text.optional(),
    account: text.optional(),
  })
  .superRefine(exactlyOne(["env", "file", "command", "keyring"]), ALWAYS);

const BaseUrl = z.union([
  text,
  z.strictObject({ env: envName.optional(), file: text.optional() }).superRefine(exactlyOne(["env", "file"]), ALWAYS),
]);

const Timing = z.strictObject({
  request: PositiveDuration.optional(),
  settle: Duration.optional(),
  lease: PositiveDuration.optional(),
});

const Domain = z.string().transform((written, context) => {
  const checked = normaliseDomain(written);
  if (checked.ok) return checked.domain;
  const message = checked.faults.map((fault) => fault.message).join(" ");
  context.addIssue({ code: "custom", message, params: { code: checked.faults[0]?.code, allowed: "a domain name" } });
  return z.NEVER;
});

const TenantEntry = z.strictObject({
  provider: z.enum(PROVIDER_NAMES),
  base_url: BaseUrl,
  allowed_email_domains: z.array(Domain),
  /** Absent: `catalog/<tenant>.yaml`. */
  catalog: text.optional(),
  landing: z.strictObject({ role: text, groups: z.array(text).default([]) }),
  credentials: z
    .strictObject({
      read: CredentialSource.optional(),
      ordinary: CredentialSource.optional(),
      privileged: CredentialSource.optional(),
    })
    .default({}),
  timing: Timing.optional(),
});

const Agent = z.strictObject({
  tenants: z.array(id),
  actions: z.array(z.enum(ACTIONS)),
  limits: z
    .strictObject({ pending: z.int().min(0).optional(), operations_per_day: z.int().min(0).optional() })
    .default({}),
});

/** `provision.yaml`, without its optional `schema` header. */
export const Config = z
  .strictObject({
    version: z.literal(1),
    tenants: z.record(id, TenantEntry),
    policy: text.default("policy.yaml"),
    approvers: text.default("approvers"),
    revoked: text.optional(),
    timing: Timing.optional(),
    /** Account name to person: which accounts are one person. */
    identities: z.record(text, text).default({}),
    approvals: z.strictObject({ software_keys: z.literal("allow").optional() }).default({}),
    agents: z.record(z.string().regex(/^agent:[A-Za-z0-9._-]{1,64}$/), Agent).default({}),
  })
  .superRefine(agentsOfKnownTenants, ALWAYS);

function agentsOfKnownTenants(config: unknown, context: z.core.$RefinementCtx): void {
  if (!isMap(config) || !isMap(config.agents) || !isMap(config.tenants)) return;
  const known = Object.keys(config.tenants);
  for (const [name, agent] of Object.entries(config.agents)) {
    if (!isMap(agent) || !Array.isArray(agent.tenants)) continue;
    agent.tenants.forEach((tenant: unknown, index) => {
      if (typeof tenant !== "string" || known.includes(tenant)) return;
      const params = { code: "unknown_tenant", allowed: nearest(tenant, known) };
      context.addIssue({ code: "custom", path: ["agents", name, "tenants", index], params });
    });
  }
}

export type Config = z.infer<typeof Config>;
export type TenantEntry = z.infer<typeof TenantEntry>;
export type CredentialSource = z.infer<typeof CredentialSource>;
export type TimingEntry = z.infer<typeof Timing>;
