import type { Edit, Way, World } from "./double.ts";
import { type Hooks, LIMITS, TIMING } from "./play.ts";
import type { Wire } from "./reach.ts";

/**
 * What a run may say of the step, in words that hold for every kind and both ways. `done`: ours and proven by a read.
 * `already`: so, and not by us. `held`: nothing was sent, and it says why. `beyond`: there is no way back any more.
 */
export type Word =
  | "done"
  | "already"
  | "denied"
  | "rejected"
  | "conflict"
  | "no_effect"
  | "unknown"
  | "paused"
  | "held"
  | "beyond";

/** One column of the matrix: something that goes wrong, and what is true then whoever looks. */
export interface Fault {
  /** The fault of the tenant by its name, then what is particular about it. */
  name: string;
  /** What happens, and what it means for the change. */
  means: string;
  arrange(world: World, way: Way): Promise<Hooks>;
  wire?: Wire;
  dress?: "hostile";
  /** Words that are true after the run under the fault. */
  words: readonly Word[];
  /** The same on the way back, where something else is true there. */
  undoWords?: readonly Word[];
  /** Changes of ours after it, where the word does not say. */
  applied?: 0 | 1;
  /** No write of ours may even have been sent. */
  silent?: boolean;
  /** How much longer something may take to land, in milliseconds. */
  landing?: number;
  /** Once it is gone: the step gets done, or stays as others made it, or still waits, or needs a person's eyes. */
  end: "done" | "theirs" | "waits" | "doubt";
  /** It happens by itself, and strikes no request. */
  unseen?: true;
}

const ALWAYS = 1_000_000;
type Rest = Partial<Fault>;
const no = async (): Promise<Hooks> => ({});

/** Set on the writes of the step ahead of the run. */
function onWrite(kind: string, times: number, words: readonly Word[], means: string, rest: Rest = {}): Fault {
  const arrange = async (world: World, way: Way) => {
    await world.fault(kind, way, times);
    return {};
  };
  return { name: times === ALWAYS ? `${kind}/always` : kind, means, arrange, words, end: "done", ...rest };
}

/** Set on everything ahead of the run, so that the reading before the write fails. */
function onReads(kind: string, means: string): Fault {
  const arrange = async (world: World) => {
    await world.fault(kind, "all", ALWAYS);
    return {};
  };
  return { name: `${kind}/reads`, means, arrange, words: ["paused", "held"], silent: true, end: "done" };
}

/** A fault of the write, another of all reads after it. */
function afterwards(write: string | null, reads: string, words: readonly Word[], applied: 0 | 1, means: string): Fault {
  const arrange = async (world: World, way: Way): Promise<Hooks> => {
    if (write !== null) await world.fault(write, way, 1);
    return { after: () => world.fault(reads, "all", ALWAYS) };
  };
  return { name: `${write ?? "calm"}/${reads}`, means, arrange, words, applied, end: "done" };
}

const REFUSALS: readonly (readonly [status: number, word: Word])[] = [
  [302, "rejected"],
  [400, "rejected"],
  [403, "denied"],
  [404, "conflict"],
  [409, "conflict"],
];

const refusals = REFUSALS.map(([status, word]) => ({
  ...onWrite(`status:${status}`, ALWAYS, [word], "a clear refusal: nothing happened"),
  name: `status:${status}`,
}));

const answers: Fault[] = [
  { name: "calm", means: "nothing goes wrong", arrange: no, words: ["done"], end: "done", unseen: true },
  ...refusals,
  onWrite("status:401", ALWAYS, ["paused"], "the credential is dead: nothing happened, and nothing is wrong with it"),
  onWrite(
    "status:200",
    1,
    ["done"],
    "a success that makes no sense: it is not known, did not happen, and is sent again",
  ),
  // Each time: an answer that comes too late on a busy machine is asked for again, and must be the same.
  {
    ...onWrite("status:202", ALWAYS, ["unknown"], "a promise that is not kept", { applied: 0, end: "doubt" }),
    name: "status:202",
  },
  onWrite("status:204", ALWAYS, ["no_effect"], "a bare success, and nothing was done"),
  onWrite("status:423", 1, ["done"], "locked for a moment: nothing happened, and it is sent again"),
  onWrite("status:500", 1, ["done"], "broke: not known, did not happen, and is sent again"),
  onWrite("status:500", ALWAYS, ["paused"], "broke, as often as it is tried: nothing happened"),
  onWrite("throttle:1", 1, ["done"], "told to come back in a second"),
  onWrite("throttle:600", ALWAYS, ["paused"], "told to come back in ten minutes", { end: "waits" }),
  onWrite("throttle_by_text", 1, ["done"], "a 403 that only its words tell from a missing permission"),
  onWrite("throttle_by_text", ALWAYS, ["paused"], "throttled by words, as often as it is tried"),
  onWrite("masked_403_as_404", ALWAYS, ["conflict"], "a 404 for a permission: nothing happened"),
];

/** What somebody put there again is theirs, also where it looks as we left it; where it has an id of its own, ours is gone. */
const THEIRS: readonly Word[] = ["conflict", "already"];

const losses: Fault[] = [
  onWrite("lost_before_commit", 1, ["done"], "no answer, nothing happened, and it is sent again"),
  onWrite("lost_before_commit", ALWAYS, ["paused"], "no answer, nothing happened, as often as it is tried"),
  onWrite("lost_after_commit", 1, ["done"], "no answer, and it happened"),
  onWrite("commit_late:60", 1, ["done"], "no answer, and it happens a little later", { landing: 60 }),
  onWrite("reset_mid_body", 1, ["done"], "the answer breaks off, and it happened"),
  onWrite("malformed_body", 1, ["done"], "the answer is no JSON, and it happened"),
  onWrite("error_though_applied", 1, ["done"], "refused, and it happened all the same"),
  onWrite("success_without_effect", 1, ["no_effect"], "accepted, and nothing happened"),
  onWrite("delay:40", 1, ["done"], "slow"),
  {
    ...onWrite(`delay:${TIMING.requestMs + 40}`, 1, ["done"], "slower than we wait: no answer, and it happens later"),
    name: "delay/too_long",
    landing: 100,
  },
  onWrite("async:60", 1, ["done"], "promised, and done a little later", { landing: 60 }),
  {
    ...onWrite(`async:${LIMITS.asyncMs + 700}`, 1, ["unknown"], "promised, and done later than anybody waits"),
    name: "async/too_long",
    // On a busy machine the last look may come so late that it is done by then, and seen.
    words: ["unknown", "done"],
    // Until it is done, nothing is; the truth is told when it was.
    applied: 1,
    landing: 1_200,
  },
];

const reads: Fault[] = [
  onReads("status:403", "nothing may be read"),
  onReads("status:500", "nothing can be read"),
  onReads("throttle_by_text", "reads are throttled, and only words say so"),
  onReads("masked_403_as_404", "every read is a 404, which proves no absence"),
  onReads("malformed_body", "no answer makes sense"),
  onReads("reset_mid_body", "every answer breaks off"),
  {
    ...onReads("truncate_page", "lists lack half of what they say they have; one that is empty lacks nothing"),
    words: ["paused", "held", "unknown"],
    silent: false,
  },
  onWrite("stale_reads:2", 1, ["done"], "the first reads after the write still see what was"),
  afterwards(null, "status:500", ["unknown"], 1, "it happened, and nothing can be read"),
  afterwards("success_without_effect", "masked_403_as_404", ["unknown"], 0, "nothing happened, and reads are masked"),
  afterwards("lost_before_commit", "masked_403_as_404", ["unknown"], 0, "never arrived, and reads are masked"),
  afterwards("lost_after_commit", "masked_403_as_404", ["unknown"], 1, "it happened, no answer, and reads are masked"),
  afterwards("lost_after_commit", "truncate_page", ["done", "unknown"], 1, "it happened, no answer, and lists are cut"),
];

/** Somebody else is quicker, between the reading and the write; the write itself may meet a fault, too. */
function outrun(name: string, means: string, kind?: string): Fault {
  const arrange = async (world: World, way: Way): Promise<Hooks> => ({
    async between() {
      await world.rival("same", way);
      if (kind !== undefined) await world.fault(kind, way, 1);
    },
  });
  return { name, means, arrange, words: ["already"], end: "theirs" };
}

/** Somebody else was there before the run, which has every chance to see it. */
function ahead(edit: Edit, words: readonly Word[], means: string, rest: Rest): Fault {
  const arrange = async (world: World, way: Way): Promise<Hooks> => {
    await world.rival(edit, way);
    return {};
  };
  return { name: `rival_${edit}/ahead`, means, arrange, words, end: "theirs", ...rest };
}

const others: Fault[] = [
  outrun("rival_same", "somebody does just what the step wants, and it stays theirs"),
  outrun("rival_same/lost", "somebody does it first, and our answer is lost", "lost_after_commit"),
  outrun("ignore_if_match/rival", "the guard is ignored, and somebody was first", "ignore_if_match"),
  onWrite("ignore_if_match", 1, ["done"], "the guard is not looked at, and nobody was there"),
  {
    ...outrun("rival_other", "somebody makes something else of it, and it stays"),
    words: ["conflict", "already", "beyond"],
    arrange: async (world, way) => ({ between: () => world.rival("other", way) }),
  },
  {
    ...outrun("rival_touch", "somebody changes it, and back again"),
    words: ["conflict", "done"],
    undoWords: THEIRS,
    arrange: async (world, way) => ({ between: () => world.rival("touch", way) }),
    end: "done",
  },
  ahead("same", ["already"], "somebody did it before we looked", { silent: true }),
  ahead("other", ["conflict", "already", "beyond"], "somebody made something else of it before we looked", {
    silent: true,
  }),
  ahead("touch", ["done"], "somebody changed it and back again before we looked", {
    undoWords: THEIRS,
    end: "done",
  }),
  {
    ...outrun("lost_before_commit/rival", "ours never arrived, and somebody does it afterwards"),
    arrange: async (world, way) => {
      await world.fault("lost_before_commit", way, 1);
      return { after: () => world.rival("same", way) };
    },
  },
  {
    ...outrun("stale_reads/rival", "somebody did it before we looked, and the replica does not know"),
    arrange: async (world, way) => {
      await world.rival("same", way);
      await world.fault("stale_reads:1", "all", ALWAYS);
      return { between: () => world.clear() };
    },
  },
  { ...calmly("delivered_twice", "the network delivers every write two times"), wire: "twice" },
  { ...calmly("hostile_names", "names that would be paths, queries and markup if they could"), dress: "hostile" },
  {
    ...calmly("died/unsent", "the process ends between the record of what it will send and the sending"),
    arrange: async () => ({ dies: "unsent" }),
    words: ["unknown"],
    applied: 0,
  },
  {
    ...calmly("died/unrecorded", "the process ends with the answer in hand"),
    arrange: async () => ({ dies: "unrecorded" }),
    words: ["unknown"],
    applied: 1,
  },
];

function calmly(name: string, means: string): Fault {
  return { name, means, arrange: no, words: ["done"], end: "done", unseen: true };
}

export const FAULTS: readonly Fault[] = [...answers, ...losses, ...reads, ...others];
