import { existsSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { invalid, ProvisionError, unverified } from "../../model/errors.ts";
import { base32 } from "../../model/ids.ts";
import type { Instant } from "../../model/reading.ts";
import { leftAside } from "./aside.ts";
import { type Genesis, verifierKey } from "./chain.ts";
import { JOURNAL_FILE, KEYS_FILE } from "./ground.ts";
import { createKeys, holdsOperationKeys, type KeyIo, openKeys } from "./keys.ts";
import { HINT, MARK_FILE, markExists } from "./mark.ts";
import { checkVersion, JOURNAL_MIGRATIONS, migrate } from "./migrations.ts";
import { type Database, guarded, openDatabase, tighten } from "./sqlite.ts";
import { makeStore, readGenesis, type Store } from "./store.ts";
import { checkTrust } from "./trust.ts";

export interface OpenOptions extends KeyIo {
  /** The state folder. Made with mode 0700 where it is missing. */
  dir: string;
  /** Defaults to false. A reader changes nothing and can read while others write. */
  readOnly?: boolean;
  now(): Instant;
  random(bytes: number): Uint8Array;
  /** Whether to begin a journal where none is; defaults to true unless read-only. */
  create?: boolean;
  /** How long to wait for another process's write, in milliseconds; defaults to 5,000. */
  busyMs?: number;
}

/**
 * Opens the journal of a state folder, or begins one where there is no trace of one. Never begins anew over a trace:
 * a journal, key file or mark that is gone while another of them remains is exit 9.
 */
export function openStore(options: OpenOptions): Store {
  const { dir, readOnly = false } = options;
  return guarded(dir, () => {
    // Asked before looking for the journal: mark and operation keys are made after it, so a journal just being begun
    // by another process is never taken for one that was lost.
    const traces = markExists(dir) || leftAside(dir).length > 0 || holdsOperationKeys(dir);
    const path = join(dir, JOURNAL_FILE);
    if (!existsSync(path)) {
      if (traces) throw lost(path);
      if (readOnly || options.create === false)
        throw invalid(
          "no_journal",
          `There is no journal in ${dir} yet.`,
          [],
          "provision plan <request.yaml> begins one.",
        );
      mkdirSync(dir, { recursive: true, mode: 0o700 });
    }
    // An emptied file is none, and stays as it is found.
    else if (traces && statSync(path).size === 0) throw lost(path);
    if (!readOnly) closeToOthers(dir);
    const db = openDatabase(path, options.busyMs === undefined ? { readOnly } : { readOnly, busyMs: options.busyMs });
    try {
      return assemble(db, options, traces);
    } catch (error) {
      db.close();
      throw error;
    }
  });
}

function assemble(db: Database, options: OpenOptions, traces: boolean): Store {
  const { dir, readOnly = false, now, random } = options;
  const genesis = readGenesis(db) ?? begin(db, options, traces);
  if (readOnly) checkReadable(db);
  else migrate(db, JOURNAL_MIGRATIONS, now);
  const keys = openKeys(dir, genesis.jid, readOnly, options);
  try {
    const store = makeStore({ dir, db, keys, genesis, readOnly, now, random });
    checkTrust(store);
    return store;
  } catch (error) {
    keys.close();
    throw error;
  }
}

/**
 * Begins a journal. Whoever gets the write lock first makes the keys and the genesis; the genesis is the last thing
 * made, so that a crash in between leaves nothing that a later attempt could mistake for a journal.
 */
function begin(db: Database, options: OpenOptions, traces: boolean): Genesis {
  const { dir, now, random } = options;
  if (traces) throw lost(join(dir, JOURNAL_FILE));
  if (options.readOnly === true || options.create === false)
    throw invalid(
      "no_journal",
      `The journal in ${dir} was never begun.`,
      [],
      "provision plan <request.yaml> begins one.",
    );
  migrate(db, JOURNAL_MIGRATIONS, now);
  return db
    .transaction(() => {
      const there = readGenesis(db);
      if (there !== undefined) return there;
      const jid = `jrn_${base32(random(10))}`;
      const genesis: Genesis = {
        jid,
        created: now(),
        vkey: verifierKey(jid, createKeys(dir, jid, options)),
        alg: "ed25519",
      };
      db.prepare("INSERT INTO genesis (id, jid, created, vkey, alg) VALUES (1, ?, ?, ?, ?)").run(
        jid,
        genesis.created,
        genesis.vkey,
        genesis.alg,
      );
      return genesis;
    })
    .immediate();
}

function checkReadable(db: Database): void {
  if (checkVersion(db, JOURNAL_MIGRATIONS.length) < JOURNAL_MIGRATIONS.length)
    throw new ProvisionError(
      "journal_older",
      11,
      "The journal has an older layout, and reading alone cannot bring it up to date.",
      {
        hint: "Run any command that writes, such as provision run.",
      },
    );
}

function lost(path: string): ProvisionError {
  return unverified("journal_missing", `There was a journal here and it is gone (${path}).`, HINT);
}

/** The keys themselves are not in this list: once others could read them, closing the file mends nothing. */
function closeToOthers(dir: string): void {
  tighten(dir, 0o700);
  for (const file of [JOURNAL_FILE, KEYS_FILE])
    for (const ending of ["", "-wal", "-shm"]) tighten(join(dir, file + ending), 0o600);
  tighten(join(dir, MARK_FILE), 0o600);
}
