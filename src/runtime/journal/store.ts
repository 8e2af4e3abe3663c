import { join } from "node:path";
import { type ProvisionError, unverified } from "../../model/errors.ts";
import type { Instant } from "../../model/reading.ts";
import { type Genesis, genesisHash, type Row } from "./chain.ts";
import { type Ground, groundOf, JOURNAL_FILE } from "./ground.ts";
import type { Keys } from "./keys.ts";
import { HINT, MARK_FILE, type Mark, readMark, writeMark } from "./mark.ts";
import { codeOf, type Database, guarded, type Statement } from "./sqlite.ts";
import { type Frontier, frontierOf, leafHash, type NodeSource, rootOf } from "./tree.ts";

/** An open journal: the two databases, what they begin with, and the means that entries are made with. */
export interface Store {
  dir: string;
  db: Database;
  keys: Keys;
  genesis: Genesis;
  /** Hex; the first entry's `prev`. */
  genesisHash: string;
  readOnly: boolean;
  now(): Instant;
  random(bytes: number): Uint8Array;
  /** A statement prepared once. */
  sql(text: string): Statement;
  /** The files that it writes, as long as they stay where they are. */
  ground: Ground;
  /** The tree as this handle left it; good as long as the head is still the one it was made for. */
  tail: { head: string; frontier: Frontier } | undefined;
}

export function makeStore(parts: Omit<Store, "sql" | "tail" | "genesisHash" | "ground">): Store {
  const statements = new Map<string, Statement>();
  const sql = (text: string): Statement => {
    let statement = statements.get(text);
    if (statement === undefined) {
      statement = parts.db.prepare(text);
      statements.set(text, statement);
    }
    return statement;
  };
  return { ...parts, genesisHash: genesisHash(parts.genesis), sql, ground: groundOf(parts.dir), tail: undefined };
}

export function pathOf({ dir }: Pick<Store, "dir">): string {
  return join(dir, JOURNAL_FILE);
}

export function readGenesis(db: Database): Genesis | undefined {
  const table = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'genesis'").get();
  if (table === undefined) return undefined;
  return db.prepare<[], Genesis>("SELECT jid, created, vkey, alg FROM genesis").get();
}

/** The last entry's place and hash; of an empty journal -1 and the genesis' hash. */
export function headOf(store: Store): { seq: number; hash: string } {
  const row = store.sql("SELECT seq, entry_hash FROM entry ORDER BY seq DESC LIMIT 1").get() as
    | Pick<Row, "seq" | "entry_hash">
    | undefined;
  return row === undefined ? { seq: -1, hash: store.genesisHash } : { seq: row.seq, hash: row.entry_hash };
}

/** Complete subtrees as stored; remembered for as long as the caller keeps the source. */
export function storedNodes(store: Store): NodeSource {
  const seen = new Map<string, Uint8Array>();
  return (level, index) => {
    const name = `${level}/${index}`;
    const hash = seen.get(name) ?? storedNode(store, level, index);
    seen.set(name, hash);
    return hash;
  };
}

/** A node that is missing counts as zeros: the root that follows is then wrong, and whoever compares it notices. */
function storedNode(store: Store, level: number, index: number): Uint8Array {
  if (level > 0) {
    const row = store.sql("SELECT hash FROM node WHERE level = ? AND idx = ?").get(level, index) as
      | { hash: Uint8Array }
      | undefined;
    return row?.hash ?? new Uint8Array(32);
  }
  const row = store.sql("SELECT entry_hash FROM entry WHERE seq = ?").get(index) as { entry_hash: string } | undefined;
  return row === undefined ? new Uint8Array(32) : leafHash(row.entry_hash);
}

/** The tree up to the head; computed anew where another process wrote since. Within a transaction. */
export function frontierAtHead(store: Store, head: { seq: number; hash: string }): Frontier {
  const { tail } = store;
  if (tail !== undefined && tail.head === head.hash && tail.frontier.size === head.seq + 1) return tail.frontier;
  return frontierOf(head.seq + 1, storedNodes(store));
}

export function encodeRoot(root: Uint8Array): string {
  return Buffer.from(root).toString("base64");
}

/**
 * One durable transaction, then the mark, then a look whether the files are still those that were opened: what went
 * into a deleted file was never recorded. The lock is taken at the start, so that a wait for another writer is a wait
 * and never a failed upgrade. What `work` throws leaves nothing behind.
 */
export function write<T>(store: Store, work: () => T): T {
  return guarded(pathOf(store), () => {
    const tail = store.tail;
    let result: T;
    try {
      result = store.db.transaction(work).immediate();
    } catch (error) {
      store.tail = tail;
      throw error;
    }
    if (store.tail !== tail) raiseMark(store);
    store.ground.check();
    return result;
  });
}

/** All that `work` reads is of one moment. */
export function read<T>(store: Store, work: () => T): T {
  return guarded(pathOf(store), () => store.db.transaction(work).deferred());
}

/**
 * Writes the head into the mark, under the write lock. Where the lock does not come free the mark stays behind: whoever
 * holds it writes the mark next, and with it our entries.
 */
export function raiseMark(store: Store): void {
  try {
    store.db
      .transaction(() => {
        const head = headOf(store);
        const mark = markOf(store);
        if (mark.size > head.seq + 1) throw shorter(mark, head.seq + 1);
        if (mark.size === head.seq + 1) return;
        writeMark(store.dir, {
          jid: store.genesis.jid,
          size: head.seq + 1,
          root: encodeRoot(rootOf(frontierAtHead(store, head))),
        });
      })
      .immediate();
  } catch (error) {
    if (!codeOf(error).startsWith("SQLITE_BUSY")) throw error;
  }
}

/** The mark, which must be there and be this journal's. Exit 9 `mark_missing`, `mark_damaged`, `journal_replaced`. */
export function markOf(store: Store, mark = readMark(store.dir)): Mark {
  if (mark === undefined)
    throw unverified(
      "mark_missing",
      `The journal has entries but its high-water mark is gone (${store.dir}/${MARK_FILE}).`,
      HINT,
    );
  if (mark.jid !== store.genesis.jid)
    throw unverified(
      "journal_replaced",
      `The journal is ${store.genesis.jid}, but its high-water mark is of ${mark.jid}.`,
      HINT,
    );
  return mark;
}

export function shorter(mark: Mark, size: number): ProvisionError {
  return unverified(
    "journal_shorter",
    `The journal has ${size} entries, but it had ${mark.size}: it was cut short or restored from an old copy.`,
    HINT,
  );
}
