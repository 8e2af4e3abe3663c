import { createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";
import { Malformed, reader, strictBase64 } from "./wire.ts";

/** Keys that may sign an approval. Certificates, DSA and other curves are not among them. */
export const KEY_TYPES = [
  "ssh-ed25519",
  "sk-ssh-ed25519@openssh.com",
  "ecdsa-sha2-nistp256",
  "sk-ecdsa-sha2-nistp256@openssh.com",
  "ssh-rsa",
] as const;
export type KeyType = (typeof KEY_TYPES)[number];

const SMALLEST_RSA = 2048;
const LARGEST_RSA = 16_384;

export interface PublicKey {
  keyType: KeyType;
  /** The key as SSH writes it; two keys are one if these bytes are equal. */
  blob: Buffer;
  /** What the signature is checked with. */
  verifier: KeyObject;
  /** Of a hardware key: the application that its signatures name. */
  application: string | null;
  /** RSA only. */
  modulusBytes: number | null;
}

/** Whether the private half lives in a security key, by the type's own word; it is no proof of hardware. */
export function isHardware(keyType: KeyType): boolean {
  return keyType.startsWith("sk-");
}

/** Reads a public key blob whole (RFC 4253 §6.6, RFC 5656 §3.1, PROTOCOL.u2f). `Malformed` for any other form or type. */
export function parsePublicKey(blob: Buffer): PublicKey {
  const from = reader(blob);
  const name = from.ascii();
  const keyType = KEY_TYPES.find((known) => known === name);
  if (keyType === undefined) throw new Malformed("keys of its type may not sign approvals");
  const jwk = keyType === "ssh-rsa" ? rsa(from) : keyType.includes("ecdsa") ? p256(from) : ed25519(from);
  const application = isHardware(keyType) ? from.ascii() : null;
  // Another application is another use of the same hardware, such as a sign-in to a web page.
  if (application !== null && !application.startsWith("ssh:")) throw new Malformed("its security key serves no SSH");
  from.end();
  const modulusBytes = keyType === "ssh-rsa" ? Buffer.from(jwk.n ?? "", "base64url").length : null;
  return { keyType, blob, verifier: imported(jwk), application, modulusBytes };
}

type From = ReturnType<typeof reader>;

function ed25519(from: From): JsonWebKey {
  const point = from.string();
  if (point.length !== 32) throw new Malformed("its Ed25519 point is not 32 bytes");
  return { kty: "OKP", crv: "Ed25519", x: point.toString("base64url") };
}

function p256(from: From): JsonWebKey {
  if (from.ascii() !== "nistp256") throw new Malformed("its curve is not nistp256");
  const point = from.string();
  if (point.length !== 65 || point[0] !== 4) throw new Malformed("its curve point is not 65 bytes, uncompressed");
  return {
    kty: "EC",
    crv: "P-256",
    x: point.subarray(1, 33).toString("base64url"),
    y: point.subarray(33).toString("base64url"),
  };
}

function rsa(from: From): JsonWebKey {
  const e = from.positive();
  const n = from.positive();
  const bits = n.length * 8 - Math.clz32(n[0] ?? 0) + 24;
  if (bits < SMALLEST_RSA || bits > LARGEST_RSA)
    throw new Malformed(`its RSA modulus is not of ${SMALLEST_RSA} bits or more`);
  const exponent = e.length >= 1 && e.length <= 4 ? e.readUIntBE(0, e.length) : 0;
  if (exponent < 3 || exponent % 2 === 0) throw new Malformed("its RSA exponent is no usual one");
  return { kty: "RSA", e: e.toString("base64url"), n: n.toString("base64url") };
}

function imported(jwk: JsonWebKey): KeyObject {
  try {
    return createPublicKey({ key: jwk, format: "jwk" });
  } catch {
    throw new Malformed("its numbers are no public key");
  }
}

/** `type base64 [comment]`, as in a `.pub` file. */
export function parsePublicLine(line: string): PublicKey & { comment: string } {
  const parts = /^([\x21-\x7e]+) ([A-Za-z0-9+/=]+)(?: (.*))?$/.exec(line);
  if (parts === null) throw new Malformed("it is no public key line");
  return { ...publicKeyOf(parts[1]!, parts[2]!), comment: parts[3] ?? "" };
}

/** The key of a type and its base64, which must name the same type. */
export function publicKeyOf(name: string, base64: string): PublicKey {
  const key = parsePublicKey(strictBase64(base64));
  if (key.keyType !== name) throw new Malformed("its type and its key differ");
  return key;
}

/** `type base64 comment`, one line with its end. */
export function publicLine(keyType: string, blob: Uint8Array, comment: string): string {
  return `${[keyType, Buffer.from(blob).toString("base64"), comment].filter((part) => part !== "").join(" ")}\n`;
}
