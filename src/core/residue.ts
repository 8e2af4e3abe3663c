import { isWrite } from "../model/plan.ts";
import type { Receipt } from "../model/receipt.ts";
import { hasNow } from "./holdings.ts";
import { actionOf, invitationIn, targetOf, valueText } from "./kinds.ts";
import { inDoubt } from "./progress.ts";
import type { OperationState } from "./state.ts";
import { compensations } from "./undo.ts";

export interface CompensationLine {
  step: number;
  action: string;
  target: string | null;
  value: string | null;
  gate: string;
  /** What became of it; null while nothing did. */
  result: string | null;
  /** What the read showed that it ended on. */
  found: string | null;
  detail: string | null;
}

/** The compensation stack in the order in which it runs, with what has become of each. */
export function compensationLines(state: OperationState): CompensationLine[] {
  return compensations(state).map(({ step, back, receipt }) => ({
    step: back.step,
    action: actionOf(back.kind),
    target: targetOf(back),
    value: back.kind === "set_role" ? back.role : null,
    gate: back.gate,
    result: step.undone?.result ?? null,
    found: step.undone?.after ? valueText(step.undone.after) : null,
    detail:
      step.undone?.detail ??
      (receipt.attribution === "presumed" ? "presumed ours; a person must say so before it is taken back" : null),
  }));
}

export interface ResidualEffect {
  step: number;
  kind: string;
  text: string;
}

/**
 * What stays different whatever is undone: what was left or diverged first, then what is in doubt, an account, and what
 * no call takes back. Listed for every change that this operation made or may have made.
 */
export function residualEffects(state: OperationState): ResidualEffect[] {
  const deleted = hasNow(state).includes("account deleted");
  const stands: ResidualEffect[] = [];
  const doubtful: ResidualEffect[] = [];
  const accounts: ResidualEffect[] = [];
  const effects: ResidualEffect[] = [];
  for (const step of state.steps) {
    const { plan, receipt, undone } = step;
    if (!isWrite(plan)) continue;
    const what = [actionOf(plan.kind), targetOf(plan)].filter((word) => word !== null).join(" ");
    const { step: number } = plan;
    if (undone && undone.result !== "undone" && undone.result !== "already gone")
      stands.push({ step: number, kind: undone.result, text: `${what}: ${undone.detail ?? "stands as it is"}` });
    const doubt = inDoubt(step);
    if (doubt) doubtful.push({ step: number, kind: "unknown", text: `${what}: ${IN_DOUBT}` });
    if (!receipt?.ours && !doubt) continue;
    const account = plan.kind === "invite" ? (state.subjectId ?? redeemerOf(state, receipt)) : null;
    if (account !== null)
      accounts.push({
        step: number,
        kind: "account",
        text: `the account ${account} ${deleted ? DELETED : NEVER_DELETED}`,
      });
    for (const effect of plan.effects) effects.push({ step: number, kind: effect.kind, text: effect.text });
  }
  return [...stands, ...doubtful, ...accounts, ...effects];
}

const IN_DOUBT = "it may have happened, and no read has settled it";
const DELETED = "came of the invitation, and somebody has deleted it since";
const NEVER_DELETED = "exists; an account is never deleted as an undo";

/** Who redeemed the invitation, where that was seen without being bound; the wait looked later than the step. */
function redeemerOf({ steps }: OperationState, receipt: Receipt | null): string | null {
  const waited = steps.find(({ plan }) => plan.kind === "wait_for_acceptance")?.receipt;
  const seen = [waited?.after, receipt?.after].map(
    (after) => after && invitationIn(after)?.invitation?.accepted_by?.id,
  );
  return seen.find((id) => id !== undefined && id !== null) ?? null;
}
