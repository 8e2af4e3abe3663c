import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes } from "node:crypto";
import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { invalid, type ProvisionError, refused } from "../../model/errors.ts";
import { escapeText } from "../../model/text.ts";
import { isHardware, type KeyType, parsePublicKey, parsePublicLine, publicLine } from "./pubkey.ts";
import { armour, Malformed, reader, reading, sshString, sshUint32, unarmour } from "./wire.ts";

/**
 * How the private half is kept. `plain-file`: whoever reads the file signs. `encrypted-file`: behind a passphrase.
 * `agent`: in an ssh agent. `hardware`: in a security key.
 */
export type KeyKind = "plain-file" | "encrypted-file" | "agent" | "hardware";

export interface KeyFile {
  kind: KeyKind;
  /** Null for the older PEM files, which show their public half to ssh-keygen alone. */
  publicKey: { keyType: KeyType; blob: Buffer } | null;
  /** The private half, where it is a plain Ed25519 key; every other key is ssh-keygen's to use. */
  signer: KeyObject | null;
}

const LABEL = "OPENSSH PRIVATE KEY";
const MAGIC = "openssh-key-v1\0";
const LONGEST = 65_536;

/**
 * Reads a private key file, or the `.pub` file of a key that an agent holds. Throws `key_file_missing` or
 * `key_file_malformed` (exit 2); `key_file_open` (exit 13) for a private key that others can read.
 */
export function readKeyFile(path: string): KeyFile {
  const { text, mode } = readWithMode(path);
  const key = parseKey(text, path);
  if (isPrivate(text) && process.platform !== "win32" && (mode & 0o077) !== 0) {
    throw refused(
      "key_file_open",
      `The private key ${escapeText(path)} can be read by others.`,
      "Run: chmod 600 on it.",
    );
  }
  return key;
}

function isPrivate(text: string): boolean {
  return text.startsWith("-----BEGIN ");
}

function readWithMode(path: string): { text: string; mode: number } {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    const { mode, size } = fstatSync(file);
    if (size > LONGEST) throw new RangeError("too long");
    return { text: readFileSync(file, "utf8"), mode };
  } catch (fault) {
    const why = escapeText(fault instanceof Error ? fault.message : String(fault));
    throw invalid(
      "key_file_missing",
      `The key file ${escapeText(path)} cannot be read: ${why}.`,
      [],
      "Name one by --key.",
    );
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Reads the text of a key file; `name` is for messages only. */
export function parseKey(text: string, name: string): KeyFile {
  return reading(
    () => {
      if (!isPrivate(text)) return publicHalf(text);
      return text.startsWith(`-----BEGIN ${LABEL}-----`) ? openssh(unarmour(LABEL, text, LONGEST)) : pem(text);
    },
    (why): ProvisionError =>
      invalid("key_file_malformed", `The key file ${escapeText(name)} is no SSH key that can sign: ${why}.`),
  );
}

function publicHalf(text: string): KeyFile {
  const { keyType, blob } = parsePublicLine(text.trimEnd());
  return { kind: isHardware(keyType) ? "hardware" : "agent", publicKey: { keyType, blob }, signer: null };
}

function pem(text: string): KeyFile {
  if (!/^-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----\r?\n/.test(text)) throw new Malformed("it holds no private key");
  const encrypted = /^-----BEGIN ENCRYPTED |^Proc-Type: 4,ENCRYPTED/m.test(text);
  return { kind: encrypted ? "encrypted-file" : "plain-file", publicKey: null, signer: null };
}

/** The file form of OpenSSH's PROTOCOL.key. */
function openssh(bytes: Buffer): KeyFile {
  const from = reader(bytes);
  if (from.bytes(MAGIC.length).toString("latin1") !== MAGIC) throw new Malformed("it is no OpenSSH key");
  const cipher = from.ascii();
  const kdf = from.ascii();
  const kdfOptions = from.string();
  if (from.uint32() !== 1) throw new Malformed("it does not hold exactly one key");
  const { keyType, blob } = parsePublicKey(from.string());
  const secret = from.string();
  const publicKey = { keyType, blob };
  if (cipher !== "none") {
    if (kdf !== "bcrypt" || kdfOptions.length === 0)
      throw new Malformed("its passphrase is of no kind that OpenSSH writes");
    return { kind: isHardware(keyType) ? "hardware" : "encrypted-file", publicKey, signer: null };
  }
  if (kdf !== "none" || kdfOptions.length > 0) throw new Malformed("it has a passphrase and no cipher");
  from.end();
  if (isHardware(keyType)) return { kind: "hardware", publicKey, signer: null };
  return { kind: "plain-file", publicKey, signer: keyType === "ssh-ed25519" ? ed25519(secret, blob) : null };
}

const BLOCK = 8;

function ed25519(secret: Buffer, blob: Buffer): KeyObject {
  const from = reader(secret);
  const check = from.uint32();
  if (check !== from.uint32()) throw new Malformed("its check numbers differ");
  if (from.ascii() !== "ssh-ed25519") throw new Malformed("its halves are of two types");
  const point = from.string();
  const pair = from.string();
  from.string();
  const padding = from.bytes(from.left());
  if (secret.length % BLOCK !== 0 || padding.length >= BLOCK || padding.some((byte, i) => byte !== i + 1)) {
    throw new Malformed("its padding is wrong");
  }
  const seed = pair.subarray(0, 32);
  const whole = pair.length === 64 && pair.subarray(32).equals(point) && ed25519Blob(point).equals(blob);
  if (!whole) throw new Malformed("its halves do not belong together");
  const key = createPrivateKey({
    key: { kty: "OKP", crv: "Ed25519", d: seed.toString("base64url"), x: point.toString("base64url") },
    format: "jwk",
  });
  // OpenSSL derives the point from the seed and never looks at the one given.
  if (createPublicKey(key).export({ format: "jwk" }).x !== point.toString("base64url")) {
    throw new Malformed("its halves do not belong together");
  }
  return key;
}

function ed25519Blob(point: Uint8Array): Buffer {
  return Buffer.concat([sshString("ssh-ed25519"), sshString(point)]);
}

/**
 * Makes an Ed25519 key pair in OpenSSH's file form, without passphrase, where OpenSSH may not be installed. The caller
 * writes `privateText` with mode 0600.
 */
export function generateKey(comment: string): { privateText: string; publicLine: string; blob: Buffer } {
  if (/[\r\n\0]/.test(comment)) throw invalid("key_comment", "A key's comment is one line of text.");
  const jwk = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
  const point = Buffer.from(jwk.x ?? "", "base64url");
  const seed = Buffer.from(jwk.d ?? "", "base64url");
  const blob = ed25519Blob(point);
  const check = randomBytes(4);
  const unpadded = Buffer.concat([check, check, blob, sshString(Buffer.concat([seed, point])), sshString(comment)]);
  const padding = Buffer.from(Array.from({ length: (BLOCK - (unpadded.length % BLOCK)) % BLOCK }, (_, i) => i + 1));
  const bytes = Buffer.concat([
    Buffer.from(MAGIC, "latin1"),
    sshString("none"),
    sshString("none"),
    sshString(""),
    sshUint32(1),
    sshString(blob),
    sshString(Buffer.concat([unpadded, padding])),
  ]);
  return { privateText: armour(LABEL, bytes), publicLine: publicLine("ssh-ed25519", blob, comment), blob };
}
