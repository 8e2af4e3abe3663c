import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import type { Payload } from "../../src/model/entry.ts";
import { stepOf } from "../../src/runtime/journal/append.ts";
import { COLUMNS, entryHash, genesisHash, type Row } from "../../src/runtime/journal/chain.ts";
import { openStore } from "../../src/runtime/journal/open.ts";
import { seal, unseal } from "../../src/runtime/journal/seal.ts";
import type { Store } from "../../src/runtime/journal/store.ts";
import { EMPTY_FRONTIER, type Frontier, leafHash, push, rootOf } from "../../src/runtime/journal/tree.ts";
import type { Desk } from "./desk.ts";
import { openRaw } from "./raw.ts";

type Sealed = Payload & { n: number };

/** Whoever has the whole folder with its keys, and knows how the journal is made. */
export interface Forger {
  /**
   * Writes the journal anew from the first entry for which `change` gives another object: every seal, hash, link, node
   * and the mark fit again.
   */
  forge(change: (payload: Sealed, row: Row) => Sealed): void;
  close(): void;
}

const io = { now: () => new Date().toISOString(), random: (bytes: number) => randomBytes(bytes) };

export function openForger(desk: Desk): Forger {
  const raw = openRaw(desk);
  const store = openStore({ dir: desk.file(".provision"), ...io });
  store.db.pragma("synchronous = OFF");
  const rows = raw.db.prepare(`SELECT ${COLUMNS.join(", ")} FROM entry ORDER BY seq`).all() as Row[];
  const entries = rows.map((row) => ({ row, payload: unseal(store.keys.of(row.kid), row) as unknown as Sealed }));
  return {
    forge(change) {
      let prev = genesisHash(store.genesis);
      let kept = true;
      const forged = entries.map(({ row, payload }): Row => {
        const next = change(payload, row);
        kept &&= next === payload;
        if (kept) {
          prev = row.entry_hash;
          return row;
        }
        const { v, jid, seq, ts, op, enc, kid } = row;
        const head = { v, jid, seq, prev, ts, op, step: stepOf(next), kind: next.kind, enc, kid };
        const { entry } = seal(store.keys.of(kid), head, next, io.random);
        prev = entryHash(entry);
        return { ...entry, entry_hash: prev };
      });
      rewrite(store, desk, forged);
    },
    close() {
      store.keys.close();
      store.db.close();
      raw.close();
    },
  };
}

function rewrite({ db, genesis }: Store, desk: Desk, rows: readonly Row[]): void {
  db.transaction(() => {
    db.exec("DELETE FROM entry; DELETE FROM node");
    const places = COLUMNS.map((column) => `@${column}`);
    const put = db.prepare(`INSERT INTO entry (${COLUMNS.join(", ")}) VALUES (${places.join(", ")})`);
    for (const row of rows) put.run(row);
    const node = db.prepare("INSERT INTO node (level, idx, hash) VALUES (?, ?, ?)");
    const grow = (frontier: Frontier, row: Row) =>
      push(frontier, leafHash(row.entry_hash), (level, index, hash) => node.run(level, index, hash));
    const root = Buffer.from(rootOf(rows.reduce(grow, EMPTY_FRONTIER))).toString("base64");
    const mark = JSON.stringify({ jid: genesis.jid, root, size: rows.length });
    writeFileSync(desk.file(".provision/mark"), `${mark.padEnd(191)}\n`);
  })();
}
