import { isWrite } from "../model/plan.ts";
import { type Authority, pendingDecisions } from "./approval.ts";
import { valueText } from "./kinds.ts";
import { currentStep, stillStands } from "./progress.ts";
import type { OperationState } from "./state.ts";
import type { StateName } from "./status.ts";
import { deadline } from "./wait.ts";

/** Why an operation stands where it stands: the step, the provider's or our code, and whose doing it is. */
export interface Blocked {
  step: number;
  code: string;
  /** `subject`: the invited person has not answered yet. */
  by: "tenant" | "approval" | "policy" | "plan" | "clock" | "subject";
  since: string;
  until: string | null;
  detail: string | null;
}

const BY_PLAN = ["not_as_expected", "other_redeemer", "other_invitation", "changed_since"];

/** The first thing that is in the way; null where nothing is. */
export function blockedBy(state: OperationState, name: StateName, authority: Authority): Blocked | null {
  const current = currentStep(state);
  const denied = current && !state.rollback ? authority.denied.get(current.plan.step) : undefined;
  if (denied && current && ["awaiting_approval", "approved", "paused"].includes(name))
    return waitingFor(current.plan.step, denied.code, "policy", state.asOf, null, denied.message);
  if (name === "rollback_pending") {
    const asked = pendingDecisions(state, Date.parse(state.asOf), authority).steps[0];
    if (asked !== undefined)
      return waitingFor(
        asked,
        "approval_needed",
        "approval",
        state.asOf,
        null,
        "giving authority back needs a decision",
      );
  }
  if (name === "awaiting_approval" && current)
    return waitingFor(
      current.plan.step,
      "approval_needed",
      "approval",
      state.asOf,
      null,
      "the next write needs a decision",
    );
  if (name === "waiting" && current) {
    const until = deadline(state);
    return waitingFor(
      current.plan.step,
      "not_accepted_yet",
      "subject",
      state.asOf,
      until === null ? null : new Date(until).toISOString(),
      "the invitation is open",
    );
  }
  if (name === "paused" && state.paused) {
    const step = state.steps.find((candidate) => candidate.receipt === null);
    return {
      step: step?.plan.step ?? 0,
      code: "paused",
      by: "tenant",
      since: state.asOf,
      until: state.paused.until,
      detail: state.paused.detail,
    };
  }
  for (const step of state.steps) {
    const undone = step.undone;
    if (undone?.code && !["undone", "already gone", "left"].includes(undone.result))
      return {
        step: step.plan.step,
        code: undone.code,
        by: "tenant",
        since: undone.at ?? state.asOf,
        until: null,
        detail: undone.detail,
      };
  }
  if (state.rollback) return null;
  for (const step of state.steps) {
    const verified = step.apply.verified;
    const moved =
      verified &&
      verified.reading.kind !== "unreadable" &&
      isWrite(step.plan) &&
      !stillStands(state, step.plan, verified.reading);
    if (moved)
      return {
        step: step.plan.step,
        code: "changed_since",
        by: "tenant",
        since: verified.at,
        until: null,
        detail: `we left ${valueText(step.receipt?.after ?? null)}, and a read shows ${valueText(verified.reading)}; somebody else decided since, and nothing was sent`,
      };
  }
  for (const step of state.steps) {
    const receipt = step.receipt;
    const stops =
      receipt && !receipt.ours && receipt.code !== null && receipt.code !== "not_ours" && receipt.result !== "observed";
    if (stops)
      return {
        step: step.plan.step,
        code: receipt.code ?? receipt.result,
        by: BY_PLAN.includes(receipt.code ?? "") ? "plan" : "tenant",
        since: state.asOf,
        until: null,
        detail: receipt.detail,
      };
  }
  return null;
}

function waitingFor(
  step: number,
  code: string,
  by: Blocked["by"],
  since: string,
  until: string | null,
  detail: string,
): Blocked {
  return { step, code, by, since, until, detail };
}
