import type { Entry, Payload } from "../../model/entry.ts";
import { bug, invalid, refused } from "../../model/errors.ts";
import { appendEntries, appendGlobalEntry, globalKeyId } from "./append.ts";
import { addKeys, fence, leaseRow } from "./held.ts";
import { guarded } from "./sqlite.ts";
import { pathOf, type Store, write } from "./store.ts";

export type Frozen = Extract<Payload, { kind: "plan.frozen" }>;
/** What may stand in the journal without belonging to an operation. */
export type GlobalPayload = Extract<Payload, { kind: "policy.loaded" | "roster.loaded" | "approval.refused" }>;

/** What an operation is found by. Kept as keyed hashes in the index, and in clear only inside the ciphertext. */
export interface OperationIndex {
  intent: string;
  subjects: readonly string[];
  /** The state to list it under. */
  state?: string;
}

/** What an intent rests on: the operation's last entry as the caller folded it, and the lease it holds. */
export interface Expect {
  seq: number;
  epoch: number;
}

export interface AppendOptions {
  /** Further keys of the subject, now known: found by, and held by the lease, from here on. */
  bind?: readonly string[];
  /** The state to list the operation under, if this append is `ok`. */
  state?: string;
  /** The operation's last entry as the caller read it: where it went on since, nothing at all is written. */
  after?: number;
}

/** `ok: false`: the operation went on meanwhile or the lease is lost. Read again and decide anew. */
export interface Appended {
  ok: boolean;
  /** What was written: all that was given, or of it the replies and readings alone. */
  entries: Entry[];
  /** The other operation that holds the account which `bind` names; our own lease is gone. */
  rival?: string;
}

/** Begins an operation with its frozen plan. Exit 13 `operation_exists` where its id is taken. */
export function createOperation(
  store: Store,
  op: string,
  frozen: Frozen,
  { intent, subjects, state }: OperationIndex,
): Entry {
  const fresh = () => {
    if (knows(store, op)) throw refused("operation_exists", `There is an operation ${op} already.`);
  };
  guarded(pathOf(store), () => {
    fresh();
    store.keys.ensure(op);
  });
  return write(store, () => {
    fresh();
    const [entry] = appendEntries(store, op, [frozen], { intent, subjects });
    if (entry === undefined) throw bug("An operation began with no entry.");
    if (state !== undefined) updateState(store, op, state);
    return entry;
  });
}

/**
 * Appends to an operation, in one durable transaction. Evidence is never lost: where `expect` does not hold, replies and
 * readings are written, and nothing that was decided or concluded. An intent without `expect` is a fault of the caller.
 */
export function appendTo(
  store: Store,
  op: string,
  payloads: readonly Payload[],
  expect: Expect | undefined,
  { bind = [], state, after }: AppendOptions,
): Appended {
  if (expect === undefined && payloads.some(isIntent))
    throw bug("An intent needs a lease and the last entry it rests on.");
  return write(store, () => {
    const row = store.sql("SELECT last_seq FROM operation WHERE op = ?").get(op) as { last_seq: number } | undefined;
    if (row === undefined) throw unknown(op);
    if (after !== undefined && row.last_seq !== after) return { ok: false, entries: [] };
    const lease = leaseRow(store, op);
    let ok = expect === undefined || (row.last_seq === expect.seq && lease?.epoch === expect.epoch);
    const rival = ok && bind.length > 0 && lease ? addKeys(store, op, lease.epoch, bind) : undefined;
    if (rival !== undefined) {
      // Another operation holds this very person. Ours ends here; taking the lease again meets the other one.
      fence(store, op);
      ok = false;
    }
    const written = ok ? payloads : payloads.filter(isEvidence);
    const entries = appendEntries(store, op, written, ok && bind.length > 0 ? { subjects: bind } : undefined);
    if (ok && state !== undefined) updateState(store, op, state);
    return { ok, entries, ...(rival && { rival: rival.op }) };
  });
}

/** Appends what belongs to no operation, under a key of its own. */
export function appendGlobal(store: Store, payload: GlobalPayload): Entry {
  const kid = globalKeyId(store);
  guarded(pathOf(store), () => store.keys.ensure(kid));
  return write(store, () => appendGlobalEntry(store, kid, payload));
}

export function setState(store: Store, op: string, state: string): void {
  write(store, () => {
    if (!updateState(store, op, state)) throw unknown(op);
  });
}

function updateState(store: Store, op: string, state: string): boolean {
  return (
    store.sql("UPDATE operation SET state = ?, state_at = ? WHERE op = ?").run(state, store.now(), op).changes === 1
  );
}

/** What came back and what was read stays true whoever holds the lease; what was concluded from it may not. */
function isEvidence(payload: Payload): boolean {
  return payload.kind === "step.transport" || payload.kind === "step.observed";
}

function isIntent(payload: Payload): boolean {
  return payload.kind === "step.requested";
}

function knows(store: Store, op: string): boolean {
  return store.sql("SELECT 1 FROM operation WHERE op = ?").get(op) !== undefined;
}

function unknown(op: string) {
  return invalid("unknown_operation", `There is no operation ${op} in this journal.`);
}
