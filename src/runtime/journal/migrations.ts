import { ProvisionError } from "../../model/errors.ts";
import type { Instant } from "../../model/reading.ts";
import type { Database } from "./sqlite.ts";

/** One step of a database's layout. A migration that was ever released is never edited; the next number follows. */
export interface Migration {
  id: number;
  name: string;
  sql: string;
}

/**
 * The triggers are hygiene, not a boundary: who may write the file can drop them, and the chain shows it. The insert
 * trigger also closes `REPLACE`, which deletes a row that it collides with.
 */
export const JOURNAL_MIGRATIONS: readonly Migration[] = [
  {
    id: 1,
    name: "entries, tree and projections",
    sql: `
CREATE TABLE genesis (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  jid TEXT NOT NULL, created TEXT NOT NULL, vkey TEXT NOT NULL, alg TEXT NOT NULL
) STRICT;
CREATE TRIGGER genesis_once BEFORE INSERT ON genesis WHEN EXISTS (SELECT 1 FROM genesis)
  BEGIN SELECT RAISE(ABORT, 'the journal has its genesis'); END;
CREATE TRIGGER genesis_update BEFORE UPDATE ON genesis BEGIN SELECT RAISE(ABORT, 'the genesis stands'); END;
CREATE TRIGGER genesis_delete BEFORE DELETE ON genesis BEGIN SELECT RAISE(ABORT, 'the genesis stands'); END;

CREATE TABLE entry (
  v INTEGER NOT NULL, jid TEXT NOT NULL, seq INTEGER PRIMARY KEY, prev TEXT NOT NULL, ts TEXT NOT NULL,
  op TEXT NOT NULL, step INTEGER NOT NULL, kind TEXT NOT NULL, enc TEXT NOT NULL, kid TEXT NOT NULL, kc TEXT NOT NULL,
  nonce TEXT NOT NULL, ct TEXT NOT NULL, entry_hash TEXT NOT NULL UNIQUE
) STRICT;
CREATE INDEX entry_of_operation ON entry (op);
CREATE TRIGGER entry_insert BEFORE INSERT ON entry BEGIN
  SELECT RAISE(ABORT, 'an entry must follow the last one')
    WHERE NEW.seq IS NOT (SELECT coalesce(max(seq), -1) + 1 FROM entry);
  SELECT RAISE(ABORT, 'an entry of this hash exists')
    WHERE EXISTS (SELECT 1 FROM entry WHERE entry_hash = NEW.entry_hash);
END;
CREATE TRIGGER entry_update BEFORE UPDATE ON entry BEGIN SELECT RAISE(ABORT, 'entries are only appended'); END;
CREATE TRIGGER entry_delete BEFORE DELETE ON entry BEGIN SELECT RAISE(ABORT, 'entries are only appended'); END;

-- Roots of complete subtrees over the entry hashes, level 1 and up.
CREATE TABLE node (level INTEGER NOT NULL, idx INTEGER NOT NULL, hash BLOB NOT NULL, PRIMARY KEY (level, idx))
  STRICT, WITHOUT ROWID;

-- \`ending\` is the id read backwards, so that a unique ending is found by an index.
CREATE TABLE operation (
  op TEXT PRIMARY KEY, ending TEXT NOT NULL, created_at TEXT NOT NULL, first_seq INTEGER NOT NULL,
  last_seq INTEGER NOT NULL, count INTEGER NOT NULL, intent_mac BLOB, state TEXT, state_at TEXT
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX operation_ending ON operation (ending);
CREATE UNIQUE INDEX operation_first ON operation (first_seq);
CREATE INDEX operation_intent ON operation (intent_mac);
CREATE TABLE nonce (mac BLOB PRIMARY KEY, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE subject (mac BLOB NOT NULL, op TEXT NOT NULL, PRIMARY KEY (mac, op)) STRICT, WITHOUT ROWID;

-- Who holds it is sealed in the entry lease.taken, whose seq is epoch - 1.
CREATE TABLE lease (op TEXT PRIMARY KEY, epoch INTEGER NOT NULL UNIQUE, beat INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE lease_key (mac BLOB PRIMARY KEY, op TEXT NOT NULL REFERENCES lease (op) ON DELETE CASCADE)
  STRICT, WITHOUT ROWID;
CREATE INDEX lease_key_of_operation ON lease_key (op);
`,
  },
];

export const KEYS_MIGRATIONS: readonly Migration[] = [
  {
    id: 1,
    name: "wrapped keys",
    sql: `CREATE TABLE dek (op TEXT PRIMARY KEY, kek_id TEXT NOT NULL, wrapped TEXT NOT NULL, created TEXT NOT NULL)
  STRICT, WITHOUT ROWID;`,
  },
];

/** Brings a database to the newest layout, in one transaction. Exit 11 where it is newer than us. */
export function migrate(db: Database, migrations: readonly Migration[], now: () => Instant): void {
  const newest = migrations.length;
  if (checkVersion(db, newest) === newest) return;
  db.transaction(() => {
    db.exec(
      "CREATE TABLE IF NOT EXISTS migration (id INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL) STRICT",
    );
    const done = checkVersion(db, newest);
    for (const { id, name, sql } of migrations.slice(done)) {
      db.exec(sql);
      db.prepare("INSERT INTO migration (id, name, applied_at) VALUES (?, ?, ?)").run(id, name, now());
    }
  }).immediate();
}

/** How far the database has come; 0 for an empty one. A version from the future is refused, never guessed at. */
export function checkVersion(db: Database, newest: number): number {
  const table = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migration'").get();
  if (table === undefined) return 0;
  const version = db.prepare("SELECT coalesce(max(id), 0) FROM migration").pluck().get() as number;
  if (version > newest)
    throw new ProvisionError(
      "journal_newer",
      11,
      `The journal was written by a newer provision (layout ${version}; this one knows up to ${newest}).`,
      { hint: "Use the newer version. Nothing was changed or sent." },
    );
  return version;
}
