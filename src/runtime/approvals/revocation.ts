import { createHash } from "node:crypto";
import { type ProvisionError, refused } from "../../model/errors.ts";
import { escapeText } from "../../model/text.ts";
import { readTrusted } from "./trusted.ts";
import { Malformed, type Reader, reader, reading, strictBase64 } from "./wire.ts";

export interface Revoked {
  isRevoked(blob: Uint8Array): boolean;
  /** Keys and fingerprints listed. A list made by ssh-keygen may be of none; a text list may not. */
  count: number;
}

const MAGIC = "SSHKRL\n\0";

/** Section types of OpenSSH's PROTOCOL.krl. */
const CERTIFICATES = 1;
const EXPLICIT_KEY = 2;
const FINGERPRINT_SHA1 = 3;
const FINGERPRINT_SHA256 = 5;
const EXTENSION = 255;

type Way = "key" | "sha1" | "sha256";

/**
 * Reads the configured list of revoked keys: OpenSSH's binary form (`ssh-keygen -k`), or one public key a line. A list
 * that is configured and missing, empty or garbage revokes nobody any more, so nobody can approve:
 * `revocation_unreadable` (exit 13). `uid` is the user who reads.
 */
export function loadRevoked(path: string, uid?: number): Revoked {
  const file = readTrusted(path, uid);
  if (file.kind === "missing") throw unreadable(path, "it is missing");
  if (file.kind !== "read") throw unreadable(path, file.why);
  return parseRevoked(file.bytes, path);
}

function unreadable(name: string, why: string): ProvisionError {
  return refused(
    "revocation_unreadable",
    `Nobody can approve: the list of revoked keys ${escapeText(name)} cannot be relied on, since ${why}.`,
    "Restore it, or make one by: ssh-keygen -k -f FILE KEY.pub…",
  );
}

/** Parses the bytes of such a list; `name` is for messages. */
export function parseRevoked(bytes: Buffer, name: string): Revoked {
  return reading(
    () => {
      if (bytes.length === 0) throw new Malformed("it is empty");
      const binary = bytes.subarray(0, MAGIC.length).toString("latin1") === MAGIC;
      return revokedBy(binary ? parseKrl(bytes) : parseLines(bytes));
    },
    (why) => unreadable(name, why),
  );
}

function revokedBy(listed: ReadonlySet<string>): Revoked {
  return {
    count: listed.size,
    isRevoked: (blob) =>
      listed.has(mark("key", blob)) ||
      listed.has(mark("sha1", hash("sha1", blob))) ||
      listed.has(mark("sha256", hash("sha256", blob))),
  };
}

function mark(way: Way, bytes: Uint8Array): string {
  return `${way}:${Buffer.from(bytes).toString("base64")}`;
}

function hash(algorithm: "sha1" | "sha256", bytes: Uint8Array): Buffer {
  return createHash(algorithm).update(bytes).digest();
}

function parseKrl(bytes: Buffer): Set<string> {
  const from = reader(bytes);
  from.bytes(MAGIC.length);
  if (from.uint32() !== 1) throw new Malformed("its format is not version 1");
  from.uint64();
  from.uint64();
  if (from.uint64() !== 0n) throw new Malformed("it carries unknown flags");
  if (from.string().length > 0) throw new Malformed("its reserved field is not empty");
  from.string();
  const listed = new Set<string>();
  while (from.left() > 0) readSection(from, listed);
  return listed;
}

function readSection(from: Reader, listed: Set<string>): void {
  const type = from.byte();
  const section = reader(from.string());
  switch (type) {
    case CERTIFICATES:
      // No certificate is ever accepted, so there is none to revoke.
      break;
    case EXPLICIT_KEY:
      for (const blob of strings(section)) listed.add(mark("key", named(blob)));
      break;
    case FINGERPRINT_SHA1:
      for (const print of strings(section)) listed.add(mark("sha1", ofLength(print, 20)));
      break;
    case FINGERPRINT_SHA256:
      for (const print of strings(section)) listed.add(mark("sha256", ofLength(print, 32)));
      break;
    case EXTENSION:
      section.string();
      if (section.byte() !== 0) throw new Malformed("it has a critical extension that is not known here");
      section.string();
      section.end();
      break;
    default:
      throw new Malformed(`it has a section of unknown type ${type}`);
  }
}

function strings(section: Reader): Buffer[] {
  if (section.left() === 0) throw new Malformed("it has an empty section");
  const found: Buffer[] = [];
  while (section.left() > 0) found.push(section.string());
  return found;
}

function ofLength(print: Buffer, length: number): Buffer {
  if (print.length !== length) throw new Malformed("a fingerprint has the wrong length");
  return print;
}

/** Keys of any type may be revoked, also such as could not approve; each begins with its type's name. */
function named(blob: Buffer): Buffer {
  if (reader(blob).ascii() === "") throw new Malformed("a key has no type");
  return blob;
}

function parseLines(bytes: Buffer): Set<string> {
  const listed = new Set<string>();
  for (const line of text(bytes).split(/\r?\n/)) {
    if (/^[ \t]*(#|$)/.test(line)) continue;
    const parts = /^[ \t]*([\x21-\x7e]+)[ \t]+(\S+)(?:[ \t].*)?$/.exec(line);
    if (parts === null) throw new Malformed("a line of it is no public key");
    const blob = strictBase64(parts[2]!);
    if (reader(blob).ascii() !== parts[1]) throw new Malformed("a line of it is no public key");
    listed.add(mark("key", blob));
  }
  if (listed.size === 0) throw new Malformed("it lists no key");
  return listed;
}

function text(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Malformed("it is neither a key revocation list nor text");
  }
}
