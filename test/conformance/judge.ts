import { setTimeout as sleep } from "node:timers/promises";
import type { Refusal } from "../../src/core/approval.ts";
import type { Truth, Way } from "./double.ts";
import type { Fault, Word } from "./faults.ts";
import type { Play } from "./play.ts";
import { wordOf } from "./words.ts";

/** Something that was looked for and was not so. */
export class Red extends Error {}

function demand(holds: boolean, why: string): asserts holds {
  if (!holds) throw new Red(why);
}

/** One cell: the way is taken under the fault, then without it, then taken back. Throws `Red` where anything is untrue. */
export async function judge(play: Play, fault: Fault, way: Way): Promise<{ struck: number }> {
  const { world } = play;
  if (way === "undo") await forward(play);
  const start = await world.truth();
  const hooks = await fault.arrange(world, way);
  const refusal = await go(play, way, hooks, fault);
  const struck = await world.struck();
  await world.clear();
  if (fault.landing !== undefined) await sleep(fault.landing);

  const after = await world.truth();
  const word = wordOf(play.state(), way, refusal);
  const words: readonly string[] = (way === "undo" ? fault.undoWords : undefined) ?? fault.words;
  demand(words.includes(word), `says ${word}, not ${words.join(" or ")}`);
  holdsOf(play, word as Word, fault, way, after);
  if (fault.end === "theirs") await staysTheirs(play, word as Word, way, after);
  else await getsDone(play, fault, word as Word, way, start);
  await takenBack(play, way, fault, start);
  const rest = (await world.truth()).rest;
  demand(rest === start.rest, `something else changed: ${difference(start.rest, rest)}`);
  return { struck };
}

async function forward(play: Play): Promise<void> {
  await play.run();
  const word = wordOf(play.state(), "apply", null);
  demand(word === "done", `could not be prepared: without a fault the step says ${word}`);
}

function go(play: Play, way: Way, hooks = {}, fault?: Fault): Promise<Refusal | null> {
  return way === "apply" ? play.run(hooks, fault?.wire) : play.rollback(hooks, fault?.wire);
}

/** Our own writes in one direction, by what they carried; no other may have changed anything. */
function ours(play: Play, way: Way, { writes }: Truth): { sent: number; applied: number } {
  const keys = (phase: "apply" | "rollback") =>
    play.entries.flatMap((entry) => (entry.kind === "step.requested" && entry.phase === phase ? [entry.key] : []));
  const mine = keys(way === "apply" ? "apply" : "rollback");
  const known = [...keys("apply"), ...keys("rollback")];
  const strange = writes.find(({ key, applied }) => applied && key !== null && !known.includes(key));
  demand(strange === undefined, "a request changed something that no record announced");
  const sent = writes.filter(({ key }) => key !== null && mine.includes(key));
  return { sent: sent.length, applied: sent.filter(({ applied }) => applied).length };
}

function wantedOf({ world }: Play, way: Way): string {
  return way === "apply" ? world.words.wanted : world.words.restored;
}

/** What each word claims, held against the log and the state. */
function holdsOf(play: Play, word: Word, fault: Fault, way: Way, truth: Truth): void {
  const { sent, applied } = ours(play, way, truth);
  demand(applied <= 1, `${applied} requests changed something`);
  if (fault.silent) demand(sent === 0, `${sent} writes were sent on a reading that proved nothing`);
  const claim = word === "unknown" ? (fault.applied ?? applied) : word === "done" ? 1 : 0;
  demand(applied === claim, `says ${word}, and ${applied} of its requests changed something`);
  const { also, another } = play.world.words;
  const past = word === "already" && [also, way === "undo" ? another : undefined].includes(truth.target);
  const wanted = truth.target === wantedOf(play, way) || past;
  if (word === "done" || word === "already") demand(wanted, `says ${word}, and the target is ${truth.target}`);
  else if (claim === 0) demand(!wanted || fault.end === "theirs", `says ${word}, and it is as wanted`);
}

/** Somebody else decided: asked again it says the same, and neither then nor later is anything taken from them. */
async function staysTheirs(play: Play, word: Word, way: Way, after: Truth): Promise<void> {
  const refusal = await go(play, way);
  const now = await play.world.truth();
  const again = wordOf(play.state(), way, refusal);
  demand(again === word, `said ${word}, and asked again ${again}`);
  demand(now.target === after.target, `what others made ${after.target} is ${now.target} now`);
  demand(ours(play, way, now).applied === 0, "it changed what was others'");
}

async function getsDone(play: Play, fault: Fault, word: Word, way: Way, start: Truth): Promise<void> {
  const { world } = play;
  const refused = ["denied", "rejected", "conflict", "no_effect"].includes(word);
  if (way === "apply" && refused) play.retry();
  let refusal = await go(play, way);
  const still = wordOf(play.state(), way, refusal);
  if (fault.end === "waits") {
    demand(still === word, `was told to wait, and says ${still}`);
    demand(ours(play, way, await world.truth()).applied === 0, "was told to wait, and did it");
    return;
  }
  if (fault.end === "doubt" && still === "unknown") {
    if (way === "undo") return;
    play.resolve();
    refusal = await go(play, way);
  } else if (still !== "done" && still !== word) {
    // What was in doubt is known not to have happened: a person may open it again.
    if (way === "apply") play.retry();
    refusal = await go(play, way);
  }
  const end = wordOf(play.state(), way, refusal);
  const truth = await world.truth();
  const { applied } = ours(play, way, truth);
  // What somebody put back by hand is theirs, also where it looks as we left it.
  if (way === "undo" && fault.undoWords?.includes(word)) return stays(word, end, applied, truth, start);
  demand(end === "done", `says ${end} although nothing is wrong any more`);
  demand(applied === 1, `says ${end}, and ${applied} of its requests changed something`);
  demand(truth.target === wantedOf(play, way), `says ${end}, and the target is ${truth.target}`);
}

function stays(word: Word, end: string, applied: number, truth: Truth, start: Truth): void {
  demand(end === word, `what somebody put there again is theirs, and it says ${end}`);
  demand(applied === 0 && truth.target === start.target, `what somebody put there again is ${truth.target} now`);
}

/** Forward cells end with the way back: what was ours goes, once, and nothing else does. */
async function takenBack(play: Play, way: Way, fault: Fault, start: Truth): Promise<void> {
  if (way === "undo") return;
  const { world } = play;
  const before = await world.truth();
  const mine = ours(play, "apply", before).applied === 1;
  const back = mine && play.state().steps[0]?.receipt?.compensation !== null;
  await play.rollback();
  const truth = await world.truth();
  const { applied } = ours(play, "undo", truth);
  demand(
    applied === (back ? 1 : 0),
    `going back changed ${applied} things where ${back ? "one was" : "none was"} ours`,
  );
  const target = back ? world.words.restored : fault.end === "waits" ? start.target : before.target;
  demand(truth.target === target, `after going back the target is ${truth.target}, not ${target}`);
  const name = play.name();
  demand(name === "rolled_back" || fault.end === "waits", `after going back the operation is ${name}`);
}

function difference(before: string, after: string): string {
  const at = [...before].findIndex((char, index) => char !== after[index]);
  return `"${after.slice(Math.max(0, at - 20), at + 60)}" where "${before.slice(Math.max(0, at - 20), at + 60)}" was`;
}
