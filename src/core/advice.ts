import { isWrite } from "../model/plan.ts";
import { type Authority, pendingDecisions } from "./approval.ts";
import { inDoubt } from "./progress.ts";
import { settledUndo } from "./resolved.ts";
import type { OperationState } from "./state.ts";
import type { StateName } from "./status.ts";
import { compensations } from "./undo.ts";

export interface NextCommand {
  command: string;
  effect: string;
  /** What it takes: `nothing`, a person's decision or key, or somebody's acceptance. */
  needs: string;
  /** Nothing is sent that was not approved already. */
  safe: boolean;
}

const KEY = "an approver's key";

/** The commands that can follow, the likeliest first. Built from ids of ours alone, never from text of a tenant. */
export function nextCommands(
  id: string,
  state: OperationState,
  name: StateName,
  { now, authority }: { now: number; authority: Authority },
): NextCommand[] {
  const asked = pendingDecisions(state, now, authority);
  const approve =
    asked.steps.length === 0
      ? []
      : [
          command(
            `approve ${id}${asked.phase === "rollback" ? " --phase rollback" : ""}`,
            `shows what is asked of ${stepsText(asked.steps)} and signs the decision`,
            KEY,
          ),
        ];
  const run = (effect: string, needs = "nothing") => command(`run ${id}`, effect, needs);
  const back = rollbackOf(id, state);
  switch (name) {
    case "awaiting_approval":
      return [...approve, ...back];
    case "approved":
      return [run("carries out what was approved, one step after another"), ...approve, ...back];
    case "waiting":
      return [run("looks whether the invitation was accepted, and goes on", "acceptance"), ...back];
    case "paused":
    case "interrupted":
      return [run("goes on where the journal stands"), ...approve, ...back];
    case "partial_failure":
      return [...retries(id, state), ...back, ...ending(id, back)];
    case "diverged":
      return [
        run("reads again and goes on if the tenant is as the plan expects"),
        ...retries(id, state),
        ...back,
        ...ending(id, back),
      ];
    case "needs_reconciliation":
      return [
        state.rollback
          ? command(`rollback ${id}`, "reads again what is in doubt, and goes on taking back")
          : run("reads again what is in doubt"),
        ...words(id, state),
      ];
    case "rollback_pending":
      return [...approve, ...words(id, state), ...again(id, state)];
    case "rolled_back_in_part":
      return [...retries(id, state), ...back];
    case "stopped":
      return [...back, ...approve, ...ending(id, back)];
    case "expired":
    case "completed":
      return back;
    case "running":
      return [command(`status ${id}`, "shows how far it is")];
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

function command(line: string, effect: string, needs = "nothing"): NextCommand {
  return { command: `provision ${line}`, effect, needs, safe: true };
}

/** Where something of ours stands that can be taken back. */
function rollbackOf(id: string, state: OperationState): NextCommand[] {
  const open = compensations(state, 0).filter(({ step }) => step.undone === null);
  if (open.length === 0) return [];
  const steps = open.map(({ step }) => step.plan.step);
  return [command(`rollback ${id}`, `takes back what this operation changed: ${stepsText(steps)}`)];
}

/** Where nothing can be taken back, the operation can still be brought to an end. */
function ending(id: string, back: readonly NextCommand[]): NextCommand[] {
  return back.length > 0 ? [] : [command(`rollback ${id}`, "ends it; nothing was changed that could be taken back")];
}

/** Results over which a person may open a step again. */
export const RETRIED: readonly string[] = ["denied", "rejected", "conflict", "no_effect"];

/** A step that a person may open again. After a rollback in part, everything that it took back comes with the first. */
function retries(id: string, state: OperationState): NextCommand[] {
  const keep = state.rollback?.toStep;
  const step = state.steps.find(({ plan, receipt }) => {
    if (!isWrite(plan)) return false;
    return keep === undefined ? RETRIED.includes(receipt?.result ?? "") : plan.step > keep;
  })?.plan.step;
  if (step === undefined) return [];
  const what =
    keep === undefined
      ? `opens a new try of step ${step}, which is asked for again`
      : `opens step ${step} and what follows it again, and asks for each`;
  return [command(`run ${id} --retry-step ${step}`, what, "a new approval")];
}

/** What no read settles, and a named approver can say. */
function words(id: string, state: OperationState): NextCommand[] {
  return state.steps.flatMap((step) => {
    const { step: number } = step.plan;
    const say = (as: string, effect: string) => command(`resolve ${id} --step ${number} ${as}`, effect, KEY);
    if (inDoubt(step))
      return [say("--as applied", "says by a signed word that it happened; or --as not-applied, that it did not")];
    if (step.receipt?.attribution === "presumed")
      return [say("--as ours", "says by a signed word whose change it is; or --as not-ours, and it stays")];
    const stuck = step.undone !== null && !settledUndo(step.undone.result);
    return stuck
      ? [say("--undo --as left", "leaves it as it is, by a signed word, and ends the rollback past it")]
      : [];
  });
}

/** Going on with a rollback: where it has something to do that nobody needs to decide first, or was refused before. */
function again(id: string, state: OperationState): NextCommand[] {
  const stuck = state.steps.filter(({ undone }) => undone !== null && !settledUndo(undone.result));
  const open = compensations(state).filter(
    ({ step, receipt }) => step.undone === null && receipt.attribution === "proven",
  );
  if (stuck.length === 0 && open.length === 0) return [];
  const tries = stepsText(stuck.map(({ plan }) => plan.step));
  const effect = stuck.length > 0 ? `reads again, and tries ${tries} again` : "goes on taking back";
  return [command(`rollback ${id}`, effect)];
}

/** As a sentence names them: "step 5", "steps 1, 3". */
export function stepsText(steps: readonly number[]): string {
  return `step${steps.length === 1 ? "" : "s"} ${steps.join(", ")}`;
}
