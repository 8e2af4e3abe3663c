import { expect, test } from "vitest";
import { isWrite, STEP_KINDS } from "../../src/model/plan.ts";
import { stepOf } from "../core/build.ts";

test("a wait is the one kind of step that writes nothing", () => {
  expect(STEP_KINDS.filter((kind) => !isWrite(stepOf(kind)))).toEqual(["wait_for_acceptance"]);
});

test("no kind of step stands twice, and the words that plans keep never change", () => {
  expect(STEP_KINDS).toEqual([
    ...["invite", "create_account", "wait_for_acceptance", "set_role", "add_group", "remove_group"],
    ...["assign_license", "remove_license", "cancel_invitation", "revoke_sessions", "revoke_credentials"],
    ...["suspend_account", "restore_account", "remove_member", "delete_account"],
  ]);
});
