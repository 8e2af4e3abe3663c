import fc from "fast-check";
import { expect, test } from "vitest";
import { planBytes, planHash } from "../../src/core/hashes.ts";
import { drafts, intentHash, neededReadings } from "../../src/core/intent.ts";
import { compilePlan } from "../../src/core/planner.ts";
import { checkRequest, requestError } from "../../src/core/validate.ts";
import { parseCanonical } from "../../src/model/json.ts";
import type { GroupStep, Plan } from "../../src/model/plan.ts";
import {
  acme,
  catalogOf,
  compile,
  facts,
  holding,
  intentOf,
  invitation,
  joiner,
  NOW,
  planned,
  readAll,
  refusal,
  unreadable,
} from "./acme.ts";

/** The columns that a person compares: what, on which expectation, decided how. */
function lines(plan: Plan): string[] {
  return plan.steps.map((step) => {
    const target =
      "group" in step ? step.group.id : "license" in step ? step.license.id : "role" in step ? step.role : "";
    const expects = "expects" in step ? JSON.stringify(step.expects) : "-";
    return [step.step, step.kind, target, expects, step.gate].join(" ").replace("  ", " ");
  });
}

test("the story's request becomes the story's plan", () => {
  const plan = planned(intentOf());
  expect(lines(plan)).toEqual([
    '1 invite guest {"account":"absent"} plan',
    "2 wait_for_acceptance - none",
    '3 set_role member {"role":"guest"} plan',
    '4 add_group grp_77 {"member":false} plan',
    '5 add_group grp_81 {"member":false} call',
  ]);
  expect(plan.steps[0]).toEqual({
    step: 1,
    kind: "invite",
    send_email: false,
    role: "guest",
    accept_by: "2026-07-31T10:00:00.000Z",
    expects: { account: "absent" },
    gate: "plan",
    direction: "raise",
    reversibility: "compensable",
    effects: [],
    undo: { kind: "cancel_invitation", while: "pending" },
    credential: "ordinary",
  });
  expect(plan).toMatchObject({
    schema: "provision.plan/v1",
    operation_id: "prov_2026_07_24_k3v9q2mz",
    created_at: NOW,
    tenant: "acme-sandbox",
    provider: "sandbox",
    kind: "joiner",
    subject: { email: "priya@example.test" },
    ticket: "HR-1042",
    preconditions: { account_absent: true, allowed_email_domain: "example.test" },
    observations: [{ about: "invitation", at: NOW, reading: { kind: "found", version: '"1"' } }],
  });
});

test("only the sensitive membership asks for the privileged credential", () => {
  const plan = planned(intentOf());
  expect(plan.steps.map((step) => ("credential" in step ? step.credential : null))).toEqual([
    "ordinary",
    null,
    "ordinary",
    "ordinary",
    "privileged",
  ]);
});

test("the plan's bytes are canonical and read back as the same plan", () => {
  const plan = planned(intentOf());
  expect(parseCanonical(planBytes(plan))).toEqual(plan);
  expect(planHash(planBytes(plan))).toMatch(/^sha256:[0-9a-f]{64}$/);
});

test("nobody is given a role step where the invitation's role is all that was asked", () => {
  expect(drafts(intentOf({ role: "guest" })).map(({ kind }) => kind)).not.toContain("set_role");
});

test("an elevated role, and every write after it, is decided per call", () => {
  const plan = planned(intentOf({ role: "admin", groups: ["engineering"], licenses: ["basic"] }));
  expect(plan.steps.map(({ gate }) => gate)).toEqual(["plan", "none", "call", "call", "call"]);
});

test("an invitation that is mailed is decided per call", () => {
  const plan = planned(intentOf({ invitation: { send_email: true } }));
  expect(plan.steps[0]).toMatchObject({ gate: "call", effects: [{ kind: "mail" }] });
});

test("without an account only the invitation is read; with one, everything that would change", () => {
  const intent = intentOf({ preconditions: {}, licenses: ["pro"] });
  expect(readAll(intent, { invitation: invitation() }).map(({ about }) => about)).toEqual(["invitation"]);
  const taken = readAll(intent, holding("guest"));
  expect(taken.map(({ about }) => about)).toEqual([
    "invitation",
    "role",
    "group grp_77",
    "group grp_81",
    "license lic_1",
  ]);
  const again = neededReadings(intent, taken.slice(0, 1), NOW);
  expect(again.every(({ subject }) => subject.id === "usr_1938")).toBe(true);
});

test("on an existing account what holds already is never sent, and the rest expects what was read", () => {
  const plan = planned(intentOf({ preconditions: {} }), holding("guest", ["grp_77"]));
  expect(lines(plan)).toEqual([
    '1 invite guest {"account":"absent"} none',
    "2 wait_for_acceptance - none",
    '3 set_role member {"role":"guest"} plan',
    '4 add_group grp_77 {"member":true} none',
    '5 add_group grp_81 {"member":false} call',
  ]);
  expect(plan.subject).toEqual({ email: "priya@example.test", id: "usr_1938" });
  expect(plan.steps[3]).toMatchObject({ undo: null, effects: [], direction: "neutral", reversibility: "read_only" });
  expect(plan.observations).toHaveLength(4);
});

test("an account that is there contradicts a request which says that there is none", () => {
  expect(refusal(compile(intentOf(), holding("guest")))).toMatchObject({ code: "precondition_contradicted", exit: 6 });
});

test.each([
  ["an administrator", "admin"],
  ["a role that the catalogue does not know", "auditor"],
])("inviting the address of %s again never touches that role", (_who, role) => {
  expect(refusal(compile(intentOf({ preconditions: {} }), holding(role)))).toMatchObject({
    code: "account_holds_more",
    exit: 6,
  });
});

test("a suspended account, or one with another address or id, is no place to go on", () => {
  const at = (account: { id: string; email: string | null; status: "active" | "suspended" }, changes = {}) =>
    refusal(
      compile(intentOf({ preconditions: {}, ...changes }), {
        ...holding("guest"),
        invitation: invitation({ account }),
      }),
    ).code;
  expect(at({ id: "u", email: "priya@example.test", status: "suspended" })).toBe("account_suspended");
  expect(at({ id: "u", email: "root@example.test", status: "active" })).toBe("subject_ambiguous");
  const subject = { email: "priya@example.test", id: "v" };
  expect(at({ id: "u", email: "Priya@example.test", status: "active" }, { subject })).toBe("subject_ambiguous");
  expect(refusal(compile(intentOf({ subject })))).toMatchObject({ code: "subject_absent", exit: 6 });
});

test("the same address in another letter case is the same account", () => {
  const account = { id: "usr_1938", email: "PRIYA@Example.test", status: "active" } as const;
  const plan = planned(intentOf({ preconditions: {} }), { ...holding("guest"), invitation: invitation({ account }) });
  expect(plan.subject).toEqual({ email: "priya@example.test", id: "usr_1938" });
});

test("an open invitation with the landing role is taken over, and none is sent", () => {
  const open = { id: "inv_1", status: "pending", role: "guest", accepted_by: null, mailed: false } as const;
  const compiled = compile(intentOf(), { invitation: invitation({ invitation: open }) });
  expect(compiled).toMatchObject({ ok: true, plan: { steps: { 0: { gate: "none", undo: null } } } });
  expect(compiled.ok && compiled.notices.join()).toContain("inv_1");
});

test("an open invitation that carries more than the landing role is not taken over", () => {
  const open = { id: "inv_1", status: "pending", role: "admin", accepted_by: null, mailed: false } as const;
  const compiled = compile(intentOf(), { invitation: invitation({ invitation: open }) });
  expect(refusal(compiled)).toMatchObject({ code: "pending_invitation_differs", exit: 6 });
});

test.each(["expired", "declined", "cancelled", "accepted"] as const)(
  "an invitation that is %s is named and another one planned",
  (status) => {
    const old = { id: "inv_1", status, role: "guest", accepted_by: null, mailed: false };
    const compiled = compile(intentOf(), { invitation: invitation({ invitation: old }) });
    expect(compiled).toMatchObject({ ok: true, plan: { steps: { 0: { gate: "plan" } } } });
    expect(compiled.ok && compiled.notices.join()).toContain(`inv_1) is ${status}`);
  },
);

test.each(["invitation", "role", "group grp_77", "group grp_81"])(
  "no plan is made where the %s could not be read",
  (about) => {
    const compiled = compile(intentOf({ preconditions: {} }), { ...holding("guest"), [about]: unreadable });
    expect(refusal(compiled)).toMatchObject({ code: "unreadable", exit: 12, message: expect.stringContaining(about) });
  },
);

test("a reading that was never taken is not taken for absence", () => {
  const intent = intentOf({ preconditions: {} });
  const all = readAll(intent, holding("guest"));
  for (const { about } of all) {
    const compiled = compilePlan(
      intent,
      all.filter((one) => one.about !== about),
      facts(),
    );
    expect(refusal(compiled)).toMatchObject({ code: "unreadable", exit: 12 });
  }
});

test("no plan is made where it is not known whose the credential is", () => {
  const self = { kind: "unreadable", reason: "timeout", detail: "no answer in 15 s" } as const;
  expect(refusal(compile(intentOf(), {}, { self }))).toMatchObject({ code: "unreadable", exit: 12 });
});

test("a provider that always mails cannot be asked not to", () => {
  const tenant = acme();
  const capabilities = { ...tenant.capabilities, mail: "always" as const };
  const checked = checkRequest(joiner(), { tenants: [tenant.name], tenant: { ...tenant, capabilities } });
  expect(checked).toMatchObject({ ok: false, findings: [{ path: "invitation.send_email", code: "always_mails" }] });
});

test("what a provider cannot do is refused before anything is read", () => {
  const tenant = acme();
  const capabilities = { ...tenant.capabilities, stepKinds: ["invite", "wait_for_acceptance", "set_role"] as const };
  const checked = checkRequest(joiner(), { tenants: [tenant.name], tenant: { ...tenant, capabilities } });
  expect(checked).toMatchObject({ ok: false, findings: [{ path: "groups", code: "not_supported_by_provider" }] });
});

test("a landing role that is elevated or unknown, and landing groups, are refused with the place in the configuration", () => {
  const codes = (landing: { role: string; groups: string[] }) => {
    const tenant = acme({ landing });
    const checked = checkRequest(joiner(), { tenants: [tenant.name], tenant });
    return checked.ok ? [] : checked.findings.map(({ path, code }) => `${path} ${code}`);
  };
  expect(codes({ role: "admin", groups: [] })).toEqual(["tenants.acme-sandbox.landing.role landing_elevated"]);
  expect(codes({ role: "gust", groups: [] })).toEqual(["tenants.acme-sandbox.landing.role unknown_role"]);
  expect(codes({ role: "guest", groups: ["everyone"] })).toEqual([
    "tenants.acme-sandbox.landing.groups landing_groups_not_supported",
  ]);
});

test("the error of a refused request carries every finding and exits 2", () => {
  const checked = checkRequest(joiner({ role: "x", groups: ["y"] }), { tenants: ["acme-sandbox"], tenant: acme() });
  const error = requestError(checked.ok ? [] : checked.findings);
  expect(error).toMatchObject({ code: "request_refused", exit: 2, details: [{ path: "role" }, { path: "groups[0]" }] });
  const later = requestError([{ path: "kind", code: "kind_not_supported", message: "m" }]);
  expect(later).toMatchObject({ code: "kind_not_supported", exit: 2, hint: expect.stringContaining("joiner") });
});

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

test("the same intent, readings and facts give the same bytes", () => {
  expect(planBytes(planned(intentOf()))).toBe(planBytes(planned(intentOf())));
});
