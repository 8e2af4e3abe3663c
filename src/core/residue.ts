import { isWrite } from "../model/plan.ts";
import type { Receipt } from "../model/receipt.ts";
import { actionOf, invitationIn, targetOf } from "./kinds.ts";
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
 * What stays different whatever is undone: left and diverged changes first, then what no call takes back. Listed for
 * every change that this operation made or may have made.
 */
export function residualEffects(state: OperationState): ResidualEffect[] {
  const stands: ResidualEffect[] = [];
  const effects: ResidualEffect[] = [];
  for (const step of state.steps) {
    const { plan, receipt, undone } = step;
    if (!isWrite(plan)) continue;
    const what = [actionOf(plan.kind), targetOf(plan)].filter((word) => word !== null).join(" ");
    if (undone && undone.result !== "undone" && undone.result !== "already gone")
      stands.push({ step: plan.step, kind: undone.result, text: `${what}: ${undone.detail ?? "stands as it is"}` });
    const doubt = inDoubt(step);
    if (doubt)
      stands.push({
        step: plan.step,
        kind: "unknown",
        text: `${what}: it may have happened, and no read has settled it`,
      });
    if (!receipt?.ours && !doubt) continue;
    const account = plan.kind === "invite" ? (state.subjectId ?? redeemerOf(receipt)) : null;
    if (account !== null)
      stands.push({
        step: plan.step,
        kind: "account",
        text: `the account ${account} exists; an account is never deleted as an undo`,
      });
    for (const effect of plan.effects) effects.push({ step: plan.step, kind: effect.kind, text: effect.text });
  }
  return [...stands, ...effects];
}

/** Who redeemed the invitation, where that was seen without being bound. */
function redeemerOf(receipt: Receipt | null): string | null {
  const after = receipt?.after;
  return after ? (invitationIn(after)?.invitation?.accepted_by?.id ?? null) : null;
}
