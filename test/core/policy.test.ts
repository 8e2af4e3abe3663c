import fc from "fast-check";
import { expect, test } from "vitest";
import { catalogHash, policyHash } from "../../src/core/hashes.ts";
import { attributesOf, deniedSteps, policyFor, type StepAttributes } from "../../src/core/policy.ts";
import type { WriteStep } from "../../src/model/plan.ts";
import { INIT_POLICY_YAML, type Policy } from "../../src/model/policy.ts";
import { catalogOf, compile, intentOf, planned, policyOf, refusal } from "./acme.ts";

const INIT = INIT_POLICY_YAML("acme-sandbox", "approver@acme-sandbox.test");

function withRules(...rules: string[]): Policy {
  return policyOf(INIT + rules.map((rule) => `  - ${rule}\n`).join(""));
}

function deny(match: string): Policy {
  return withRules(`{ id: extra, effect: deny, match: ${match} }`);
}

const attributes: StepAttributes = {
  tenant: "acme-sandbox",
  provider: "sandbox",
  action: "group.add",
  group: ["grp_77", "engineering"],
  group_label: ["team"],
  subject_domain: "example.test",
  requester: "os:ana",
  send_email: false,
  direction: "raise",
  reversibility: "reversible",
};

test("what init wrote asks its approver for a step on its tenant", () => {
  const verdict = { verdict: "ask", rules: ["everything-else"], approvers: ["approver@acme-sandbox.test"] };
  expect(policyFor(attributes, policyOf())).toEqual(verdict);
});

test("what no rule covers is denied", () => {
  expect(policyFor({ ...attributes, tenant: "acme-production" }, policyOf())).toMatchObject({
    verdict: "deny",
    rules: [],
  });
});

test.each([
  "{ action: group.add }",
  "{ action: [role.set, group.add] }",
  "{ group: engineering }",
  "{ group: grp_77 }",
  "{ group_label: team }",
  "{ requester: { not_in: [os:bob] } }",
  "{ subject_domain: { not_in: [elsewhere.test] } }",
  "{ direction: raise, reversibility: reversible }",
  "{ send_email: false }",
  "{ any_of: [{ action: role.set }, { group: engineering }] }",
  "{ tenant: acme-sandbox, any_of: [{ action: group.add }] }",
])("a deny rule is stronger than the ask rule beside it: %s", (match) => {
  expect(policyFor(attributes, deny(match))).toMatchObject({ verdict: "deny", rules: ["everything-else", "extra"] });
});

test.each([
  "{ action: role.set }",
  "{ group: design }",
  "{ group_label: { not_in: [team] } }",
  "{ action: group.add, send_email: true }",
  "{ any_of: [{ action: role.set }, { group: design }] }",
  "{ tenant: acme-production, any_of: [{ action: group.add }] }",
])("a deny rule that looks at something else does not match: %s", (match) => {
  expect(policyFor(attributes, deny(match)).verdict).toBe("ask");
});

test("what is not known matches a deny rule, and no other", () => {
  const { subject_domain: _, ...unknown } = attributes;
  expect(policyFor(unknown, deny("{ subject_domain: elsewhere.test }")).verdict).toBe("deny");
  expect(policyFor(attributes, deny("{ role: owner }")).verdict).toBe("deny");
  expect(policyFor(attributes, deny("{ action: role.set, role: owner }")).verdict).toBe("ask");
  const asks = policyOf(INIT.replace('{ tenant: "acme-sandbox" }', '{ tenant: "acme-sandbox", role: member }'));
  expect(policyFor(attributes, asks)).toMatchObject({ verdict: "deny", rules: [] });
});

test("who may decide is whoever every matching ask rule names", () => {
  const groups = "approvers:\n  sec: [approver@acme-sandbox.test, carol@example.test]\n";
  const more = "  - { id: more, effect: ask, match: { action: group.add }, approval: { from: [sec] } }\n";
  const two = INIT.replace("approvers:\n", groups).replace('.test"]', '.test", bob@example.test]') + more;
  expect(policyFor(attributes, policyOf(two)).approvers).toEqual(["approver@acme-sandbox.test"]);
});

test("the order of the rules means nothing", () => {
  const policy = withRules(
    "{ id: a, effect: deny, match: { action: role.set } }",
    "{ id: b, effect: allow, match: { tenant: acme-sandbox } }",
    "{ id: c, effect: deny, match: { role: owner, action: role.set } }",
  );
  fc.assert(
    fc.property(fc.shuffledSubarray(policy.rules, { minLength: policy.rules.length }), (rules) => {
      expect(policyFor(attributes, { ...policy, rules })).toEqual(policyFor(attributes, policy));
    }),
  );
});

test("a step's attributes come from the step, the plan and the catalogue", () => {
  const plan = planned(intentOf());
  const of = (step: number) => attributesOf(plan.steps[step - 1] as WriteStep, plan, catalogOf());
  expect(of(1)).toMatchObject({
    action: "invitation.create",
    role: ["guest", "guest"],
    send_email: false,
    subject_domain: "example.test",
  });
  expect(of(4)).toMatchObject({
    action: "group.add",
    group: ["grp_77", "engineering"],
    group_label: ["team"],
    requester: "os:ana",
  });
  expect(of(5)).toMatchObject({ group_label: ["sensitive"] });
  expect(of(4)).not.toHaveProperty("role");
});

test("a plan that the policy denies is not made, and says which steps and rules", () => {
  const refused = compile(intentOf({ role: "owner" }));
  expect(refusal(refused)).toMatchObject({
    code: "policy_denied",
    exit: 13,
    message: expect.stringContaining("no-owner"),
  });
  const none = compile(intentOf(), {}, { policy: policyOf("version: 1\ndefault: deny\n") });
  expect(refusal(none)).toMatchObject({ code: "policy_denied", message: expect.stringContaining("default is deny") });
  expect(none.ok ? [] : none.error.details.map(({ path }) => path)).toEqual([
    "steps[0]",
    "steps[2]",
    "steps[3]",
    "steps[4]",
  ]);
});

test("a policy that turned against a frozen plan denies the same steps at run", () => {
  const plan = planned(intentOf());
  const later = deny("{ group_label: sensitive, action: group.add }");
  expect([...deniedSteps(plan, later, catalogOf()).keys()]).toEqual([5]);
});

test("the policy hash covers the rules that the plan meets and their approvers, and no others", () => {
  const plan = planned(intentOf());
  const hash = (policy: Policy) => policyHash(plan, policy, catalogOf());
  expect(plan.policy_hash).toBe(hash(policyOf()));
  expect(hash(deny("{ tenant: acme-production }"))).toBe(plan.policy_hash);
  expect(hash(deny("{ action: group.add, group_label: sensitive }"))).not.toBe(plan.policy_hash);
  const other = policyOf(INIT_POLICY_YAML("acme-sandbox", "carol@example.test"));
  expect(hash(other)).not.toBe(plan.policy_hash);
});

test("the catalogue hash covers the entries that the plan uses, and no others", () => {
  const { steps, catalog_hash } = planned(intentOf());
  const engineering = {
    name: "engineering",
    id: "grp_77",
    membership: "direct",
    privilege: 20,
    labels: ["team"],
    owner: "it-leads",
  };
  expect(catalogHash(steps, catalogOf())).toBe(catalog_hash);
  expect(catalogHash(steps, catalogOf({ groups: [{ name: "new", id: "grp_5", membership: "direct" }] }))).toBe(
    catalog_hash,
  );
  expect(catalogHash(steps, catalogOf({ groups: [engineering] }))).toBe(catalog_hash);
  expect(catalogHash(steps, catalogOf({ groups: [{ ...engineering, sensitive: true }] }))).not.toBe(catalog_hash);
  expect(catalogHash(steps, catalogOf({ roles: [{ name: "guest", id: "guest", privilege: 1 }] }))).not.toBe(
    catalog_hash,
  );
});
