import { chmodSync, closeSync, existsSync, openSync, readFileSync, statSync } from "node:fs";
import Sqlite from "better-sqlite3";
import { ProvisionError, unverified } from "../../model/errors.ts";

export type Database = Sqlite.Database;
export type Statement = Sqlite.Statement<unknown[], unknown>;

/** How long a connection waits for another one's write before it gives up with `journal_busy`, in milliseconds. */
export const BUSY_MS = 5_000;

export interface OpenDatabase {
  readOnly: boolean;
  /** Defaults to `BUSY_MS`. */
  busyMs?: number;
}

/**
 * Opens one database file with everything that durability and safety rest on. The settings belong to a connection and
 * not to the file, so they are made at every open: better-sqlite3 falls to `synchronous = NORMAL` in WAL, which can
 * lose the last commit when the power goes.
 *
 * Reading in WAL mode writes beside the file too. Where the folder cannot be written, a reader takes the file into
 * memory, if nothing is left in the log that the file does not hold yet.
 */
export function openDatabase(path: string, { readOnly, busyMs = BUSY_MS }: OpenDatabase): Database {
  return guarded(path, () => {
    if (!readOnly && !existsSync(path)) closeSync(openSync(path, "a", 0o600));
    const db = readOnly ? openReader(path, busyMs) : new Sqlite(path, { timeout: busyMs });
    try {
      db.pragma("trusted_schema = OFF");
      db.pragma("foreign_keys = ON");
      db.pragma("recursive_triggers = ON");
      if (!readOnly) {
        switchToWal(db, busyMs);
        db.pragma("synchronous = FULL");
      }
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  });
}

function openReader(path: string, busyMs: number): Database {
  const db = new Sqlite(path, { readonly: true, timeout: busyMs });
  try {
    db.pragma("schema_version");
    return db;
  } catch (error) {
    db.close();
    const wal = `${path}-wal`;
    if (!/^SQLITE_(CANTOPEN|READONLY)/.test(codeOf(error)) || (existsSync(wal) && statSync(wal).size > 0)) throw error;
    return new Sqlite(withoutWal(readFileSync(path)), { readonly: true });
  }
}

/** A copy in memory cannot keep a log beside it. Bytes 18 and 19 of the header: 2 for WAL, 1 for none. */
function withoutWal(bytes: Buffer): Buffer {
  if (bytes.length > 100) bytes.fill(1, 18, 20);
  return bytes;
}

/** Two processes that open a new file at once can meet here, and SQLite answers at once instead of waiting. */
function switchToWal(db: Database, busyMs: number): void {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let waited = 0; ; waited += 10) {
    try {
      db.pragma("journal_mode = WAL");
      return;
    } catch (error) {
      if (!codeOf(error).startsWith("SQLITE_BUSY") || waited >= busyMs) throw error;
      Atomics.wait(pause, 0, 0, 10);
    }
  }
}

/** Takes from a file of ours what others were allowed to do with it. */
export function tighten(path: string, mode: 0o600 | 0o700): void {
  guarded(path, () => {
    if (existsSync(path) && (statSync(path).mode & 0o077) !== 0) chmodSync(path, mode);
  });
}

/**
 * Runs something that touches the state folder, and turns what the disk or SQLite say into the contract's errors.
 * @param where - The file or folder that it touches, for whoever has to mend it.
 */
export function guarded<T>(where: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw storeError(where, error);
  }
}

export function codeOf(error: unknown): string {
  const code = error instanceof Error ? (error as Error & { code?: unknown }).code : undefined;
  return typeof code === "string" ? code : "";
}

const UNWRITABLE = /^(SQLITE_(FULL|READONLY|IOERR|CANTOPEN|PERM|AUTH|NOMEM|NOLFS|PROTOCOL)|E[A-Z]+$)/;
/** What was there when it was opened. */
const VANISHED = /^(ENOENT|ENOTDIR)$/;

function storeError(where: string, error: unknown): unknown {
  const code = codeOf(error);
  if (error instanceof ProvisionError || code === "" || !(error instanceof Error)) return error;
  if (/^SQLITE_(BUSY|LOCKED)/.test(code))
    return new ProvisionError(
      "journal_busy",
      11,
      `The journal is being written by another process and did not come free (${where}).`,
      { hint: "Nothing more is sent. Try again when the other process is done." },
    );
  if (VANISHED.test(code))
    return unverified("journal_missing", `A part of the journal is gone (${where}: ${code}).`, RESTORE);
  if (UNWRITABLE.test(code))
    return new ProvisionError(
      "journal_unwritable",
      11,
      `The journal cannot be written: ${error.message} (${where}: ${code}).`,
      { hint: "Nothing more is sent. Make room or give write permission on the state folder, then run again." },
    );
  // Whatever else SQLite refuses at run time means that a file is not as our own statements made it.
  if (code.startsWith("SQLITE_"))
    return unverified(
      "journal_corrupt",
      `The journal's file is damaged: ${error.message} (${where}: ${code}).`,
      RESTORE,
    );
  return error;
}

const RESTORE =
  "Nothing more is sent. Keep the state folder as it is, and restore the whole of it from a copy that you trust.";
