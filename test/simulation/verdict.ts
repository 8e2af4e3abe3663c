import { pendingDecisions } from "../../src/core/approval.ts";
import { residualEffects } from "../../src/core/residue.ts";
import { FINISHED, STATES } from "../../src/core/status.ts";
import { compensations } from "../../src/core/undo.ts";
import { isWrite } from "../../src/model/plan.ts";
import { wantedIn } from "./reads.ts";
import type { Theatre } from "./theatre.ts";
import { SUBJECT } from "./truth.ts";

/** Judged whenever a run has ended. */
export function judgeRest(theatre: Theatre): void {
  const { name, watch, state } = theatre;
  const { check } = watch;
  check("rest", name in STATES && name !== "running", () => name);
  if (watch.overtaken > 1) check("executor", name in STATES && name !== "running", () => name);
  const open = state.steps.find(
    ({ plan, receipt }) => receipt === null && isWrite(plan) && stillOurs(theatre, plan.step) !== null,
  );
  if (open || theatre.inTheAir)
    check("doubt", name === "needs_reconciliation", () => `it is ${name}, and step ${open?.plan.step} stands`);
  if (name === "awaiting_approval") {
    const { steps } = pendingDecisions(state, theatre.clock, theatre.rules);
    check("decidable", steps.length > 0, () => "nothing can be decided");
  }
}

/** Judged once nothing moves any more, and after one run more. */
export function judgeEnd(theatre: Theatre, runAgain: () => void): void {
  judgeTruth(theatre);
  const { name, watch } = theatre;
  const { arrivals } = watch;
  const changes = theatre.world.applied.length;
  theatre.adversities = 0;
  runAgain();
  const same = theatre.name === name && watch.arrivals === arrivals && theatre.world.applied.length === changes;
  const settled = FINISHED.includes(name) && !isDue(theatre);
  if (settled) watch.check("again", same, () => `it was ${name} and is ${theatre.name}`);
}

/** Its deadline has passed and no run has looked since. */
export function isDue({ name, state }: Theatre): boolean {
  return (
    name === "expired" && state.rollback === null && !state.steps.some(({ receipt }) => receipt?.result === "expired")
  );
}

/** The step's own change that stands, by the key that made it. */
function stillOurs(theatre: Theatre, number: number): string | null {
  const plan = theatre.plan.steps[number - 1];
  const { key } = theatre.watch.track(number, "apply");
  return plan && isWrite(plan) && key !== null && theatre.watch.stands(plan, key) ? key : null;
}

function judgeTruth(theatre: Theatre): void {
  const { state, watch, name, world } = theatre;
  const { check } = watch;
  const residual = residualEffects(state);
  for (const { plan, receipt, undone } of state.steps) {
    if (!isWrite(plan)) continue;
    const stands = stillOurs(theatre, plan.step) !== null;
    const word = watch.words.get(plan.step);
    if (stands && word !== "not-ours") {
      const told = receipt?.ours || receipt?.result === "unknown" || receipt === null;
      const kept = undone === null || undone.result === "left" || residual.some(({ step }) => step === plan.step);
      check("named", told === true && kept, () => `step ${plan.step} reads ${receipt?.result}, ${undone?.result}`);
    }
    if (name === "completed")
      check(
        "completed",
        receipt?.code === "resolved" || (receipt?.after ? wantedIn(plan, receipt.after) : false),
        () => `step ${plan.step} reads ${receipt?.result}`,
      );
  }
  if (name === "rolled_back" || name === "rolled_back_in_part") {
    const settled = ["undone", "already gone", "left"];
    const all = compensations(state).every(({ step }) => settled.includes(step.undone?.result ?? ""));
    check("back", all, () => "a compensation is open");
    const keep = name === "rolled_back" ? 0 : (state.rollback?.toStep ?? 0);
    for (const { plan, undone } of state.steps.slice(keep)) {
      if (stillOurs(theatre, plan.step) === null || watch.words.get(plan.step) === "not-ours") continue;
      const listed = residual.some(({ step }) => step === plan.step) || isWrite(plan) === false;
      check("back", listed || undone?.result === "left", () => `step ${plan.step} stands and is named nowhere`);
    }
  }
  const invitation = world.at("invitation");
  if (invitation.value === "accepted" && invitation.owner === "us" && invitation.by?.email === SUBJECT)
    check("accepted", name !== "cancelled" && (name !== "expired" || !state.rollback), () => name);
}
