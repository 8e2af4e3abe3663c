import { expect, test } from "vitest";
import { planBytes, planHash } from "../../src/core/hashes.ts";
import { drafts } from "../../src/core/intent.ts";
import { parseCanonical } from "../../src/model/json.ts";
import { compile, intentOf, lines, NOW, planned, refusal } from "./acme.ts";

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

test("no plan is made where it is not known whose the credential is", () => {
  const self = { kind: "unreadable", reason: "timeout", detail: "no answer in 15 s" } as const;
  expect(refusal(compile(intentOf(), {}, { self }))).toMatchObject({ code: "unreadable", exit: 12 });
});

test("the same intent, readings and facts give the same bytes", () => {
  expect(planBytes(planned(intentOf()))).toBe(planBytes(planned(intentOf())));
});
