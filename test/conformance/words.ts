import type { Refusal } from "../../src/core/approval.ts";
import { isOpen, type OperationState, type StepState } from "../../src/core/state.ts";
import type { WriteStep } from "../../src/model/plan.ts";
import type { Result } from "../../src/model/receipt.ts";
import type { Way } from "./double.ts";
import type { Word } from "./faults.ts";

/** What the result of each kind is called: made by us; and there already, whoever made it. */
const RESULTS: Readonly<Record<WriteStep["kind"], readonly [done: readonly Result[], already: readonly Result[]]>> = {
  invite: [["pending"], ["adopted", "already_member"]],
  create_account: [["created"], ["already_exists", "adopted"]],
  set_role: [["changed"], ["unchanged"]],
  add_group: [["added"], ["already_present"]],
  remove_group: [["removed"], ["already_absent"]],
  assign_license: [["assigned"], ["already_assigned"]],
  remove_license: [["removed"], ["already_absent"]],
  cancel_invitation: [["cancelled"], ["cancelled", "already_accepted"]],
  revoke_sessions: [["revoked"], ["revoked"]],
  revoke_credentials: [["revoked"], ["revoked"]],
  suspend_account: [["suspended"], ["already_suspended"]],
  restore_account: [["restored"], ["already_active"]],
  remove_member: [["removed"], ["already_absent"]],
  delete_account: [["deleted"], ["deleted"]],
};
const PLAIN: readonly string[] = ["denied", "rejected", "conflict", "no_effect", "unknown"] satisfies Word[];

/** What the journal says now, in the words that hold for every kind; other words are given back as they are. */
export function wordOf(state: OperationState, way: Way, refusal: Refusal | null): Word | string {
  const [step] = state.steps;
  if (!step) return "no step";
  const said = way === "apply" ? applied(step) : undone(step);
  if (said !== null) return said;
  const work = way === "apply" ? step.apply : step.undo;
  if (refusal !== null) return "held";
  if (isOpen(work)) return "unknown";
  return state.paused?.epoch === state.epoch ? "paused" : "open";
}

function applied({ plan, receipt }: StepState): Word | string | null {
  if (receipt === null || plan.kind === "wait_for_acceptance") return null;
  const { result, ours } = receipt;
  if (PLAIN.includes(result)) return ours ? `${result}, and ours` : result;
  const [done, already] = RESULTS[plan.kind];
  if (ours) return done.includes(result) ? said(receipt.attribution, "done") : `ours, and ${result}`;
  return already.includes(result) ? "already" : `not ours, and ${result}`;
}

function said(attribution: string | null, word: Word): string {
  return attribution === "proven" ? word : `${word}, ${attribution}`;
}

function undone({ receipt, undone: back }: StepState): Word | string | null {
  if (receipt?.ours && receipt.compensation === null) return "beyond";
  if (back === null) return null;
  switch (back.result) {
    case "undone":
      return "done";
    case "already gone":
      return "already";
    case "diverged":
      return "conflict";
    case "rejected":
      // A guard that no approval lifts stopped it, ahead of any request.
      return back.status === null ? "held" : "rejected";
    default:
      return back.result;
  }
}
