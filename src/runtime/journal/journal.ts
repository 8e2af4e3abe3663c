import type { Entry, Payload } from "../../model/entry.ts";
import { ProvisionError, unverified } from "../../model/errors.ts";
import { type Answer, type Aside, reserve, takeIn } from "./aside.ts";
import { type Verification, verifyJournal } from "./audit.ts";
import { NO_OPERATION, originOf } from "./chain.ts";
import { type Held, heldBy } from "./held.ts";
import { type Lease, type LeaseTerms, takeLease } from "./lease.ts";
import { type OpenOptions, openStore } from "./open.ts";
import { byIntent, bySubject, findByEnding, type Listed, lastOperation, listOperations } from "./queries.ts";
import { readGlobal, readOperation } from "./read.ts";
import { rebuild, type StateOf } from "./rebuild.ts";
import { derive } from "./seal.ts";
import { guarded } from "./sqlite.ts";
import { encodeRoot, headOf, pathOf, read, type Store, storedNodes, write } from "./store.ts";
import { frontierOf, rootOf } from "./tree.ts";
import {
  type Appended,
  type AppendOptions,
  appendGlobal,
  appendTo,
  createOperation,
  type Expect,
  type Frozen,
  type GlobalPayload,
  type OperationIndex,
  setState,
} from "./write.ts";

/**
 * The only memory of what was done: an append-only list of sealed entries, chained and rooted in a Merkle tree. What a
 * call has written is on disk when it returns.
 *
 * Errors of all calls: exit 9 where something stored does not verify, exit 11 `journal_busy` or `journal_unwritable`
 * where it cannot be written. After either nothing may be sent.
 */
export interface Journal {
  create(op: string, frozen: Frozen, index: OperationIndex): Entry;
  /** All entries of an operation, each verified; of `-` those of no operation. */
  read(op: string): Entry[];
  append(op: string, payloads: readonly Payload[], expect?: Expect, options?: AppendOptions): Appended;
  appendGlobal(payload: GlobalPayload): Entry;

  /** Operations whose id ends so, oldest first. */
  find(ending: string): string[];
  last(): string | undefined;
  list(): Listed[];
  /** Changes the listing alone; it is no entry. */
  setState(op: string, state: string): void;
  byIntent(intent: string): string[];
  /** Operations on the subject that any of these keys names. */
  bySubject(keys: readonly string[]): string[];

  /** How many entries there are, and the root over them in padded base64. */
  head(): Head;
  /** The root over the first `size` entries. Exit 9 `journal_shorter` where there are fewer. */
  rootAt(size: number): string;
  /** The name that statements and checkpoints quote this journal by. */
  origin(): string;
  vkey(): string;

  /** Holds room beside the journal for the answers of one run; see `Aside`. Exit 11 where there is none. */
  reserve(op: string): Aside;
  /** Appends the answers that an earlier run could only keep beside the journal, ahead of `reserve`. How many there were. */
  takeIn(op: string): number;

  takeLease(op: string, keys: readonly string[], terms: LeaseTerms): Promise<Lease>;
  /** Who holds the operation's lease now, dead or alive. */
  leaseOf(op: string): Held | undefined;

  /** The key of request fingerprints: comparable within one operation, and gone with its data key. */
  fingerprintKey(op: string): Uint8Array;
  rebuild(stateOf?: StateOf): void;
  /** The keyless audit, and every operation opened as well. */
  verify(): Verification;
  close(): void;
}

export interface Head {
  jid: string;
  size: number;
  root: string;
}

export function openJournal(options: OpenOptions): Journal {
  return journalOver(openStore(options));
}

export function journalOver(store: Store): Journal {
  const { jid, vkey } = store.genesis;
  return {
    create: (op, frozen, index) => createOperation(store, op, frozen, index),
    read: (op) => (op === NO_OPERATION ? readGlobal(store) : readOperation(store, op)),
    append: (op, payloads, expect, more = {}) => appendTo(store, op, payloads, expect, more),
    appendGlobal: (payload) => appendGlobal(store, payload),
    find: (ending) => findByEnding(store, ending),
    last: () => lastOperation(store),
    list: () => listOperations(store),
    setState: (op, state) => setState(store, op, state),
    byIntent: (intent) => byIntent(store, intent),
    bySubject: (keys) => bySubject(store, keys),
    head: () =>
      read(store, () => {
        const size = headOf(store).seq + 1;
        return { jid, size, root: rootAt(store, size) };
      }),
    rootAt: (size) => read(store, () => rootAt(store, size)),
    origin: () => originOf(jid),
    vkey: () => vkey,
    reserve: (op) => reserve(store, op),
    takeIn: (op) => takeIn(store, op),
    takeLease: (op, keys, terms) => takeLease(store, op, keys, terms),
    leaseOf: (op) => heldBy(store, { op }),
    fingerprintKey: (op) => guarded(pathOf(store), () => derive(store.keys.of(op), "provision/fp/v1")),
    rebuild: (stateOf) => write(store, () => rebuild(store, stateOf)),
    verify: () => verify(store),
    close: () => {
      store.keys.close();
      store.db.close();
    },
  };
}

function rootAt(store: Store, size: number): string {
  const length = headOf(store).seq + 1;
  if (!Number.isSafeInteger(size) || size < 0 || size > length)
    throw unverified("journal_shorter", `The journal has ${length} entries; there is no root over ${size}.`);
  return encodeRoot(rootOf(frontierOf(size, storedNodes(store))));
}

function verify(store: Store): Verification {
  const report = verifyJournal(store.dir);
  const problems = [...report.problems];
  const attempt = (seq: number | null, open: () => unknown) => {
    try {
      open();
    } catch (error) {
      if (!(error instanceof ProvisionError) || error.exit !== 9) throw error;
      problems.push({ code: error.code, seq });
    }
  };
  for (const { op, first_seq } of listOperations(store)) attempt(first_seq, () => readOperation(store, op));
  attempt(null, () => readGlobal(store));
  return { ...report, ok: problems.length === 0, problems };
}

export type {
  Answer,
  Appended,
  AppendOptions,
  Aside,
  Expect,
  Held,
  Lease,
  LeaseTerms,
  Listed,
  OpenOptions,
  OperationIndex,
};
