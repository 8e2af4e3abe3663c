import { hashOf } from "../model/json.ts";
import { isWrite } from "../model/plan.ts";
import { escapeText } from "../model/text.ts";
import type { Refusal } from "./approval.ts";
import { actionOf, targetOf, valueText } from "./kinds.ts";
import { inDoubt } from "./progress.ts";
import { settledUndo } from "./resolved.ts";
import type { OperationState } from "./state.ts";

export type Resolution = "applied" | "not-applied" | "ours" | "not-ours" | "left";

/** Why this word cannot be given about this step now; null where it can. */
export function unresolvable(state: OperationState, number: number, as: Resolution): Refusal | null {
  const step = state.steps.find((candidate) => candidate.plan.step === number);
  const id = state.plan.operation_id;
  if (!step || !isWrite(step.plan)) return no(`Step ${number} of ${id} is none that anything could be said about.`);
  switch (as) {
    case "applied":
    case "not-applied":
      return inDoubt(step) ? null : no(`Step ${number} of ${id} is not in doubt.`);
    case "ours":
    case "not-ours":
      return step.receipt?.attribution === "presumed"
        ? null
        : no(`Whose change step ${number} of ${id} is, is not open.`);
    case "left":
      if (state.rollback && step.receipt?.ours && !settledUndo(step.undone?.result ?? "")) return null;
      return no(`Step ${number} of ${id} has no compensation that is open.`);
    default:
      as satisfies never;
      return no("That word is not known.");
  }
}

function no(message: string): Refusal {
  return { code: "not_resolvable", exit: 13, message, hint: "provision status shows what is open." };
}

const MEANING: Record<Resolution, string> = {
  applied: "it happened, and this operation did it",
  "not-applied": "it did not happen; a later run sends it again",
  ours: "what is there is this operation's doing, and may be taken back",
  "not-ours": "what is there is somebody else's doing, and stays",
  left: "it is left as it is, and the rollback goes past it",
};

/** The exact lines that somebody puts their name to. */
export function resolveCard(state: OperationState, number: number, as: Resolution): string {
  const step = state.steps.find((candidate) => candidate.plan.step === number);
  if (!step) return "";
  const what = [actionOf(step.plan.kind), targetOf(step.plan)].filter((word) => word !== null).join(" ");
  const reading = step.undone?.after ?? step.apply.seen.at(-1)?.reading ?? step.receipt?.after ?? null;
  return [
    `Step ${number}: ${what} on ${state.plan.tenant}`,
    `  your word   ${as}: ${MEANING[as]}`,
    `  subject     ${[state.plan.subject.email, state.subjectId].filter(Boolean).join(", ")}`,
    `  last seen   ${valueText(reading)}`,
    `  plan        ${state.plan.operation_id}`,
  ]
    .map(escapeText)
    .join("\n");
}

export function resolveCardHash(state: OperationState, number: number, as: Resolution): string {
  return hashOf("card", [resolveCard(state, number, as)]);
}
