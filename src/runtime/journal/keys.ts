import { createHmac, createPrivateKey, createPublicKey } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { unverified } from "../../model/errors.ts";
import type { Instant } from "../../model/reading.ts";
import { KEYS_FILE } from "./ground.ts";
import { HINT } from "./mark.ts";
import { ensureMaster, KEY_BYTES, type Random, readMaster, unwrap, wrap } from "./master.ts";
import { checkVersion, KEYS_MIGRATIONS, migrate } from "./migrations.ts";
import { type Database, guarded, openDatabase } from "./sqlite.ts";

/**
 * The keys of a journal. Each operation has a data key of its own, so that deleting one row makes what it sealed
 * unreadable while the chain still verifies. They lie in a database apart, wrapped under the master key.
 */
export interface Keys {
  /** Exit 9 `key_missing` where it was deleted. */
  of(kid: string): Uint8Array;
  /** Makes the key, durably, where there is none yet. It must be on disk before anything that it seals. */
  ensure(kid: string): Uint8Array;
  /** A keyed hash, for finding without telling: `label` keeps the uses apart. */
  mac(label: "intent" | "subject" | "nonce" | "lease", value: string): Buffer;
  close(): void;
}

export interface KeyIo {
  now(): Instant;
  random: Random;
}

const INDEX = "#index";
const SIGNER = "#signer";
/** DER of an Ed25519 private key up to its 32 bytes (RFC 8410, section 7). */
const PKCS8_ED25519 = Buffer.from("302e020100300506032b657004220420", "hex");

/** Whether keys of operations are here, and so a journal must be. */
export function holdsOperationKeys(dir: string): boolean {
  const path = join(dir, KEYS_FILE);
  if (!existsSync(path) || statSync(path).size === 0) return false;
  const db = openDatabase(path, { readOnly: true });
  try {
    if (checkVersion(db, KEYS_MIGRATIONS.length) === 0) return false;
    return db.prepare("SELECT 1 FROM dek WHERE op NOT IN (?, ?)").get(INDEX, SIGNER) !== undefined;
  } finally {
    db.close();
  }
}

/**
 * Makes master key, index key and signing key for a new journal, and returns the signing key's public half. What an
 * earlier attempt left that died before it had a journal is replaced; its master key is kept.
 */
export function createKeys(dir: string, jid: string, io: KeyIo): Uint8Array {
  ensureMaster(dir, io.random);
  const master = readMaster(dir);
  const db = open(dir, false);
  try {
    migrate(db, KEYS_MIGRATIONS, io.now);
    const seed = io.random(KEY_BYTES);
    const put = db.prepare("INSERT INTO dek (op, kek_id, wrapped, created) VALUES (?, ?, ?, ?)");
    db.transaction(() => {
      db.exec("DELETE FROM dek");
      put.run(INDEX, master.id, wrap(master, jid, INDEX, io.random(KEY_BYTES), io.random), io.now());
      put.run(SIGNER, master.id, wrap(master, jid, SIGNER, seed, io.random), io.now());
    }).immediate();
    const key = createPrivateKey({ key: Buffer.concat([PKCS8_ED25519, seed]), format: "der", type: "pkcs8" });
    return createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-KEY_BYTES);
  } finally {
    db.close();
  }
}

/** Opens the keys of an existing journal. Exit 9 `keys_missing`, `master_key_missing`, `key_exposed`, `key_unwrap`. */
export function openKeys(dir: string, jid: string, readOnly: boolean, io: KeyIo): Keys {
  const path = join(dir, KEYS_FILE);
  if (!existsSync(path) || statSync(path).size === 0)
    throw unverified("keys_missing", `The journal's keys are gone (${path}).`, HINT);
  const master = readMaster(dir);
  const db = open(dir, readOnly);
  const known = new Map<string, Uint8Array>();
  const find = guarded(path, () =>
    db.prepare<[string], { kek_id: string; wrapped: string }>("SELECT kek_id, wrapped FROM dek WHERE op = ?"),
  );
  const load = (kid: string): Uint8Array => {
    const row = guarded(path, () => find.get(kid));
    if (row === undefined)
      throw unverified("key_missing", `The key of ${kid} is gone, so what it sealed cannot be read.`);
    const key = unwrap(master, jid, kid, row);
    known.set(kid, key);
    return key;
  };
  try {
    checkVersion(db, KEYS_MIGRATIONS.length);
    const index = load(INDEX);
    return {
      of: (kid) => known.get(kid) ?? load(kid),
      ensure: (kid) => {
        if (find.get(kid) !== undefined) return known.get(kid) ?? load(kid);
        const wrapped = wrap(master, jid, kid, io.random(KEY_BYTES), io.random);
        const put = "INSERT INTO dek (op, kek_id, wrapped, created) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING";
        guarded(path, () => db.prepare(put).run(kid, master.id, wrapped, io.now()));
        return load(kid);
      },
      mac: (label, value) => createHmac("sha256", index).update(`provision/index/v1\0${label}\0${value}`).digest(),
      close: () => {
        for (const key of known.values()) key.fill(0);
        master.key.fill(0);
        db.close();
      },
    };
  } catch (error) {
    db.close();
    throw error;
  }
}

function open(dir: string, readOnly: boolean): Database {
  const db = openDatabase(join(dir, KEYS_FILE), { readOnly });
  db.pragma("secure_delete = ON");
  return db;
}
