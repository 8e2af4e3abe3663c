import { type Proof, standing } from "../../src/core/kinds.ts";
import { residualEffects } from "../../src/core/residue.ts";
import { compensations } from "../../src/core/undo.ts";
import { isWrite } from "../../src/model/plan.ts";
import type { Player } from "./player.ts";

export interface Violation {
  invariant: string;
  detail: string;
}

/** The promises, as they can be judged when a history has come to rest. */
export function judgeHistory(player: Player, tally: (invariant: string) => void): Violation[] {
  const violations: Violation[] = [];
  const check = (invariant: string, atStake: boolean, holds: boolean, detail: string) => {
    if (atStake) tally(invariant);
    if (atStake && !holds) violations.push({ invariant, detail });
  };
  const { world } = player;
  const state = player.state;

  const perKey = new Map<string, number>();
  for (const change of world.applied) perKey.set(change.key, (perKey.get(change.key) ?? 0) + 1);
  check(
    "at most one change a step and try",
    world.applied.length > 0,
    [...perKey.values()].every((count) => count === 1),
    "one key changed the tenant twice",
  );

  const requested = new Set(player.entries.flatMap((entry) => (entry.kind === "step.requested" ? [entry.key] : [])));
  check(
    "every arrival was journalled first",
    world.arrived.length > 0,
    world.arrived.every(({ key }) => requested.has(key)),
    "a request arrived that no intent announced",
  );

  const name = player.name;
  for (const step of state.steps) {
    if (!isWrite(step.plan)) continue;
    const { receipt } = step;
    const changedByUs = world.applied.some((change) => change.step === step.plan.step);
    if (receipt?.ours && receipt.attribution === "proven")
      check(
        "what is called ours was changed by us",
        true,
        changedByUs,
        `step ${step.plan.step} reads ${receipt.result} and never changed anything`,
      );
    if (
      receipt &&
      !receipt.ours &&
      ["adopted", "already_present", "unchanged", "already_absent"].includes(receipt.result) &&
      receipt.before !== null &&
      step.apply.intent === null
    )
      check(
        "what was so before owns nothing",
        true,
        receipt.compensation === null,
        `step ${step.plan.step} would take back what was there`,
      );
    if (
      changedByUs &&
      receipt &&
      ["denied", "rejected", "no_effect", "conflict"].includes(receipt.result) &&
      step.undone === null
    )
      check(
        "a refusal is recorded only where nothing happened",
        true,
        stillReads(player, step.plan.step) !== "ours",
        `step ${step.plan.step} reads ${receipt.result}, and our change stands`,
      );
  }

  if (name === "completed")
    for (const step of state.steps) {
      if (!isWrite(step.plan)) continue;
      const seen = step.receipt?.after;
      const proven =
        seen !== null &&
        seen !== undefined &&
        seen.kind !== "unreadable" &&
        (standing(step.plan, seen as Proof, false) === "wanted" || step.receipt?.result === "accepted");
      check("completed means proven by a read", true, proven, `step ${step.plan.step} was never seen as wanted`);
    }

  for (const change of world.applied)
    check(
      "nobody else's decision is overwritten",
      true,
      change.from.owner !== "rival" || player.met.some((met) => met.includes("rival_before")),
      `${change.target} was ${change.from.value} by somebody else`,
    );

  if (name === "rolled_back")
    for (const [target, thing] of Object.entries(world.truth.things)) {
      if (thing.owner !== "us") continue;
      const began = player.begin.things[target]?.value ?? (target === "role" ? "guest" : null);
      const named = residualEffects(state).length > 0 || state.steps.some((step) => step.undone?.result === "left");
      check(
        "rolled back means as it was, or named",
        true,
        thing.value === began || named,
        `${target} stays ${thing.value} and is named nowhere`,
      );
    }

  const silent = world.applied.some((change) => {
    const step = state.steps[change.step - 1];
    const stands = standsOurs(player, change.target, change.to);
    return stands && step && step.receipt === null && step.apply.intent === null;
  });
  check(
    "whatever of ours stands is known",
    world.applied.length > 0,
    !silent,
    "a change of ours stands that no step knows of",
  );
  if (["rolled_back", "rolled_back_in_part"].includes(name))
    check(
      "no compensation is left open",
      true,
      compensations(state).every(({ step }) => step.undone !== null),
      "a compensation has no result",
    );
  check("a history ends in a named state", true, typeof name === "string" && name !== "running", "it has no end");
  return violations;
}

function standsOurs(player: Player, target: string, value: string | null): boolean {
  const thing = player.world.truth.things[target];
  return thing !== undefined && thing.owner === "us" && thing.value === value;
}

function stillReads(player: Player, step: number): "ours" | "other" {
  const change = player.world.applied.filter((one) => one.step === step).at(-1);
  return change && standsOurs(player, change.target, change.to) ? "ours" : "other";
}
