import { createHash, type KeyObject, sign as rawSign, verify as rawVerify } from "node:crypto";
import { type ProvisionError, refused, unverified } from "../../model/errors.ts";
import type { Assurance } from "../../model/statement.ts";
import { isHardware, type KeyType, type PublicKey, parsePublicKey } from "./pubkey.ts";
import { armour, Malformed, reader, reading, sshString, sshUint32, unarmour } from "./wire.ts";

/** The one namespace that an approval is signed under, so that a signature made for git or a file decides nothing here. */
export const NAMESPACE = "provision-approval";

const LABEL = "SSH SIGNATURE";
const MAGIC = "SSHSIG";
const VERSION = 1;
const HASHES = ["sha512", "sha256"] as const;
const LONGEST_ARMOUR = 16_384;

/** Bits of the flags byte of a security key (PROTOCOL.u2f, "SSH U2F signatures"). */
const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;

/** What a signature that verified says of its maker. */
export interface Verified {
  keyType: KeyType;
  publicKeyBlob: Buffer;
  namespace: string;
  /** Security keys only. */
  flags?: number;
  counter?: number;
}

interface Parsed {
  key: PublicKey;
  namespace: string;
  hash: (typeof HASHES)[number];
  signature: Buffer;
}

/**
 * Checks an armoured SSH signature over the message. Strict: exactly the armour that OpenSSH writes, no reserved bytes,
 * nothing trailing. The caller compares the namespace and the key with what it expects, and asks `assuranceOf`.
 * Throws `bad_signature` (exit 9), and nothing else.
 * Source: OpenSSH PROTOCOL.sshsig and PROTOCOL.u2f, as of 10.5p1.
 */
export function verifySshsig(armoured: string, message: Uint8Array): Verified {
  return reading(() => {
    const parsed = parse(unarmour(LABEL, armoured, LONGEST_ARMOUR));
    const signed = signedData(parsed.namespace, parsed.hash, message);
    return { ...check(parsed, signed), namespace: parsed.namespace };
  }, badSignature);
}

function badSignature(why: string): ProvisionError {
  return unverified("bad_signature", `The SSH signature does not verify: ${why}.`, "Sign the statement again.");
}

function parse(bytes: Buffer): Parsed {
  const from = reader(bytes);
  if (from.bytes(MAGIC.length).toString("latin1") !== MAGIC) throw new Malformed("it is no SSHSIG");
  if (from.uint32() !== VERSION) throw new Malformed("its version is not 1");
  const key = parsePublicKey(from.string());
  const namespace = from.ascii();
  if (namespace === "") throw new Malformed("it has no namespace");
  if (from.string().length > 0) throw new Malformed("its reserved field is not empty");
  const name = from.ascii();
  const hash = HASHES.find((known) => known === name);
  if (hash === undefined) throw new Malformed("its hash is neither sha512 nor sha256");
  const signature = from.string();
  from.end();
  return { key, namespace, hash, signature };
}

/** The bytes that the key signs: they bind the namespace, and the message by its hash. */
function signedData(namespace: string, hash: Parsed["hash"], message: Uint8Array): Buffer {
  const digest = createHash(hash).update(message).digest();
  return Buffer.concat([Buffer.from(MAGIC), sshString(namespace), sshString(""), sshString(hash), sshString(digest)]);
}

function check({ key, signature }: Parsed, signed: Buffer): Omit<Verified, "namespace"> {
  const from = reader(signature);
  const algorithm = from.ascii();
  const value = from.string();
  const hardware = isHardware(key.keyType);
  const flags = hardware ? from.byte() : undefined;
  const counter = hardware ? from.uint32() : undefined;
  from.end();
  const data =
    flags === undefined || counter === undefined
      ? signed
      : Buffer.concat([sha256(key.application ?? ""), Buffer.from([flags]), sshUint32(counter), sha256(signed)]);
  if (!holds(key, algorithm, value, data)) throw new Malformed("it was not made over these bytes by this key");
  const facts = { keyType: key.keyType, publicKeyBlob: key.blob };
  return flags === undefined || counter === undefined ? facts : { ...facts, flags, counter };
}

function sha256(bytes: Uint8Array | string): Buffer {
  return createHash("sha256").update(bytes).digest();
}

function holds(key: PublicKey, algorithm: string, value: Buffer, data: Buffer): boolean {
  const verify = verifierFor(key, algorithm, value);
  try {
    return verify(data);
  } catch {
    // OpenSSL throws at some numbers that are no signature at all.
    return false;
  }
}

function verifierFor(key: PublicKey, algorithm: string, value: Buffer): (data: Buffer) => boolean {
  const never = () => false;
  if (key.keyType === "ssh-rsa") {
    const hash = { "rsa-sha2-512": "sha512", "rsa-sha2-256": "sha256" }[algorithm];
    if (hash === undefined || value.length !== key.modulusBytes) return never;
    return (data) => rawVerify(hash, data, key.verifier, value);
  }
  if (algorithm !== key.keyType) return never;
  if (key.keyType.includes("ecdsa")) {
    const numbers = p256Value(value);
    return (data) => rawVerify("sha256", data, { key: key.verifier, dsaEncoding: "ieee-p1363" }, numbers);
  }
  return value.length === 64 ? (data) => rawVerify(null, data, key.verifier, value) : never;
}

/** r and s as two fixed 32-byte numbers, out of two mpints. */
function p256Value(value: Buffer): Buffer {
  const from = reader(value);
  const numbers = [from.positive(), from.positive()];
  from.end();
  if (numbers.some(({ length }) => length > 32)) throw new Malformed("its ECDSA numbers are too long");
  return Buffer.concat(numbers.map((number) => Buffer.concat([Buffer.alloc(32 - number.length), number])));
}

/**
 * What the flags say of the person. OpenSSH's own verifier accepts a security key's signature made without a touch; here
 * it is refused with `no_touch` (exit 13). A key without flags is software, whatever it is kept in.
 */
export function assuranceOf({ keyType, flags }: Pick<Verified, "keyType" | "flags">): Assurance {
  if (!isHardware(keyType)) return "software";
  if (flags === undefined || (flags & USER_PRESENT) === 0) {
    throw refused(
      "no_touch",
      "The signature was made by a security key that nobody touched.",
      "Sign again and touch the key when it blinks; a key made with no-touch-required cannot approve.",
    );
  }
  return (flags & USER_VERIFIED) === 0 ? "touch" : "touch_uv";
}

/** Signs by an Ed25519 key in hand, byte for byte as `ssh-keygen -Y sign` would. */
export function signSshsig(
  message: Uint8Array,
  key: { blob: Buffer; signer: KeyObject },
  namespace = NAMESPACE,
): string {
  const hash = "sha512";
  const value = rawSign(null, signedData(namespace, hash, message), key.signer);
  const signature = Buffer.concat([sshString("ssh-ed25519"), sshString(value)]);
  return armour(
    LABEL,
    Buffer.concat([
      Buffer.from(MAGIC),
      sshUint32(VERSION),
      sshString(key.blob),
      sshString(namespace),
      sshString(""),
      sshString(hash),
      sshString(signature),
    ]),
  );
}
