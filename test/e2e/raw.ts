import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect } from "vitest";
import { COLUMNS, type Row } from "../../src/runtime/journal/chain.ts";
import type { Desk } from "./desk.ts";

/** A journal as somebody with an editor has it: no triggers, and every row to be changed at will. */
export interface Raw {
  db: Sqlite.Database;
  rows(op: string): Row[];
  /** Puts `value` into one field while `work` is done, and what was there back. */
  changed<T>(row: Row, column: string, value: unknown, work: () => Promise<T>): Promise<T>;
  close(): void;
}

export function openRaw(desk: Desk, file = "journal.db"): Raw {
  const db = new Sqlite(join(desk.dir, ".provision", file));
  // Nobody needs these changes after a crash, and there are thousands.
  db.pragma("synchronous = OFF");
  for (const name of db.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").pluck().all())
    db.exec(`DROP TRIGGER ${name}`);
  return {
    db,
    rows: (op) => db.prepare(`SELECT ${COLUMNS.join(", ")} FROM entry WHERE op = ? ORDER BY seq`).all(op) as Row[],
    async changed(row, column, value, work) {
      const set = (from: string, to: unknown, where: unknown) =>
        db.prepare(`UPDATE entry SET ${column} = ? WHERE ${from} = ?`).run(to, where).changes;
      // The row is found again by a field that is not the one changed.
      const [key, at] = column === "seq" ? ["entry_hash", row.entry_hash] : ["seq", row.seq];
      expect(set(key, value, at)).toBe(1);
      try {
        return await work();
      } finally {
        expect(set(key, row[column as keyof Row], at)).toBe(1);
      }
    },
    close: () => db.close(),
  };
}

/** The text with one bit of one character changed. */
export function flipped(text: string, at: number): string {
  return text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1) + text.slice(at + 1);
}

/** A run that must not get anywhere: refused with 9 or 13, and the tenant hears nothing of it. */
export async function refusedRun(desk: Desk, op: string, what: string): Promise<void> {
  const ran = await desk.quick("run", op, "--json");
  expect([9, 13], `${what}: ${ran.stdout}`).toContain(ran.code);
  expect(ran.json<{ error: { code: string } }>().error.code, what).toMatch(/^[a-z_]+$/);
}
