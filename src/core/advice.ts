import { inDoubt } from "./progress.ts";
import type { OperationState } from "./state.ts";
import type { StateName } from "./status.ts";
import { compensations } from "./undo.ts";

export interface NextCommand {
  command: string;
  effect: string;
  /** What it takes: `nothing`, `approval`, `authority`, `acceptance`. */
  needs: string;
  /** Nothing is sent that was not approved already. */
  safe: boolean;
}

/** The commands that can follow, the likeliest first. Built from ids of ours alone, never from text of a tenant. */
export function nextCommands(id: string, state: OperationState, name: StateName): NextCommand[] {
  const run = (effect: string, needs = "nothing"): NextCommand => ({
    command: `provision run ${id}`,
    effect,
    needs,
    safe: true,
  });
  const approve: NextCommand = {
    command: `provision approve ${id}`,
    effect: "shows what is asked and signs the decision",
    needs: "an approver's key",
    safe: true,
  };
  const undoable = compensations(state, 0).some(({ step }) => step.undone === null);
  const rollback: NextCommand = {
    command: `provision rollback ${id}`,
    effect: undoable
      ? "takes back what this operation changed, newest first"
      : "ends it; there is nothing to take back",
    needs: "nothing",
    safe: true,
  };
  const failedStep = state.steps.find((step) =>
    ["denied", "rejected", "no_effect", "conflict"].includes(step.receipt?.result ?? ""),
  )?.plan.step;
  const retry: NextCommand[] =
    failedStep === undefined
      ? []
      : [
          {
            command: `provision run ${id} --retry-step ${failedStep}`,
            effect: `opens a new try of step ${failedStep}, which is asked for again`,
            needs: "approval",
            safe: true,
          },
        ];
  const doubtful = state.steps.find((step) => inDoubt(step))?.plan.step;
  const presumed = state.steps.find((step) => step.receipt?.attribution === "presumed")?.plan.step;
  const divergedUndo = state.steps.find(
    (step) => step.undone !== null && !["undone", "already gone", "left"].includes(step.undone.result),
  )?.plan.step;
  switch (name) {
    case "awaiting_approval":
      return [approve, ...(undoable ? [rollback] : [])];
    case "approved":
      return [run("carries out what was approved, one step after another")];
    case "waiting":
      return [run("looks whether the invitation was accepted, and goes on", "acceptance"), rollback];
    case "paused":
    case "interrupted":
      return [run("goes on where the journal stands"), rollback];
    case "partial_failure":
      return [...retry, rollback];
    case "diverged":
      return [run("reads again and goes on if the tenant is as the plan expects"), ...retry, rollback];
    case "needs_reconciliation":
      return [
        state.rollback ? rollback : run("reads again what is in doubt"),
        ...(doubtful === undefined
          ? []
          : [
              {
                command: `provision resolve ${id} --step ${doubtful} --as applied`,
                effect: "settles the doubt by an approver's signed word",
                needs: "an approver's key",
                safe: true,
              },
            ]),
      ];
    case "rollback_pending":
      return [
        ...(presumed === undefined
          ? []
          : [
              {
                command: `provision resolve ${id} --step ${presumed} --as ours`,
                effect: "says by a signed word whose change it is",
                needs: "an approver's key",
                safe: true,
              },
            ]),
        { ...approve, command: `provision approve ${id} --phase rollback` },
        rollback,
        ...(divergedUndo === undefined
          ? []
          : [
              {
                command: `provision resolve ${id} --step ${divergedUndo} --undo --as left`,
                effect: "leaves it as somebody else decided",
                needs: "an approver's key",
                safe: true,
              },
            ]),
      ];
    case "expired":
    case "stopped":
      return undoable ? [rollback] : [];
    case "completed":
      return undoable ? [rollback] : [];
    case "running":
      return [{ command: `provision status ${id}`, effect: "shows how far it is", needs: "nothing", safe: true }];
    case "rolled_back_in_part":
    case "rolled_back":
    case "cancelled":
    case "superseded":
    case "handed_over":
      return [];
    default:
      name satisfies never;
      return [];
  }
}
