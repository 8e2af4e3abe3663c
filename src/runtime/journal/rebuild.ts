import type { Entry } from "../../model/entry.ts";
import { indexSubjects, insertOperation, nonceOf, takeNonce } from "./append.ts";
import { NO_OPERATION, type Row } from "./chain.ts";
import { type Opened, openRow, ROW_COLUMNS } from "./opened.ts";
import { codeOf } from "./sqlite.ts";
import type { Store } from "./store.ts";
import { EMPTY_FRONTIER, leafHash, push } from "./tree.ts";

/** How the state of an operation follows from its entries; the journal itself does not know. */
export type StateOf = (entries: Entry[]) => string;

interface Known {
  state: string | null;
  state_at: string | null;
}

/**
 * Makes tree nodes and index anew from the entries alone, within the caller's transaction. Of an operation whose key
 * was deleted only what stands in clear comes back. Leases are no history but the present, and stay as they are.
 * Without `stateOf` the states that were listed are kept.
 */
export function rebuild(store: Store, stateOf?: StateOf): void {
  const states = new Map<string, Known>();
  for (const row of store.sql("SELECT op, state, state_at FROM operation").all() as ({ op: string } & Known)[])
    states.set(row.op, row);
  for (const table of ["node", "operation", "nonce", "subject"]) store.db.exec(`DELETE FROM ${table}`);
  rebuildTree(store);
  const operations = store.db
    .prepare(`SELECT DISTINCT op FROM entry WHERE op <> ? ORDER BY op`)
    .pluck()
    .all(NO_OPERATION);
  for (const op of operations as string[]) rebuildOperation(store, op, states.get(op), stateOf);
}

function rebuildTree(store: Store): void {
  const put = store.sql("INSERT INTO node (level, idx, hash) VALUES (?, ?, ?)");
  const pages = store.sql("SELECT seq, entry_hash FROM entry WHERE seq > ? ORDER BY seq LIMIT 500");
  let tail: NonNullable<Store["tail"]> = { head: store.genesisHash, frontier: EMPTY_FRONTIER };
  for (;;) {
    const rows = pages.all(tail.frontier.size - 1) as Pick<Row, "seq" | "entry_hash">[];
    if (rows.length === 0) break;
    for (const { entry_hash } of rows) {
      const frontier = push(tail.frontier, leafHash(entry_hash), (level, index, hash) => put.run(level, index, hash));
      tail = { head: entry_hash, frontier };
    }
  }
  store.tail = tail;
}

function rebuildOperation(store: Store, op: string, known: Known | undefined, stateOf: StateOf | undefined): void {
  const rows = store.sql(`SELECT ${ROW_COLUMNS} FROM entry WHERE op = ? ORDER BY seq`).all(op) as Row[];
  const [first, last] = [rows[0], rows.at(-1)];
  if (first === undefined || last === undefined) return;
  const opened = openIfKept(store, rows);
  const indexed = opened.flatMap(({ sealed }) => sealed.index ?? []);
  const intent = indexed.find((index) => index.intent !== undefined)?.intent;
  insertOperation(store, op, { seq: first.seq, at: first.ts }, last.seq, rows.length, intent);
  for (const { subjects } of indexed) indexSubjects(store, op, subjects ?? []);
  for (const { entry } of opened) {
    const nonce = nonceOf(entry);
    if (nonce !== null) takeNonce(store, nonce, entry.seq);
  }
  const state = opened.length > 0 ? stateOf?.(opened.map(({ entry }) => entry)) : undefined;
  const at = state === undefined || state === known?.state ? (known?.state_at ?? null) : last.ts;
  store.sql("UPDATE operation SET state = ?, state_at = ? WHERE op = ?").run(state ?? known?.state ?? null, at, op);
}

function openIfKept(store: Store, rows: readonly Row[]): Opened[] {
  try {
    return rows.map((row) => openRow(store, row));
  } catch (error) {
    if (codeOf(error) === "key_missing") return [];
    throw error;
  }
}
