import type { Entry } from "../../model/entry.ts";
import { invalid, unverified } from "../../model/errors.ts";
import { NO_OPERATION, type Row } from "./chain.ts";
import { HINT, type Mark, readMark } from "./mark.ts";
import { openRow, ROW_COLUMNS } from "./opened.ts";
import { broken } from "./seal.ts";
import { guarded } from "./sqlite.ts";
import { markOf, read, type Store, shorter, storedNodes } from "./store.ts";
import type { NodeSource } from "./tree.ts";
import { standsIn } from "./trust.ts";

/**
 * All entries of one operation, oldest first, each verified: its own hash, its links to the entries before and after,
 * its place under the high-water mark, its key, its seal, and that none of the operation's is missing.
 *
 * Exit 2 `unknown_operation`; exit 9 with `entry_hash`, `chain`, `journal_forked`, `header`, `key_missing`,
 * `key_commitment`, `ciphertext`, `padding` or `missing_entry`.
 */
export function readOperation(store: Store, op: string): Entry[] {
  const mark = guarded(store.dir, () => readMark(store.dir));
  return read(store, () => {
    const row = operationRow(store, op);
    if (row === undefined) throw invalid("unknown_operation", `There is no operation ${op} in this journal.`);
    const rows = rowsOf(store, op);
    const opened = openAll(store, rows, mark);
    const gap = opened.findIndex(({ sealed }, i) => sealed.n !== i + 1);
    if (gap >= 0 || rows.length !== row.count || rows[0]?.seq !== row.first_seq || rows.at(-1)?.seq !== row.last_seq)
      throw unverified(
        "missing_entry",
        `Operation ${op} has ${row.count} entries by its index, and not these ${rows.length} that are there.`,
        HINT,
      );
    return opened.map(({ entry }) => entry);
  });
}

/** The entries of no operation: policies and rosters that were loaded, approvals that were refused. */
export function readGlobal(store: Store): Entry[] {
  const mark = guarded(store.dir, () => readMark(store.dir));
  return read(store, () => openAll(store, rowsOf(store, NO_OPERATION), mark).map(({ entry }) => entry));
}

interface OperationRow {
  first_seq: number;
  last_seq: number;
  count: number;
}

function operationRow(store: Store, op: string): OperationRow | undefined {
  const row = store.sql("SELECT first_seq, last_seq, count FROM operation WHERE op = ?").get(op);
  if (row === undefined && rowsOf(store, op).length > 0)
    throw unverified(
      "missing_entry",
      `The journal has entries of operation ${op}, but its index does not know it.`,
      HINT,
    );
  return row as OperationRow | undefined;
}

function rowsOf(store: Store, op: string): Row[] {
  return store.sql(`SELECT ${ROW_COLUMNS} FROM entry WHERE op = ? ORDER BY seq`).all(op) as Row[];
}

function openAll(store: Store, rows: readonly Row[], readMark: Mark | undefined) {
  if (rows.length === 0) return [];
  const mark = markOf(store, readMark);
  const nodes = storedNodes(store);
  const length = store.sql("SELECT max(seq) + 1 AS size FROM entry").get() as { size: number };
  if (mark.size > length.size) throw shorter(mark, length.size);
  return rows.map((row) => {
    const opened = openRow(store, row);
    checkPlace(store, row, mark, nodes);
    return opened;
  });
}

function checkPlace(store: Store, row: Row, mark: Mark, nodes: NodeSource): void {
  const link = (seq: number) =>
    store.sql("SELECT prev, entry_hash FROM entry WHERE seq = ?").get(seq) as
      | Pick<Row, "prev" | "entry_hash">
      | undefined;
  const before = row.seq === 0 ? store.genesisHash : link(row.seq - 1)?.entry_hash;
  const after = link(row.seq + 1);
  if (row.prev !== before) throw broken("chain", row, "it does not follow the entry before it");
  if (after !== undefined && after.prev !== row.entry_hash)
    throw broken("chain", row, "the entry after it followed another one");
  if (row.seq < mark.size && !standsIn(mark, row.seq, row.entry_hash, nodes))
    throw broken("journal_forked", row, "it is not the one that stood there when the high-water mark was written");
}
