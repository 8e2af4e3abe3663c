import { expect, test } from "vitest";
import { neededReadings } from "../../src/core/intent.ts";
import { compilePlan } from "../../src/core/planner.ts";
import {
  compile,
  facts,
  holding,
  intentOf,
  invitation,
  lines,
  NOW,
  planned,
  readAll,
  refusal,
  unreadable,
} from "./acme.ts";

test("without an account only the invitation is read; with one, everything that would change", () => {
  const intent = intentOf({ preconditions: {}, licenses: ["pro"] });
  expect(readAll(intent, { invitation: invitation() }).map(({ about }) => about)).toEqual(["invitation"]);
  expect(readAll(intentOf(), holding("guest")).map(({ about }) => about)).toEqual(["invitation"]);
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
