import type { Instant } from "../../model/reading.ts";
import { read, type Store } from "./store.ts";

/** One line of the index. `state` is what was last listed; null where nobody did. The entries decide, not this. */
export interface Listed {
  op: string;
  created_at: Instant;
  state: string | null;
  state_at: Instant | null;
  first_seq: number;
  last_seq: number;
}

const ID_TEXT = /^[A-Za-z0-9_]+$/;
/** Sorts after everything that an id is made of. */
const AFTER = "~";

/** All operations whose id ends so; a whole id is its own ending. */
export function findByEnding(store: Store, ending: string): string[] {
  if (!ID_TEXT.test(ending)) return [];
  const reversed = [...ending].reverse().join("");
  return ids(
    store,
    "SELECT op FROM operation WHERE ending >= ? AND ending < ? ORDER BY first_seq",
    reversed,
    reversed + AFTER,
  );
}

/** The operation that was begun last. */
export function lastOperation(store: Store): string | undefined {
  return ids(store, "SELECT op FROM operation ORDER BY first_seq DESC LIMIT 1")[0];
}

/** All operations, oldest first. */
export function listOperations(store: Store): Listed[] {
  return read(
    store,
    () =>
      store
        .sql("SELECT op, created_at, state, state_at, first_seq, last_seq FROM operation ORDER BY first_seq")
        .all() as Listed[],
  );
}

export function byIntent(store: Store, intent: string): string[] {
  return ids(
    store,
    "SELECT op FROM operation WHERE intent_mac = ? ORDER BY first_seq",
    store.keys.mac("intent", intent),
  );
}

/** Operations on a subject that is known by any of these keys, oldest first. */
export function bySubject(store: Store, keys: readonly string[]): string[] {
  const macs = keys.map((key) => store.keys.mac("subject", key).toString("hex"));
  return ids(
    store,
    `SELECT DISTINCT o.op, o.first_seq FROM json_each(?) AS k
       JOIN subject AS s ON s.mac = unhex(k.value) JOIN operation AS o ON o.op = s.op ORDER BY o.first_seq`,
    JSON.stringify(macs),
  );
}

function ids(store: Store, sql: string, ...parameters: unknown[]): string[] {
  return read(store, () => (store.sql(sql).all(...parameters) as { op: string }[]).map(({ op }) => op));
}
