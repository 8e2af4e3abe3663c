import type { Observed, Reading } from "../model/reading.ts";
import { targetOf } from "./kinds.ts";
import type { OperationState, StepState } from "./state.ts";

/** What the newest reads showed of the things that this operation is about, a phrase each, in the order of the steps. */
export function hasNow(state: OperationState): string[] {
  const held = new Map<string, string>();
  for (const step of state.steps) {
    const reading = newest(step);
    if (reading?.kind !== "found") continue;
    const phrase = phraseOf(step, reading.value, state.subjectId !== null);
    if (phrase) held.set(...phrase);
  }
  return [...held.values()];
}

/** Back beats forward, and later beats earlier. */
function newest({ apply, undo, undone, receipt }: StepState): Reading<Observed> | null {
  return (
    undone?.after ??
    undo.seen.at(-1)?.reading ??
    undo.before?.reading ??
    apply.verified?.reading ??
    apply.seen.at(-1)?.reading ??
    receipt?.after ??
    apply.before?.reading ??
    null
  );
}

/** By what it is about, so that of two steps on one thing the later speaks. */
function phraseOf({ plan }: StepState, value: Observed, bound: boolean): [about: string, text: string] | null {
  const target = targetOf(plan) ?? "";
  switch (value.of) {
    case "role":
      return ["role", `role ${value.role}`];
    case "membership":
      return [`group ${target}`, `group ${target}`];
    case "license":
      return [`licence ${target}`, `licence ${target}`];
    case "account":
      return ["account", `account ${value.status}`];
    case "sessions":
    case "credentials":
      return value.count === 0 ? null : [value.of, `${value.count} ${value.of}`];
    case "invitation": {
      const { invitation, account } = value;
      if (invitation && !bound && account?.status !== "active")
        return ["invitation", `invitation ${invitation.status}`];
      return account && ["account", `account ${account.status}`];
    }
    default:
      value satisfies never;
      return null;
  }
}
