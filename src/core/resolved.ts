import type { Entry, Payload } from "../model/entry.ts";
import { bug } from "../model/errors.ts";
import type { Receipt } from "../model/receipt.ts";
import { resultWord } from "./kinds.ts";
import { freshTry, hasIntent, type StepState } from "./state.ts";

type Resolved = Entry<Extract<Payload, { kind: "step.resolved" }>>;

/** Nothing more is to be done about this compensation. */
export function settledUndo(result: string): boolean {
  return ["undone", "already gone", "left"].includes(result);
}

const FOREIGN = { ours: false, attribution: null, compensation: null } as const;

/** A person's word counts only where the matter was open; over what a read has settled since, it changes nothing. */
export function resolved(step: StepState, entry: Resolved): StepState {
  const { receipt } = step;
  const doubtful = receipt === null ? hasIntent(step.apply) : receipt.result === "unknown";
  const presumed = receipt?.attribution === "presumed" ? receipt : null;
  switch (entry.as) {
    case "not-applied":
      return doubtful ? { ...step, apply: freshTry(step.apply.try + 1), receipt: null } : step;
    case "applied":
      return doubtful ? { ...step, receipt: appliedByWord(step) } : step;
    case "ours":
      return presumed ? { ...step, receipt: { ...presumed, ours: true, attribution: "proven" } } : step;
    case "not-ours":
      return presumed ? { ...step, receipt: { ...presumed, ...FOREIGN } } : step;
    case "left":
      return receipt?.ours && !settledUndo(step.undone?.result ?? "") ? { ...step, undone: leftBy(step, entry) } : step;
    default:
      entry.as satisfies never;
      throw bug("a resolution of unknown kind");
  }
}

function leftBy({ undone }: StepState, entry: Resolved) {
  const { before = null, after = null } = undone ?? {};
  const none = { code: null, status: null, provider_request_id: null };
  return {
    ...none,
    before,
    after,
    result: "left" as const,
    detail: `left by the word of ${entry.approver}`,
    at: entry.at,
  };
}

/** A named approver's word that the change happened: what the plan wanted is taken as what is there. */
function appliedByWord(step: StepState): Receipt | null {
  if (step.plan.kind === "wait_for_acceptance") return step.receipt;
  const proof = { kind: "absent", proof: "exact" } as const;
  return {
    result: resultWord(step.plan, proof, true),
    ours: true,
    attribution: "proven",
    before: step.apply.intent?.before ?? null,
    after: null,
    remote_version_after: null,
    compensation: step.plan.undo,
    code: "resolved",
    detail: "by the signed word of an approver",
    status: null,
    provider_request_id: null,
  };
}
