import { pendingDecisions } from "../../src/core/approval.ts";
import { type Resolution, unresolvable } from "../../src/core/resolve.ts";
import { settledUndo } from "../../src/core/resolved.ts";
import { FINISHED } from "../../src/core/status.ts";
import { atRest } from "./adversity.ts";
import { run } from "./executor.ts";
import { accept, endInvitation, isPending } from "./neighbours.ts";
import { approve, beginRollback, deny, resolve, retriable, retry, stop } from "./people.ts";
import type { Theatre } from "./theatre.ts";
import { isDue, judgeEnd, judgeRest } from "./verdict.ts";

const DAY = 24 * 3_600_000;
/** More runs than this and a history is said never to come to rest. */
const MOST_RUNS = 40;

interface Act {
  name: string;
  does(): void;
}

/** One history from the frozen plan to its rest, with the people around it; `acts` of them do what is not ordinary. */
export function live(theatre: Theatre, acts: number): void {
  let left = acts;
  const choose = (choices: Act[]): boolean => {
    if (left <= 0 || choices.length === 0) return false;
    const picked = theatre.chooser.pick(choices.length + 1);
    const act = choices[picked - 1];
    if (!act) return false;
    left -= 1;
    theatre.print.word(act.name);
    theatre.tell?.(`ACT ${act.name}`);
    act.does();
    return true;
  };
  const begins = [{ name: "runs ahead of any approval", does: () => {} }, ...possible(theatre)];
  if (left === 0 || !choose(begins)) approve(theatre);
  let idle = 0;
  for (let round = 0; idle < 2; round++) {
    if (round > MOST_RUNS) throw new Error("the history never comes to rest");
    const name = theatre.name;
    const { arrivals } = theatre.watch;
    const ending = run(theatre);
    judgeRest(theatre);
    theatre.tell?.(`— ${ending}: ${theatre.name}`);
    theatre.tick(50);
    atRest(theatre);
    const moved = theatre.name !== name || theatre.watch.arrivals !== arrivals;
    if (left > 0 && choose(possible(theatre))) idle = 0;
    else if (!ordinary(theatre)) break;
    else idle = moved ? 0 : idle + 1;
  }
  judgeEnd(theatre, () => run(theatre));
}

/** What people do of themselves once nothing runs. False: it is over. */
function ordinary(theatre: Theatre): boolean {
  const { name, state } = theatre;
  if (name === "waiting" && isPending(theatre.world)) accept(theatre.world, "invited", theatre.clock);
  if (name === "awaiting_approval" || name === "rollback_pending") approve(theatre);
  const until = state.paused?.until;
  if (until) theatre.tick(Math.max(0, Date.parse(until) - theatre.clock));
  return !FINISHED.includes(name) || isDue(theatre);
}

/** What an operator, an approver or the invited person may do here instead. */
function possible(theatre: Theatre): Act[] {
  const { state, world, name } = theatre;
  if (state.ended !== null) return [];
  const acts: Act[] = [];
  const can = (what: string, does: () => void) => acts.push({ name: what, does });
  if (!state.rollback) {
    can("rolls back", () => beginRollback(theatre, 0));
    if (state.steps.length > 1) can("rolls back to step 1", () => beginRollback(theatre, 1));
    if (!FINISHED.includes(name)) can("stops it", () => stop(theatre));
    if (name === "stopped") can("approves again", () => approve(theatre));
    if (pendingDecisions(state, theatre.clock, theatre.rules).steps.length > 0) can("denies", () => deny(theatre));
  } else if (state.rollback.toStep > 0) can("rolls the rest back", () => beginRollback(theatre, 0));
  if (state.rollback && state.steps.some(({ undone }) => undone !== null && !settledUndo(undone.result)))
    can("rolls back again", () => beginRollback(theatre, 0));
  const failed = retriable(theatre);
  if (failed) can("retries", () => retry(theatre, failed.plan.step));
  for (const [step, as] of words(theatre)) can(`resolves as ${as}`, () => resolve(theatre, step, as));
  if (isPending(world)) {
    can("somebody else accepts", () => accept(world, "other", theatre.clock));
    can("the invited person declines", () => endInvitation(world, "declined", theatre.clock));
    can("the invitation expires", () => endInvitation(world, "expired", theatre.clock));
    can("the deadline passes", () => theatre.tick(8 * DAY));
  }
  return acts;
}

/** What an honest approver may say of what no read has settled. */
function words({ state, watch, inTheAir }: Theatre): [number, Resolution][] {
  return state.steps.flatMap(({ plan, receipt }): [number, Resolution][] => {
    const { changes } = watch.track(plan.step, "apply");
    const happened: Resolution = changes > 0 ? "applied" : "not-applied";
    const whose: Resolution = changes > 0 && receipt?.ours ? "ours" : "not-ours";
    return ([happened, whose, "left"] as const)
      .filter((as) => as !== happened || !inTheAir)
      .filter((as) => unresolvable(state, plan.step, as) === null)
      .map((as) => [plan.step, as]);
  });
}
