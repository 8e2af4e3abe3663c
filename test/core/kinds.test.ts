import { describe, expect, test } from "vitest";
import { expectsText, type Proof, resultWord, standing, undoStep, valueText } from "../../src/core/kinds.ts";
import { isWrite, STEP_KINDS, type StepKind, type WriteStep } from "../../src/model/plan.ts";
import type { Receipt } from "../../src/model/receipt.ts";
import {
  absent,
  account,
  around,
  assigned,
  found,
  invite,
  invited,
  member,
  notInvited,
  type Read,
  role,
  roleIs,
  sensitive,
  stepOf,
} from "./build.ts";

const WRITES = STEP_KINDS.filter((kind) => isWrite(stepOf(kind)));
const place = (step: WriteStep, reading: Read, accountAbsent = false) =>
  standing(step, reading as Proof, accountAbsent);

test.each(WRITES)("%s: what the plan expects is expected, and what it wants is wanted", (kind) => {
  const step = stepOf(kind) as WriteStep;
  const { expected, wanted } = around(step);
  expect([place(step, expected), place(step, wanted)]).toEqual(["expected", "wanted"]);
});

describe("what is neither wanted nor expected", () => {
  test.each<[string, WriteStep, Read]>([
    ["a third role", role(), roleIs("billing")],
    ["no role at all", role(), absent],
    ["a membership that was to be there and is not", stepOf("remove_group", { expects: { member: false } }), member()],
    ["an account where a deleted one was expected", stepOf("restore_account"), account("deleted")],
    ["a suspended account where an active one is to be removed", stepOf("remove_member"), account("suspended")],
    ["an invitation to another role", invite({ role: "member" }), invited("pending")],
    [
      "a suspended account at the address",
      invite(),
      invited("accepted", { account: { id: "u", email: null, status: "suspended" } }),
    ],
    ["something else altogether", invite(), roleIs("guest")],
  ])("%s", (_, step, reading) => expect(place(step, reading)).toBe("other"));
});

test("a deleted account held the address once; inviting it again is what a rejoiner needs", () => {
  const once = invited("accepted", { invitation: null, account: { id: "u", email: null, status: "deleted" } });
  expect(place(invite(), once)).toBe("expected");
  expect(place(invite(), once, true)).toBe("expected");
});

test("an active account at the address is wanted, unless the request says that there is none", () => {
  const there = invited("accepted", { invitation: null });
  expect(place(invite(), there)).toBe("wanted");
  expect(place(invite(), there, true)).toBe("other");
});

test.each(["declined", "expired", "cancelled"] as const)("an invitation that reads %s is none any more", (status) => {
  expect(place(invite(), invited(status))).toBe("expected");
});

test("no session left is as good as none found", () => {
  expect(place(stepOf("revoke_sessions"), found({ of: "sessions", count: 0 }))).toBe("wanted");
});

test("a result word says whether it was done or was so before", () => {
  expect(resultWord(stepOf("add_group"), member() as Proof, true)).toBe("added");
  expect(resultWord(stepOf("add_group"), member() as Proof, false)).toBe("already_present");
  expect(resultWord(stepOf("cancel_invitation"), invited("accepted") as Proof, true)).toBe("already_accepted");
});

describe("the way back", () => {
  const receipt = (step: WriteStep): Receipt => ({
    ...{ result: "changed", ours: true, attribution: "proven", before: null, after: null },
    ...{ remote_version_after: null, compensation: step.undo, code: null, detail: null, status: null },
    provider_request_id: null,
  });
  const back = (step: WriteStep) => undoStep(step, receipt(step));

  test.each<[StepKind, StepKind | null, string | null]>([
    ["invite", "cancel_invitation", "plan"],
    ["create_account", "suspend_account", "plan"],
    ["set_role", "set_role", "plan"],
    ["add_group", "remove_group", "plan"],
    ["remove_group", "add_group", "call"],
    ["assign_license", "remove_license", "plan"],
    ["remove_license", "assign_license", "call"],
    ["suspend_account", "restore_account", "call"],
    ["restore_account", "suspend_account", "plan"],
    ["cancel_invitation", null, null],
    ["revoke_sessions", null, null],
    ["revoke_credentials", null, null],
    ["remove_member", null, null],
    ["delete_account", null, null],
  ])("of %s is %s, decided by %s", (kind, inverse, gate) => {
    const undo = back(stepOf(kind) as WriteStep);
    expect([undo?.kind ?? null, undo?.gate ?? null]).toEqual([inverse, gate]);
  });

  test.each(WRITES)("of %s starts where the step ended, and ends where it started", (kind) => {
    const step = stepOf(kind) as WriteStep;
    const undo = back(step);
    if (!undo || kind === "invite" || kind === "create_account") return;
    const { expected, wanted } = around(step);
    expect([place(undo, wanted), place(undo, expected)]).toEqual(["expected", "wanted"]);
  });

  test("uses the credential of the step that it takes back, and has none of its own", () => {
    expect(back(sensitive())).toMatchObject({ credential: "privileged", undo: null, step: 0 });
  });

  test("of a lowered role raises, and is decided per call", () => {
    expect(back(role("guest", "member", { direction: "reduce" }))).toMatchObject({
      ...{ role: "member", direction: "raise", gate: "call", expects: { role: "guest" } },
    });
  });

  test("of what is not ours is none", () => {
    expect(undoStep(role(), { ...receipt(role()), compensation: null })).toBeNull();
  });
});

test("a reading is one word for people", () => {
  const readings: [Read | null, string][] = [
    [null, "not read"],
    [absent, "absent"],
    [{ kind: "unreadable", reason: "truncated", detail: "" }, "unreadable (truncated)"],
    [roleIs("guest"), "guest"],
    [member(), "member"],
    [assigned(), "assigned"],
    [account("suspended"), "suspended"],
    [found({ of: "sessions", count: 3 }), "3"],
    [invited("declined"), "invitation declined"],
    [invited("accepted", { invitation: null }), "account"],
    [notInvited, "absent"],
  ];
  expect(readings.map(([reading]) => valueText(reading))).toEqual(readings.map(([, text]) => text));
  const expectations = [
    { role: "guest" },
    { member: true },
    { member: false },
    { assigned: true },
    { account: "absent" as const },
  ];
  expect(expectations.map(expectsText)).toEqual(["guest", "member", "absent", "assigned", "absent"]);
});
