import { z } from "zod";
import { ACTIONS } from "./config.ts";
import { PositiveDuration } from "./duration.ts";
import { invalid, type ProvisionError } from "./errors.ts";
import { findingsOf } from "./findings.ts";
import { ID } from "./ids.ts";
import { ASSURANCES } from "./statement.ts";

const word = z.string().min(1).max(256);
const count = z.int().min(1).max(1_000_000);

/** One value, several of which one must hold, or all but some. */
function oneOf<T extends z.ZodType>(value: T) {
  return z.union([value, z.array(value).min(1), z.strictObject({ not_in: z.array(value).min(1) })]);
}

const conditions = {
  tenant: oneOf(z.string().regex(ID)).optional(),
  provider: oneOf(word).optional(),
  action: oneOf(z.enum(ACTIONS)).optional(),
  /** By catalogue name or by id. */
  role: oneOf(word).optional(),
  group: oneOf(word).optional(),
  /** A label of the group's catalogue entry; `sensitive` is the label of every sensitive group. */
  group_label: oneOf(word).optional(),
  subject_domain: oneOf(word).optional(),
  requester: oneOf(word).optional(),
  send_email: z.boolean().optional(),
  direction: oneOf(z.enum(["raise", "reduce", "neutral"])).optional(),
  reversibility: oneOf(z.enum(["read_only", "reversible", "compensable", "irreversible"])).optional(),
};

const match = z.strictObject({ ...conditions, any_of: z.array(z.strictObject(conditions)).min(1).optional() });

const approval = z.strictObject({
  from: z.array(word).min(1),
  quorum: count.optional(),
  assurance: z.enum(ASSURANCES).optional(),
  single_use: z.boolean().optional(),
  window_max: PositiveDuration.optional(),
  /** What the approver types by hand. */
  typed: z.array(z.enum(["tenant", "role", "group", "subject"])).optional(),
  /** How long the card stands before it can be signed. */
  dwell: PositiveDuration.optional(),
  grantable: z.strictObject({ max_uses: count, max_ttl: PositiveDuration }).optional(),
});

const rule = z.discriminatedUnion("effect", [
  z.strictObject({ id: z.string().regex(ID), effect: z.literal("deny"), match }),
  z.strictObject({ id: z.string().regex(ID), effect: z.literal("ask"), match, approval }),
  z.strictObject({ id: z.string().regex(ID), effect: z.literal("allow"), match }),
]);

/** The rules. What no rule allows or sends to a person is denied; the order of the file means nothing. */
export const policySchema = z.strictObject({
  schema: z.literal("provision.policy/v1").optional(),
  version: z.literal(1),
  default: z.literal("deny"),
  defaults: z
    .strictObject({
      window_max: PositiveDuration.optional(),
      assurance: z.enum(ASSURANCES).optional(),
      quorum: count.optional(),
      self_approval: z.literal("never").optional(),
    })
    .optional(),
  tenants: z
    .record(
      z.string().regex(ID),
      z.strictObject({ sensitivity: z.enum(["low", "medium", "high"]).optional(), catalog: word.optional() }),
    )
    .optional(),
  /** Groups of principals, as the approvers file names them. */
  approvers: z.record(word, z.array(word).min(1)).default({}),
  rules: z.array(rule).default([]),
  limits: z
    .strictObject({
      per_requester: z.strictObject({ operations_per_day: count.optional(), pending_max: count.optional() }).optional(),
      per_tenant: z.strictObject({ elevated_per_day: count.optional() }).optional(),
    })
    .optional(),
});

export type Policy = z.infer<typeof policySchema>;
export type PolicyRule = Policy["rules"][number];
export type AskRule = Extract<PolicyRule, { effect: "ask" }>;
export type Match = PolicyRule["match"];
export type Conditions = Omit<Match, "any_of">;

/**
 * The policy in a file, of which every part is enforced.
 * @throws exit 2: `invalid_policy` with everything that is wrong, `policy_not_supported` with the first part that is not
 *   enforced.
 */
export function parsePolicy(input: unknown, file: string): Policy {
  const { error, data } = policySchema.safeParse(input);
  if (error) throw invalid("invalid_policy", `${file} is no policy.`, findingsOf(error, input, policySchema));
  const unenforced = supportedPolicy(data);
  if (unenforced) throw unenforced;
  return data;
}

const INIT_RULE = "everything-else";
const INIT_GROUP = "approvers";

/**
 * Null where every part of the policy is one that this version enforces: any deny rules, and the one ask rule that
 * `init` writes. Anything else is refused as a whole, since a rule that is read and not enforced is worse than none.
 */
export function supportedPolicy(policy: Policy): ProvisionError | null {
  for (const part of ["defaults", "tenants", "limits"] as const) {
    if (policy[part] !== undefined) return unsupported(part, null, `The section ${part}`);
  }
  const extra = Object.keys(policy.approvers).find((group) => group !== INIT_GROUP);
  if (extra !== undefined) return unsupported(`approvers.${extra}`, null, `The group of approvers ${extra}`);
  const ids = policy.rules.map((one) => one.id);
  for (const [at, one] of policy.rules.entries()) {
    if (ids.indexOf(one.id) !== at) return unsupported(`rules[${at}].id`, one.id, "a second rule of this name");
    const path = one.effect === "deny" ? null : unenforced(one, policy);
    if (path !== null) return unsupported(`rules[${at}].${path}`, one.id, `its ${path}`);
  }
  return null;
}

/** Where the rule is more or other than the one that `init` writes. */
function unenforced(one: Exclude<PolicyRule, { effect: "deny" }>, policy: Policy): string | null {
  if (one.effect === "allow") return "effect";
  if (one.id !== INIT_RULE) return "id";
  const other = Object.keys(one.match).find((condition) => condition !== "tenant");
  if (other !== undefined) return `match.${other}`;
  if (typeof one.match.tenant !== "string") return "match.tenant";
  const extra = Object.keys(one.approval).find((key) => key !== "from");
  if (extra !== undefined) return `approval.${extra}`;
  const known = one.approval.from.length === 1 && one.approval.from[0] === INIT_GROUP;
  return known && policy.approvers[INIT_GROUP] !== undefined ? null : "approval.from";
}

function unsupported(path: string, id: string | null, what: string): ProvisionError {
  const message =
    id === null ? `${what} is not enforced by this version.` : `Rule ${id}: ${what} is not enforced by this version.`;
  return invalid(
    "policy_not_supported",
    `The policy asks for what this version cannot enforce. ${message}`,
    [{ path, code: "policy_not_supported", ...(id === null ? {} : { found: id }), message }],
    `Supported are deny rules and the ask rule "${INIT_RULE}" as \`provision init\` writes it.`,
  );
}

/** The commented policy that `init` writes: one group of approvers is asked for everything, and nobody makes an owner. */
export function INIT_POLICY_YAML(tenant: string, principal: string): string {
  return `schema: provision.policy/v1
version: 1

# What no rule below covers is denied. This is the only value that is accepted.
default: deny

# Who may be asked, by the principals of the approvers file.
approvers:
  ${INIT_GROUP}: [${JSON.stringify(principal)}]

# The order means nothing: of all rules that match, deny is stronger than ask.
# A deny rule also matches where what it asks about is not known.
rules:
  - id: no-owner
    effect: deny
    match: { action: role.set, role: [owner] }

  # Everything else on this tenant is decided by a person.
  - id: ${INIT_RULE}
    effect: ask
    match: { tenant: ${JSON.stringify(tenant)} }
    approval: { from: [${INIT_GROUP}] }
`;
}
