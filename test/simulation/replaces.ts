import { LIMITS } from "./replies.ts";
import type { Track } from "./track.ts";
import { type Abilities, type Applied, expectedValue, type Request } from "./truth.ts";

/** Whether replacing what somebody else decided was right, or could not be known. `word`: what a person said of the step. */
export function mayReplace(
  { from, target, phase, to }: Applied,
  { step, ifVersion }: Request,
  // What was read since it left cannot call it back.
  { looked, sentAt }: Track,
  { guard }: Abilities,
  word: string | undefined,
): boolean {
  if (!looked) return false;
  if (from.version > looked.version) {
    // An invitation that has ended, or a deleted account, is like none: nothing of it is replaced by a new one.
    const there = target === "invitation" ? from.value === "pending" : from.value !== null && from.value !== "deleted";
    if (guard === "if_match" && (ifVersion !== null || there)) return false;
    return sentAt - looked.at <= LIMITS.requestMs;
  }
  if (phase === "apply") return !("expects" in step) || from.value === expectedValue(step) || target === "invitation";
  // A word names no version that what is there could be compared with, and may be wrong.
  if (word === "applied" || word === "ours") return true;
  // What is not there has no version; only by one could it be told that somebody else took it away meanwhile.
  return (guard === "none" || from.value === null) && (target !== "invitation" || from.id === to.id);
}
