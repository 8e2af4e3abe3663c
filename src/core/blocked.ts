import type { Phase } from "../model/entry.ts";
import { isWrite } from "../model/plan.ts";
import type { Observed, Reading } from "../model/reading.ts";
import { type Authority, pendingDecisions, requestFor } from "./approval.ts";
import { invitationIn, valueText } from "./kinds.ts";
import { currentStep, stillStands } from "./progress.ts";
import { settledUndo } from "./resolved.ts";
import type { OperationState } from "./state.ts";
import type { StateName } from "./status.ts";
import { compensations } from "./undo.ts";
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

const BY_PLAN = ["not_as_expected", "other_redeemer", "other_invitation", "other_account", "changed_since"];

/** The first thing that is in the way; null where nothing is. */
export function blockedBy(state: OperationState, name: StateName, authority: Authority): Blocked | null {
  return waits(state, name, authority) ?? undoRefused(state) ?? (state.rollback ? backPaused(state) : stepStops(state));
}

/** Nothing went wrong: somebody, or some time, is waited for. */
function waits(state: OperationState, name: StateName, authority: Authority): Blocked | null {
  const step = currentStep(state)?.plan.step ?? 0;
  const { word } = authority;
  if (word) return { step, code: word.code, by: "approval", since: state.asOf, until: null, detail: word.message };
  const denied = state.rollback ? undefined : authority.denied.get(step);
  if (denied && ["awaiting_approval", "approved", "paused"].includes(name))
    return { step, code: denied.code, by: "policy", since: state.asOf, until: null, detail: denied.message };
  switch (name) {
    case "awaiting_approval":
      return decisionOn(state, step, "apply", "the next write needs a decision");
    case "rollback_pending": {
      const asked = pendingDecisions(state, Date.parse(state.asOf), authority).steps[0];
      return asked === undefined
        ? null
        : decisionOn(state, asked, "rollback", "giving authority back needs a decision");
    }
    case "waiting": {
      const due = deadline(state);
      const until = due === null ? null : new Date(due).toISOString();
      const since = state.steps.find(({ plan }) => plan.kind === "invite")?.receiptAt ?? state.plan.created_at;
      return { step, code: "not_accepted_yet", by: "subject", since, until, detail: "the invitation is open" };
    }
    case "paused": {
      if (!state.paused) return null;
      const { at: since, until, detail } = state.paused;
      const unfinished = state.steps.find((candidate) => candidate.receipt === null)?.plan.step ?? step;
      return { step: unfinished, code: "paused", by: "tenant", since, until, detail };
    }
    default:
      return null;
  }
}

function decisionOn(state: OperationState, step: number, phase: Phase, detail: string): Blocked {
  const since = requestFor(state, step, phase)?.at ?? state.plan.created_at;
  return { step, code: "approval_needed", by: "approval", since, until: null, detail };
}

/** A compensation that was refused, or met somebody else's decision. */
function undoRefused(state: OperationState): Blocked | null {
  for (const { plan, undone } of state.steps) {
    if (!undone?.code || settledUndo(undone.result)) continue;
    const { code, detail, at } = undone;
    return { step: plan.step, code, by: "tenant", since: at ?? state.asOf, until: null, detail };
  }
  return null;
}

/** Of an invitation that was accepted the account says what has changed; the invitation itself still reads as it should. */
function changeText(state: OperationState, left: Reading<Observed> | null, found: Reading<Observed>): string {
  const view = state.subjectId === null ? null : invitationIn(found);
  if (!view) return `we left ${valueText(left)}, and a read shows ${valueText(found)}`;
  const { account } = view;
  const there = account === null ? "nobody" : account.id === state.subjectId ? account.status : account.id;
  return `the invitation was accepted by ${state.subjectId}, and a read shows ${there} at the address`;
}

/** A way back that came to rest between two compensations; nothing was refused, and the next rollback goes on. */
function backPaused(state: OperationState): Blocked | null {
  const open = compensations(state).find(({ step }) => step.undone === null);
  if (!open || state.paused?.epoch !== state.epoch) return null;
  const { at: since, until, detail } = state.paused;
  return { step: open.plan.step, code: "paused", by: "tenant", since, until, detail };
}

function stepStops(state: OperationState): Blocked | null {
  for (const { plan, apply, receipt } of state.steps) {
    const seen = apply.verified;
    if (!seen || seen.reading.kind === "unreadable" || !isWrite(plan) || stillStands(state, plan, seen.reading))
      continue;
    const detail = `${changeText(state, receipt?.after ?? null, seen.reading)}; somebody else decided since, and nothing was sent`;
    return { step: plan.step, code: "changed_since", by: "tenant", since: seen.at, until: null, detail };
  }
  for (const { plan, receipt, receiptAt } of state.steps) {
    if (
      !receipt ||
      receipt.ours ||
      receipt.code === null ||
      receipt.code === "not_ours" ||
      receipt.result === "observed"
    )
      continue;
    const { code, detail } = receipt;
    const by = code === "too_late" ? "clock" : BY_PLAN.includes(code) ? "plan" : "tenant";
    return { step: plan.step, code, by, since: receiptAt ?? state.asOf, until: null, detail };
  }
  return null;
}
