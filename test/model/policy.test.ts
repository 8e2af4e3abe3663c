import { expect, test } from "vitest";
import { INIT_POLICY_YAML, parsePolicy, supportedPolicy } from "../../src/model/policy.ts";
import { readYaml } from "../../src/runtime/yaml.ts";
import { policyOf } from "../core/acme.ts";

const INIT = INIT_POLICY_YAML("acme-sandbox", "approver@acme-sandbox.test");

/** A policy that uses everything the schema knows. */
const FULL = `version: 1
default: deny
defaults: { window_max: 3600s, assurance: touch, quorum: 1, self_approval: never }
tenants: { acme-production: { sensitivity: high, catalog: catalog/acme.yaml } }
approvers: { it-leads: [ana@example.test, bob@example.test], sec: [carol@example.test] }
rules:
  - { id: foreign, effect: deny, match: { subject_domain: { not_in: [example.test] } } }
  - id: elevated
    effect: ask
    match: { any_of: [{ action: role.set, role: [admin] }, { action: group.add, group_label: sensitive }] }
    approval: { from: [it-leads, sec], quorum: 2, assurance: touch_uv, single_use: true, window_max: 900s, typed: [tenant, role], dwell: 15s }
  - id: routine
    effect: ask
    match: { tenant: acme-production, action: [invitation.create, group.add], send_email: false }
    approval: { from: [it-leads], window_max: 4h, grantable: { max_uses: 20, max_ttl: 8h } }
  - { id: sandbox, effect: allow, match: { tenant: acme-sandbox, requester: ["agent:ci"] } }
limits: { per_requester: { operations_per_day: 50, pending_max: 5 }, per_tenant: { elevated_per_day: 10 } }
`;

function thrown(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}

test("the policy that init writes is read and supported", () => {
  expect(supportedPolicy(policyOf(INIT))).toBeNull();
  expect(policyOf(INIT)).toMatchObject({ default: "deny", approvers: { approvers: ["approver@acme-sandbox.test"] } });
});

test("the whole schema is read, with durations in milliseconds", () => {
  expect(policyOf(FULL)).toMatchObject({
    defaults: { window_max: 3_600_000 },
    rules: { 1: { approval: { dwell: 15_000 } } },
  });
});

test("deny rules of any shape, and a policy of nothing else, are supported", () => {
  const more = "  - { id: d, effect: deny, match: { any_of: [{ group: [g] }, { direction: raise }] } }\n";
  expect(supportedPolicy(policyOf(INIT + more))).toBeNull();
  expect(supportedPolicy(policyOf("version: 1\ndefault: deny\n"))).toBeNull();
});

test.each([
  ["default: allow", INIT.replace("default: deny", "default: allow"), "default", "not_allowed"],
  [
    "an action that does not exist",
    INIT.replace("action: role.set", "action: set_role"),
    "rules[0].match.action",
    "not_allowed",
  ],
  ["a key that does not exist", INIT.replace("role: [owner]", "roles: [owner]"), "rules[0].match.roles", "unknown_key"],
  ["an ask rule without approvers", INIT.replace(/\n +approval: .*/, ""), "rules[1].approval", "missing"],
  ["approval by oneself", `${INIT}defaults: { self_approval: always }\n`, "defaults.self_approval", "not_allowed"],
])("malformed: %s", (_what, yaml, path, code) => {
  const input = readYaml(yaml, { file: "policy.yaml" });
  const details = expect.arrayContaining([expect.objectContaining({ path, code })]);
  expect(thrown(() => parsePolicy(input, "policy.yaml"))).toMatchObject({ code: "invalid_policy", exit: 2, details });
});

test.each([
  ["an allow rule", INIT.replace("effect: ask", "effect: allow").replace(/\n +approval: .*/, ""), "rules[1].effect"],
  ["another ask rule", INIT.replace("id: everything-else", "id: routine"), "rules[1].id"],
  [
    "an ask rule that looks at more than the tenant",
    INIT.replace('match: { tenant: "acme-sandbox" }', 'match: { tenant: "acme-sandbox", action: group.add }'),
    "rules[1].match.action",
  ],
  [
    "an ask rule for every tenant",
    INIT.replace('match: { tenant: "acme-sandbox" }', "match: {}"),
    "rules[1].match.tenant",
  ],
  ["a quorum", INIT.replace("from: [approvers]", "from: [approvers], quorum: 2"), "rules[1].approval.quorum"],
  [
    "approvers that nobody listed",
    INIT.replace("approvers:\n  approvers:", "approvers: {}\nx:\n").replace(/\nx:\n.*\n/, "\n"),
    "rules[1].approval.from",
  ],
  ["limits", `${INIT}limits: { per_requester: { pending_max: 1 } }\n`, "limits"],
  ["defaults", `${INIT}defaults: { quorum: 2 }\n`, "defaults"],
  ["a rule that stands twice", `${INIT}  - { id: no-owner, effect: deny, match: { role: admin } }\n`, "rules[2].id"],
])("well formed, and refused because nothing would enforce it: %s", (_what, yaml, path) => {
  const error = supportedPolicy(policyOf(yaml));
  expect(error).toMatchObject({ code: "policy_not_supported", exit: 2, details: [{ path }] });
  expect(error?.message).toMatch(/not enforced/);
  expect(thrown(() => parsePolicy(readYaml(yaml, { file: "p" }), "p"))).toMatchObject({ code: "policy_not_supported" });
});

test("a tenant and a principal with hostile characters cannot add a rule to what init writes", () => {
  const yaml = INIT_POLICY_YAML("acme", 'x"]\nrules: []\n#');
  expect(policyOf(yaml).approvers).toEqual({ approvers: ['x"]\nrules: []\n#'] });
  expect(policyOf(yaml).rules).toHaveLength(2);
});
