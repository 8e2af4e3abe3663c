import type { Entry, Payload } from "../../model/entry.ts";
import type { SealedPayload } from "./append.ts";
import { stepOf } from "./append.ts";
import { COLUMNS, ENCRYPTION, ENTRY_VERSION, entryHash, NO_OPERATION, type Row } from "./chain.ts";
import { broken, unseal } from "./seal.ts";
import type { Store } from "./store.ts";

export const ROW_COLUMNS = COLUMNS.join(", ");

export interface Opened {
  entry: Entry;
  sealed: SealedPayload;
}

/**
 * Opens one stored entry with its key. What comes out was authenticated by seal and hash and is not parsed by a schema
 * again. Exit 9: `entry_hash`, `header`, `key_missing`, `key_commitment`, `ciphertext`, `padding`.
 */
export function openRow(store: Store, row: Row): Opened {
  if (entryHash(row) !== row.entry_hash) throw broken("entry_hash", row, "its hash is not the hash of what it holds");
  const ownKey = row.op === NO_OPERATION ? row.kid.startsWith(`${NO_OPERATION}:`) : row.kid === row.op;
  if (row.v !== ENTRY_VERSION || row.enc !== ENCRYPTION || row.jid !== store.genesis.jid || !ownKey)
    throw broken("header", row, "its header is not one that this journal writes");
  const sealed = unseal(store.keys.of(row.kid), row) as unknown as SealedPayload;
  const { n: _ordinal, index: _index, ...payload } = sealed;
  if (sealed.kind !== row.kind || stepOf(payload as Payload) !== row.step)
    throw broken("header", row, "its header tells of another kind or step than its content");
  return { entry: { ...(payload as Payload), seq: row.seq, at: row.ts, op: row.op }, sealed };
}
