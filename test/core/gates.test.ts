import { expect, test } from "vitest";
import { credentialOf, directionOf, gateNow, gateOf } from "../../src/core/gates.ts";
import type { Effect, WriteStep } from "../../src/model/plan.ts";
import { catalogOf } from "./acme.ts";

const catalog = catalogOf();
const base = {
  step: 1,
  gate: "plan" as const,
  direction: "raise" as const,
  reversibility: "reversible" as const,
  effects: [] as Effect[],
  undo: null,
  credential: "ordinary" as const,
};

/** A step as a plan would hold it, with the direction that its own stakes give. */
function judged(step: Record<string, unknown>, heldRole: string | null) {
  const whole = { ...base, ...step } as unknown as WriteStep;
  const stakes = { catalog, heldRole };
  whole.direction = directionOf(whole, stakes);
  return `${whole.direction} ${gateOf(whole, stakes)} ${credentialOf(whole, stakes)}`;
}

const group = (id: string) => ({ group: { name: id, id } });
const invite = { kind: "invite", role: "guest", send_email: false };
const data: Effect = { kind: "data", text: "their files are lost" };

test.each<[string, Record<string, unknown>, string | null, string]>([
  ["an invitation without mail", invite, null, "raise plan ordinary"],
  ["an invitation with mail", { ...invite, send_email: true }, null, "raise call ordinary"],
  ["a role that is not elevated", { kind: "set_role", role: "member" }, "guest", "raise plan ordinary"],
  ["an elevated role", { kind: "set_role", role: "admin" }, "guest", "raise call privileged"],
  ["from one elevated role up to another", { kind: "set_role", role: "owner" }, "admin", "raise call privileged"],
  ["an elevated role taken", { kind: "set_role", role: "member" }, "admin", "reduce plan privileged"],
  ["from an unknown role", { kind: "set_role", role: "member" }, "auditor", "raise call privileged"],
  ["to an unknown role", { kind: "set_role", role: "auditor" }, "guest", "raise call privileged"],
  ["an ordinary group", { kind: "add_group", ...group("grp_77") }, "member", "raise plan ordinary"],
  ["a sensitive group", { kind: "add_group", ...group("grp_81") }, "member", "raise call privileged"],
  [
    "a group that the catalogue does not know",
    { kind: "add_group", ...group("grp_0") },
    "member",
    "raise call privileged",
  ],
  ["an ordinary group for an administrator", { kind: "add_group", ...group("grp_77") }, "admin", "raise call ordinary"],
  [
    "an administrator's ordinary group taken",
    { kind: "remove_group", ...group("grp_77") },
    "admin",
    "reduce plan ordinary",
  ],
  ["a sensitive group taken", { kind: "remove_group", ...group("grp_81") }, "member", "reduce plan privileged"],
  ["a licence", { kind: "assign_license", license: { name: "pro", id: "lic_1" } }, "member", "raise plan ordinary"],
  ["sessions of an administrator ended", { kind: "revoke_sessions" }, "admin", "reduce plan ordinary"],
  [
    "credentials ended, which a tenant may count among its data",
    { kind: "revoke_credentials", effects: [data] },
    "member",
    "reduce plan ordinary",
  ],
  ["an administrator suspended", { kind: "suspend_account" }, "admin", "reduce plan ordinary"],
  ["an administrator restored", { kind: "restore_account" }, "admin", "raise call ordinary"],
  ["a member removed", { kind: "remove_member" }, "member", "reduce plan ordinary"],
  ["a member removed with loss of data", { kind: "remove_member", effects: [data] }, "member", "neutral call ordinary"],
  ["an account deleted", { kind: "delete_account" }, "member", "neutral call ordinary"],
  ["an administrator's account deleted", { kind: "delete_account" }, "admin", "neutral call privileged"],
])("%s", (_what, step, heldRole, expected) => {
  expect(judged(step, heldRole)).toBe(expected);
});

test("two roles of one privilege grant different things, so that going from one to the other raises", () => {
  const twins = catalogOf({ roles: [{ name: "editor", id: "editor", privilege: 10 }] });
  const step = { ...base, kind: "set_role", role: "editor", expects: { role: "member" } } satisfies WriteStep;
  expect(directionOf(step, { catalog: twins, heldRole: "member" })).toBe("raise");
});

test("at its turn a gate rises where the account has become an administrator's, and never falls", () => {
  const step = { ...base, kind: "add_group", ...group("grp_77"), expects: { member: false } } as const;
  expect(gateNow(step, { catalog, heldRole: "member" })).toBe("plan");
  expect(gateNow(step, { catalog, heldRole: "admin" })).toBe("call");
  expect(gateNow({ ...step, gate: "call" }, { catalog, heldRole: "member" })).toBe("call");
  expect(gateNow({ ...step, gate: "none" }, { catalog, heldRole: "admin" })).toBe("none");
});

test("what nothing shows to hold is decided per call, unless it only reduces", () => {
  const unproven = ["add_group", "remove_group"] as const;
  const add = { ...base, kind: "add_group", ...group("grp_77"), expects: { member: false } } as const;
  const remove = {
    ...base,
    direction: "reduce",
    kind: "remove_group",
    ...group("grp_77"),
    expects: { member: true },
  } as const;
  const assign = {
    ...base,
    kind: "assign_license",
    license: { name: "pro", id: "lic_1" },
    expects: { assigned: false },
  } as const;
  const stakes = { catalog, heldRole: "member", unproven };
  expect([add, remove, assign].map((step) => gateOf(step, stakes))).toEqual(["call", "plan", "plan"]);
  expect([add, remove, assign].map((step) => gateNow(step, stakes))).toEqual(["call", "plan", "plan"]);
});

test("a step that only reduces stays decided with the plan, whatever the account holds at its turn", () => {
  const step = {
    ...base,
    direction: "reduce",
    kind: "remove_group",
    ...group("grp_81"),
    expects: { member: true },
  } as const;
  expect(gateNow(step, { catalog, heldRole: "owner" })).toBe("plan");
});
