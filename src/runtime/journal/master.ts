import { createCipheriv, createDecipheriv } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { unverified } from "../../model/errors.ts";
import { digest } from "../../model/json.ts";
import { HINT } from "./mark.ts";

export type Random = (bytes: number) => Uint8Array;

export const MASTER_FILE = "master.key";
export const KEY_BYTES = 32;

/** The key that wraps all others; `id` tells which one did. */
export interface Master {
  id: string;
  key: Buffer;
}

export function ensureMaster(dir: string, random: Random): void {
  const path = join(dir, MASTER_FILE);
  if (existsSync(path)) return;
  const draft = `${path}.new`;
  rmSync(draft, { force: true });
  const fd = openSync(draft, "wx", 0o600);
  writeFileSync(fd, `${Buffer.from(random(KEY_BYTES)).toString("base64url")}\n`);
  fsyncSync(fd);
  closeSync(fd);
  renameSync(draft, path);
  const folder = openSync(dir, "r");
  fsyncSync(folder);
  closeSync(folder);
}

export function readMaster(dir: string): Master {
  const path = join(dir, MASTER_FILE);
  if (!existsSync(path))
    throw unverified("master_key_missing", `The master key of the journal is gone (${path}).`, HINT);
  if ((statSync(path).mode & 0o077) !== 0)
    throw unverified(
      "key_exposed",
      `The master key can be read by others (${path}), so its secrets may be known already.`,
      `If you know that nobody read it: chmod 600 ${path}`,
    );
  const key = Buffer.from(readFileSync(path, "utf8").trim(), "base64url");
  if (key.length !== KEY_BYTES)
    throw unverified("master_key_damaged", `The master key is not ${KEY_BYTES} bytes (${path}).`, HINT);
  return { id: `kek_${digest("kek", key).slice(0, 16)}`, key };
}

function additional(jid: string, op: string, kekId: string): Buffer {
  return Buffer.from(`provision/dek/v1\0${jid}\0${op}\0${kekId}`);
}

export function wrap(master: Master, jid: string, op: string, key: Uint8Array, random: Random): string {
  const iv = random(12);
  const cipher = createCipheriv("aes-256-gcm", master.key, iv).setAAD(additional(jid, op, master.id));
  return Buffer.concat([iv, cipher.update(key), cipher.final(), cipher.getAuthTag()]).toString("base64url");
}

export function unwrap(master: Master, jid: string, op: string, row: { kek_id: string; wrapped: string }): Buffer {
  const bytes = Buffer.from(row.wrapped, "base64url");
  try {
    const decipher = createDecipheriv("aes-256-gcm", master.key, bytes.subarray(0, 12));
    decipher.setAAD(additional(jid, op, row.kek_id)).setAuthTag(bytes.subarray(-16));
    return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]);
  } catch {
    throw unverified(
      "key_unwrap",
      `The key of ${op} does not open: it was changed, or the master key is another one.`,
      HINT,
    );
  }
}
