import type { Step } from "../../src/model/plan.ts";
import type { Chooser } from "./chooser.ts";
import { judgeHistory, type Violation } from "./invariants.ts";
import { planOf, worldFor } from "./plans.ts";
import { Player } from "./player.ts";
import { type Abilities, SUBJECT, World } from "./world.ts";

export interface Setting {
  steps: readonly string[];
  abilities: Abilities;
  adversities: number;
  accountAbsent: boolean;
}

export interface Outcome {
  violations: Violation[];
  state: string;
  moves: number;
  story: string;
}

/** What another administrator does to the thing at hand: the same value, another, or removing it. */
function rival(world: World, step: Step, choice: number): void {
  const target = World.target(step);
  if (target === "invitation") {
    if (choice === 0) world.accept();
    else if (choice === 1) world.accept("other@example.test");
    else world.end("cancelled");
    return;
  }
  if (target === "account") {
    const { account } = world.truth;
    if (account)
      world.truth = {
        ...world.truth,
        account: { ...account, status: choice === 0 ? "suspended" : choice === 1 ? "active" : "deleted" },
      };
    return;
  }
  const wanted =
    target === "role"
      ? ["member", "admin", "guest"]
      : target === "sessions" || target === "credentials"
        ? ["3", "1", null]
        : ["yes", "yes", null];
  world.put(target, wanted[choice] ?? null, "rival");
}

/** One history from beginning to rest, with the people around it: they approve, accept, run again, and roll back. */
export async function play(setting: Setting, chooser: Chooser, tally: (invariant: string) => void): Promise<Outcome> {
  const plan = planOf(setting.steps, setting.accountAbsent);
  const world = new World(worldFor(plan), setting.abilities);
  const begins = chooser.pick(plan.steps.length + 1, "already so");
  if (begins > 0) alreadySo(world, plan.steps[begins - 1] as Step);
  const player = new Player(plan, world, chooser, { adversities: setting.adversities, rival });
  const ending = chooser.pick(3, "what the operator does");
  await forward(player, chooser);
  if (ending === 1) await back(player);
  if (ending === 2) {
    await back(player, 1);
    await back(player);
  }
  return {
    violations: judgeHistory(player, tally),
    state: player.name,
    moves: player.moves,
    story: player.met.join(", "),
  };
}

/** The world begins half true: somebody has already done what this step wants. */
function alreadySo(world: World, step: Step): void {
  if (step.kind === "invite")
    world.truth = {
      ...world.truth,
      invitation: { id: "inv_0", status: "pending", role: "guest", by: null, owner: "before" },
    };
  else rivalWanted(world, step);
}

function rivalWanted(world: World, step: Step): void {
  const target = World.target(step);
  if (target === "invitation" || target === "account") return;
  const value =
    step.kind === "set_role" ? step.role : step.kind === "add_group" || step.kind === "assign_license" ? "yes" : null;
  world.put(target, value, "before");
}

async function forward(player: Player, chooser: Chooser): Promise<void> {
  let still = 0;
  for (let round = 0; round < 12 && still < 2; round++) {
    const seq = player.entries.length;
    const died = await player.run();
    player.tick(50);
    const waiting = player.name === "waiting" && player.world.truth.invitation?.status === "pending";
    if (waiting) meanwhile(player, chooser);
    const decided = player.approve().length > 0;
    still = died || waiting || decided || player.entries.length > seq + 2 ? 0 : still + 1;
  }
}

function meanwhile(player: Player, chooser: Chooser): void {
  const choice = chooser.pick(5, "what the invited person does");
  if (choice === 0) player.world.accept(SUBJECT);
  else if (choice === 1) player.world.accept("other@example.test");
  else if (choice === 2) player.world.end("declined");
  else if (choice === 3) player.tick(8 * 86_400_000);
}

async function back(player: Player, toStep = 0): Promise<void> {
  for (let round = 0; round < 6; round++) {
    player.rollback(toStep);
    await player.run();
    player.tick(50);
    if (player.approve().length === 0 && round > 2) return;
  }
}
