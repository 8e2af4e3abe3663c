import { ProvisionError } from "../model/errors.ts";
import type { Desk } from "./desk.ts";
import { openHere } from "./open.ts";
import { requesterOf } from "./requester.ts";

const RETRIED = ["denied", "rejected", "conflict", "no_effect"];

/** A person opens a new try of a step; it is asked for again. */
export async function retryStep(desk: Desk, op: string, number: number): Promise<void> {
  const { id, state } = await openHere(desk, op);
  const step = state.steps.find((one) => one.plan.step === number);
  const undone =
    state.rollback !== null && state.rollback.toStep > 0 && number > state.rollback.toStep && step?.undone !== null;
  if (!step || !(undone || RETRIED.includes(step.receipt?.result ?? "")) || (state.rollback !== null && !undone)) {
    const found = step?.receipt?.result ?? (step ? "not finished" : "no such step");
    throw new ProvisionError(
      "not_retryable",
      13,
      `Step ${number} of ${id} is not one that can be tried again (${found}).`,
      {
        details: [{ path: "--retry-step", code: "not_retryable", found, allowed: RETRIED }],
        hint: `provision status ${id}`,
      },
    );
  }
  desk.journal().append(id, [{ kind: "step.retried", step: number, by: requesterOf(desk.shell.env).id }]);
}
