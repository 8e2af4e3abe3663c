import { hash } from "node:crypto";
import type { EntryKind } from "../../model/entry.ts";
import { canonical, digest } from "../../model/json.ts";
import type { Instant } from "../../model/reading.ts";

/** What a journal begins with. `vkey` verifies its future checkpoints, in the form of C2SP's signed notes. */
export interface Genesis {
  jid: string;
  created: Instant;
  vkey: string;
  alg: "ed25519";
}

export const ENTRY_VERSION = 1;
export const ENCRYPTION = "A256GCM+HKDF-SHA256";
/** The operation of an entry that belongs to none. */
export const NO_OPERATION = "-";

/** What stands in clear: random ids, a closed list of kinds, times. All of it is authenticated by the seal. */
export interface Header {
  v: number;
  jid: string;
  /** Counts from 0: the place of the entry's leaf in the tree. */
  seq: number;
  /** The hash of the entry before, hex; of the genesis for the first. */
  prev: string;
  ts: Instant;
  op: string;
  /** 0 where the entry is of no step. */
  step: number;
  kind: EntryKind;
  enc: string;
  /** Which key of keys.db seals it. */
  kid: string;
  /** Commitment to the key, unpadded base64url: the ciphertext opens under no other. */
  kc: string;
  nonce: string;
}

export interface SealedHeader extends Header {
  ct: string;
}

/** A row of the table `entry`, and the JSON form of an entry. */
export interface Row extends SealedHeader {
  entry_hash: string;
}

export const COLUMNS = [
  "v",
  "jid",
  "seq",
  "prev",
  "ts",
  "op",
  "step",
  "kind",
  "enc",
  "kid",
  "kc",
  "nonce",
  "ct",
  "entry_hash",
] as const;

/**
 * The canonical form (RFC 8785) of the header. Its names and their order are fixed, so it is written out: the general
 * routine takes longer than hashing does, and this runs for every entry of every verification.
 */
export function headerText(h: Header): string {
  const text = JSON.stringify;
  return `{"enc":${text(h.enc)},"jid":${text(h.jid)},"kc":${text(h.kc)},"kid":${text(h.kid)},"kind":${text(h.kind)},"nonce":${text(h.nonce)},"op":${text(h.op)},"prev":${text(h.prev)},"seq":${h.seq},"step":${h.step},"ts":${text(h.ts)},"v":${h.v}}`;
}

/** SHA-256("provision/journal/entry/v1\0" ‖ canonical form of the entry without `entry_hash`), hex. */
export function entryHash(entry: SealedHeader, header = headerText(entry)): string {
  return hash("sha256", `provision/journal/entry/v1\0{"ct":${JSON.stringify(entry.ct)},${header.slice(1)}`, "hex");
}

/** What the first entry's `prev` is. */
export function genesisHash({ jid, created, vkey, alg }: Genesis): string {
  return digest("journal/genesis", canonical({ jid, created, vkey, alg }));
}

/** The name under which roots of this journal are signed and quoted. */
export function originOf(jid: string): string {
  return `provision.local/${jid}`;
}

/** `<origin>+<key id>+<base64(0x01 ‖ public key)>`. Source: C2SP signed-note, "Verifier keys" and "Ed25519". */
export function verifierKey(jid: string, publicKey: Uint8Array): string {
  const typed = Buffer.concat([Uint8Array.of(1), publicKey]);
  const id = hash("sha256", Buffer.concat([Buffer.from(`${originOf(jid)}\n`), typed]), "hex").slice(0, 8);
  return `${originOf(jid)}+${id}+${typed.toString("base64")}`;
}
