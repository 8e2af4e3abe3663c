import { pendingDecisions } from "../../src/core/approval.ts";
import { isWrite, type Step } from "../../src/model/plan.ts";
import type { Ask } from "../../src/runtime/execute.ts";
import {
  accept,
  canEdit,
  EDITS,
  edit,
  endInvitation,
  isPending,
  lives,
  remakeAccount,
  removeAccount,
} from "./neighbours.ts";
import { approve, deny, stop } from "./people.ts";
import { LIMITS, READS, type ReadFault, WRITES, type WriteFault } from "./replies.ts";
import { DEATH, type Executor, type Theatre } from "./theatre.ts";
import { targetOf } from "./truth.ts";

const HOUR = 3_600_000;

/** One thing that may go wrong: its name, what it is about, and how it happens. */
interface Adversity {
  name: string;
  about: string;
  happen(): void;
}

/** Lets another executor take the lease and answers so many of its questions, while this one sleeps. */
export type Overtake = (questions: number) => void;

/** Picks one of what may happen here, or nothing; each costs one of the adversities that the history may hold. */
function struck<T>(theatre: Theatre, choices: readonly T[], nameOf: (choice: T) => string): T | null {
  const choice = theatre.chooser.pick(choices.length + 1);
  if (choice === 0) return null;
  const chosen = choices[choice - 1] as T;
  theatre.adversities -= 1;
  theatre.print.word(nameOf(chosen));
  theatre.tell?.(`ADVERSITY ${nameOf(chosen)}`);
  return chosen;
}

const nameOf = ({ name, about }: Adversity) => `${name} ${about}`;

/** Whatever may happen between two moves of an executor: before it reads, sends or appends. */
export function betweenMoves(theatre: Theatre, executor: Executor, appends: boolean, overtake: Overtake): void {
  if (theatre.adversities <= 0) return;
  const choices: Adversity[] = [];
  toExecutor(choices, theatre, executor, appends, overtake);
  byPeople(choices, theatre);
  // A file that changes between the last look at it and the next append is seen one append later.
  if (!appends) byRules(choices, theatre);
  byNeighbours(choices, theatre);
  struck(theatre, choices, nameOf)?.happen();
}

/** Whatever may happen while nothing runs. */
export function atRest(theatre: Theatre): void {
  if (theatre.adversities <= 0) return;
  const choices: Adversity[] = [{ name: "a day goes by", about: "", happen: () => theatre.tick(25 * HOUR) }];
  byNeighbours(choices, theatre);
  byRules(choices, theatre);
  struck(theatre, choices, nameOf)?.happen();
}

/** How many questions of whoever took over are answered before the one that was overtaken wakes. */
const WAKES = [0, 2, Number.POSITIVE_INFINITY];

function toExecutor(to: Adversity[], theatre: Theatre, executor: Executor, appends: boolean, overtake: Overtake): void {
  const die = () => {
    throw DEATH;
  };
  to.push({ name: appends ? "dies, and the append is lost" : "dies", about: "", happen: die });
  if (!executor.signalled) to.push({ name: "gets a signal", about: "", happen: () => signal(executor) });
  if (executor.epoch !== theatre.epoch) return;
  for (const questions of WAKES)
    to.push({ name: "overtaken, and wakes after", about: `${questions}`, happen: () => overtake(questions) });
  to.push({ name: "sleeps for a day", about: "", happen: () => sleep(theatre, executor) });
}

function signal(executor: Executor): void {
  executor.signalled = true;
}

function sleep(theatre: Theatre, executor: Executor): void {
  executor.asleep = true;
  theatre.tick(25 * HOUR);
}

function byPeople(to: Adversity[], theatre: Theatre): void {
  const { state } = theatre;
  const pending = pendingDecisions(state, theatre.clock, theatre.rules);
  if (pending.steps.length > 0) {
    to.push({ name: "somebody approves", about: "", happen: () => approve(theatre) });
    if (pending.phase === "apply") to.push({ name: "somebody denies", about: "", happen: () => deny(theatre) });
  }
  if (!state.rollback && state.ended === null)
    to.push({ name: "somebody stops it", about: "", happen: () => stop(theatre) });
}

function byRules(to: Adversity[], theatre: Theatre): void {
  const next = theatre.state.steps.find((step) => step.receipt === null && isWrite(step.plan))?.plan;
  if (theatre.state.decisions.length > 0)
    to.push({ name: "the roster is emptied", about: "", happen: () => theatre.revokeApprovals() });
  if (next && !theatre.rules.denied.has(next.step))
    to.push({ name: "a rule denies the next step", about: "", happen: () => theatre.forbid(next.step) });
}

/** Edits of the things that the plan is about and of the account, and what becomes of an open invitation. */
function byNeighbours(to: Adversity[], theatre: Theatre): void {
  const { world } = theatre;
  const seen: string[] = [];
  for (const plan of theatre.plan.steps) {
    const target = targetOf(plan);
    if (seen.includes(target) || !isWrite(plan)) continue;
    seen.push(target);
    for (const what of EDITS)
      if (canEdit(world, plan, what))
        to.push({ name: target, about: what, happen: () => edit(world, plan, what, theatre.clock) });
  }
  if (!seen.includes("account") && lives(world)) {
    to.push({ name: "account", about: "deleted", happen: () => removeAccount(world, theatre.clock) });
    to.push({ name: "account", about: "made anew", happen: () => remakeAccount(world, theatre.clock) });
  }
  if (!isPending(world)) return;
  for (const who of ["invited", "other"] as const)
    to.push({ name: "accepted by", about: who, happen: () => accept(world, who, theatre.clock) });
  for (const how of ["declined", "expired"] as const)
    to.push({ name: "the invitation is", about: how, happen: () => endInvitation(world, how, theatre.clock) });
}

export function whileReading(theatre: Theatre, step: Step, move: Extract<Ask["move"], { kind: "observe" }>): ReadFault {
  if (theatre.adversities <= 0) return "answered";
  const target = targetOf(step);
  const { world, clock } = theatre;
  const past = world.truthAt(clock - LIMITS.settleMs);
  const differs =
    past[target] !== world.truth[target] || (target === "invitation" && past.account !== world.truth.account);
  const may = READS.filter((fault) => {
    if (fault === "answered") return false;
    if (fault === "stale") return differs && move.purpose !== "authorship";
    return fault === "unreadable" || move.purpose === "before";
  });
  return struck(theatre, may, (fault) => `read: ${fault}`) ?? "answered";
}

const FAULTS = WRITES.slice(1);

export function whileWriting(theatre: Theatre, step: Step): WriteFault {
  if (theatre.adversities <= 0) return "answered";
  return struck(theatre, FAULTS, (fault) => `write of ${step.kind}: ${fault}`) ?? "answered";
}

/** While a run waits for it, the invited person accepts, if nothing comes in between. */
export function whileWaiting(theatre: Theatre): void {
  const choices: Adversity[] = [{ name: "nobody accepts yet", about: "", happen: () => {} }];
  byPeople(choices, theatre);
  byNeighbours(choices, theatre);
  const chosen = theatre.adversities > 0 ? struck(theatre, choices, nameOf) : null;
  if (chosen) chosen.happen();
  else if (isPending(theatre.world)) accept(theatre.world, "invited", theatre.clock);
}
