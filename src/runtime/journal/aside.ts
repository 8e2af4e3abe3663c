import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import type { Payload } from "../../model/entry.ts";
import { type ProvisionError, unverified } from "../../model/errors.ts";
import { errnoOf } from "../files.ts";
import { ENCRYPTION, ENTRY_VERSION, type SealedHeader } from "./chain.ts";
import { readOperation } from "./read.ts";
import { seal, unseal } from "./seal.ts";
import { guarded } from "./sqlite.ts";
import type { Store } from "./store.ts";
import { appendTo } from "./write.ts";

/** What the service answered to one wire attempt. */
export type Answer = Extract<Payload, { kind: "step.transport" }>;

/**
 * Room beside the journal for an answer that the journal cannot take any more. It is there before anything is sent, so
 * that a disk which fills up meanwhile has it already. What is kept is sealed with the operation's own key: it can be
 * neither read nor made up without it, and is erased with it.
 */
export interface Aside {
  path: string;
  /** Keeps the answer durably. Undefined: kept; else why it could not be. */
  keep(answer: Answer): string | undefined;
  /** Gives the room back, if nothing is kept in it. */
  release(): void;
}

const PREFIX = "unrecorded-";
/** One answer, sealed, in the form of a line of JSON, has about 3 KiB. */
const ROOM = 16_384;
/** No entry of a journal stands at this place, so that none can be taken for such an answer, nor the other way round. */
const PLACE = Number.MAX_SAFE_INTEGER;

export function reserve(store: Store, op: string): Aside {
  const { dir } = store;
  const path = join(dir, `${PREFIX}${op}-${Buffer.from(store.random(6)).toString("hex")}`);
  guarded(path, () => {
    // In memory from here on, whatever becomes of its file.
    store.keys.of(op);
    write(path, " ".repeat(ROOM), "wx");
  });
  let used = false;
  return {
    path,
    keep(answer) {
      try {
        const line = `${lineOf(store, op, answer)}\n`;
        if (statSync(path, { throwIfNoEntry: false }) === undefined) makeAnew(dir, path, line);
        // In place: neither a new name nor a new block is needed.
        else write(path, line, "r+");
        used = true;
        return undefined;
      } catch (error) {
        return errnoOf(error);
      }
    },
    release() {
      if (used) return;
      try {
        rmSync(path, { force: true });
      } catch {
        // It is empty, and the next run of the operation takes it away.
      }
    },
  };
}

/** The folder was taken away meanwhile. What is kept in its place says that a journal was there, and none is begun. */
function makeAnew(dir: string, path: string, line: string): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  write(path, line, "wx");
}

function write(path: string, text: string, flags: "wx" | "r+"): void {
  const handle = openSync(path, flags, 0o600);
  try {
    writeSync(handle, text, 0);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function lineOf(store: Store, op: string, answer: Answer): string {
  const { jid } = store.genesis;
  const header = {
    ...{ v: ENTRY_VERSION, jid, seq: PLACE, prev: "", ts: store.now(), op, step: answer.step },
    ...{ kind: answer.kind, enc: ENCRYPTION, kid: op },
  };
  return JSON.stringify(seal(store.keys.of(op), header, answer, store.random).entry);
}

/** Everything of this kind in the folder, of one operation or of any: its paths. A folder that is not there has none. */
export function leftAside(dir: string, op = ""): string[] {
  if (statSync(dir, { throwIfNoEntry: false }) === undefined) return [];
  return readdirSync(dir)
    .filter((name) => name.startsWith(`${PREFIX}${op === "" ? "" : `${op}-`}`))
    .sort()
    .map((name) => join(dir, name));
}

/**
 * Appends what earlier runs kept beside the journal, once each, and takes it away. Whoever holds the operation's lease
 * asks; room that nothing was kept in belongs to runs that are dead.
 *
 * Exit 9 `unrecorded_damaged`, `key_commitment`, `ciphertext`: what is there is not what was kept.
 */
export function takeIn(store: Store, op: string): number {
  const paths = leftAside(store.dir, op);
  if (paths.length === 0) return 0;
  const answers = paths.flatMap((path) => answerIn(store, op, path) ?? []);
  const recorded = new Set(
    readOperation(store, op).flatMap((entry) => (entry.kind === "step.transport" ? [nameOf(entry)] : [])),
  );
  const missing = answers.filter((answer) => !recorded.has(nameOf(answer)));
  if (missing.length > 0) appendTo(store, op, missing, undefined, {});
  for (const path of paths) guarded(path, () => rmSync(path, { force: true }));
  return missing.length;
}

/** An attempt has one answer. */
function nameOf({ phase, step, try: number, attempt, epoch }: Answer): string {
  return [phase, step, number, attempt, epoch].join("/");
}

function answerIn(store: Store, op: string, path: string): Answer | undefined {
  const text = guarded(path, () => readFileSync(path, "utf8")).trim();
  if (text === "") return undefined;
  const sealed = parsed(text);
  const ours = sealed !== undefined && sealed.jid === store.genesis.jid && sealed.op === op && sealed.seq === PLACE;
  if (!ours) throw damaged(path);
  const answer = unseal(store.keys.of(op), sealed) as unknown as Payload;
  if (answer.kind !== "step.transport") throw damaged(path);
  return answer;
}

const TEXTS = ["jid", "prev", "ts", "op", "kind", "enc", "kid", "kc", "nonce", "ct"] as const;

function parsed(text: string): SealedHeader | undefined {
  try {
    const found = JSON.parse(text) as Partial<SealedHeader> | null;
    return TEXTS.every((name) => typeof found?.[name] === "string") ? (found as SealedHeader) : undefined;
  } catch {
    return undefined;
  }
}

function damaged(path: string): ProvisionError {
  const hint = `Nothing was sent. Move ${path} away and run again: what became of the request is then found out by reading.`;
  return unverified("unrecorded_damaged", `${path} holds no answer that a run of this operation kept.`, hint);
}
