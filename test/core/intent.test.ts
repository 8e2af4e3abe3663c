import fc from "fast-check";
import { expect, test } from "vitest";
import { planBytes, planHash } from "../../src/core/hashes.ts";
import { intentHash } from "../../src/core/intent.ts";
import { checkRequest } from "../../src/core/validate.ts";
import type { GroupStep } from "../../src/model/plan.ts";
import { acme, catalogOf, holding, intentOf, joiner, planned } from "./acme.ts";

test("groups go from low to high privilege and licences after what they require, however they are written", () => {
  const catalog = catalogOf({ licenses: [{ name: "a-suite", id: "lic_3", requires: ["pro"] }] });
  const writable = catalog.groups.filter((group) => group.membership === "direct" && group.managed_by === "direct");
  const names = writable.map(({ name }) => name);
  fc.assert(
    fc.property(
      fc.shuffledSubarray(names),
      fc.shuffledSubarray(["pro", "basic", "a-suite"], { minLength: 3 }),
      (some, licenses) => {
        const groups = [...new Set([...some, "engineering"])];
        const plan = planned(intentOf({ groups, licenses }, acme({ catalog })));
        const privileges = plan.steps
          .filter((step): step is GroupStep => "group" in step)
          .map(({ group }) => writable.find(({ id }) => id === group.id)?.privilege ?? -1);
        expect(privileges).toEqual([...privileges].sort((a, b) => a - b));
        const order = plan.steps.flatMap((step) => ("license" in step ? [step.license.name] : []));
        expect(order.indexOf("pro")).toBeLessThan(order.indexOf("a-suite"));
        expect(plan.steps.map(({ step }) => step)).toEqual(plan.steps.map((_, at) => at + 1));
      },
    ),
  );
});

const instant = fc
  .date({ min: new Date("2020-01-01"), max: new Date("2090-01-01"), noInvalidDate: true })
  .map((date) => date.toISOString());

test("the intent is the same whatever the time, the salt, the operation id and the readings", () => {
  const salt = fc.string({ unit: fc.constantFrom(..."abcXYZ019-_"), minLength: 22, maxLength: 22 });
  const id = fc.stringMatching(/^[0-9a-z]{8}$/).map((end) => `prov_2026_07_24_${end}`);
  const first = planned(intentOf());
  fc.assert(
    fc.property(instant, salt, id, fc.boolean(), (now, salt, operationId, there) => {
      const intent = intentOf({ preconditions: {} });
      const plan = planned(intent, there ? holding("guest", ["grp_77"]) : {}, { now, salt, operationId });
      expect(plan.intent_hash).toBe(first.intent_hash);
      expect(intentHash(intent)).toBe(first.intent_hash);
      expect(planHash(planBytes(plan))).not.toBe(planHash(planBytes(first)));
    }),
  );
});

test("the order of keys in the request means nothing", () => {
  const hash = planHash(planBytes(planned(intentOf())));
  const keys = Object.keys(joiner());
  fc.assert(
    fc.property(fc.shuffledSubarray(keys, { minLength: keys.length }), (order) => {
      const request = Object.fromEntries(order.map((key) => [key, joiner()[key]]));
      const checked = checkRequest(request, { tenants: ["acme-sandbox"], tenant: acme() });
      expect(checked.ok && planHash(planBytes(planned(checked.intent)))).toBe(hash);
    }),
  );
});

test.each([
  ["another address", { subject: { email: "priya.k@example.test" } }, acme()],
  ["another role", { role: "guest" }, acme()],
  ["another group", { groups: ["engineering", "design"] }, acme()],
  ["fewer groups", { groups: ["engineering"] }, acme()],
  ["another delivery", { invitation: { send_email: true, accept_within: "7d", on_deadline: "stop" } }, acme()],
  [
    "another end of the wait",
    { invitation: { send_email: false, accept_within: "7d", on_deadline: "cancel" } },
    acme(),
  ],
  [
    "another id behind the same name",
    {},
    acme({
      catalog: catalogOf({ groups: [{ name: "engineering", id: "grp_99", membership: "direct", privilege: 20 }] }),
    }),
  ],
])("%s is another plan and another intent", (_what, changes, tenant) => {
  const [before, after] = [planned(intentOf()), planned(intentOf(changes, tenant))];
  expect(planHash(planBytes(after))).not.toBe(planHash(planBytes(before)));
  expect(after.intent_hash).not.toBe(before.intent_hash);
});
