import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from "node:crypto";
import { unverified } from "../../model/errors.ts";
import { canonical, type Json } from "../../model/json.ts";
import { type Header, headerText, type SealedHeader } from "./chain.ts";

const BLOCK = 256;
const TAG_BYTES = 16;
const NONCE_BYTES = 12;

/**
 * HKDF-SHA256 without salt, one block of 32 bytes (RFC 5869). Written with HMAC because Node's own takes four times as
 * long for a key this short.
 */
export function derive(key: Uint8Array, info: string | Uint8Array): Buffer {
  return expand(extract(key), info);
}

function extract(key: Uint8Array): Buffer {
  return createHmac("sha256", new Uint8Array(32)).update(key).digest();
}

function expand(pseudorandom: Buffer, info: string | Uint8Array): Buffer {
  return createHmac("sha256", pseudorandom).update(info).update(Uint8Array.of(1)).digest();
}

interface EntryKeys {
  key: Buffer;
  /** What commits to the key, and tells nothing of it. */
  commit: Buffer;
}

/** Each entry has keys of its own, so that a random nonce is safe even if a seq were used again after a crash. */
function entryKeys(dek: Uint8Array, { jid, seq }: Pick<Header, "jid" | "seq">): EntryKeys {
  const pseudorandom = extract(dek);
  const place = Buffer.alloc(8);
  place.writeBigUInt64BE(BigInt(seq));
  const of = (label: string) =>
    expand(pseudorandom, Buffer.concat([Buffer.from(`provision/journal/${label}/v1\0${jid}\0`), place]));
  return { key: of("key"), commit: of("commit") };
}

/**
 * Seals a payload under its header. AES-GCM alone does not bind a ciphertext to one key, hence `kc`, which stands in
 * the authenticated header and in the chain.
 */
export function seal(
  dek: Uint8Array,
  header: Omit<Header, "kc" | "nonce">,
  payload: unknown,
  random: (bytes: number) => Uint8Array,
): { entry: SealedHeader; header: string } {
  const { key, commit } = entryKeys(dek, header);
  const iv = random(NONCE_BYTES);
  const kc = commit.toString("base64url");
  const full: Header = { ...header, kc, nonce: Buffer.from(iv).toString("base64url") };
  const text = headerText(full);
  const cipher = createCipheriv("aes-256-gcm", key, iv);
  cipher.setAAD(Buffer.from(text));
  const ct = Buffer.concat([cipher.update(pad(canonical(payload))), cipher.final(), cipher.getAuthTag()]);
  return { entry: { ...full, ct: ct.toString("base64url") }, header: text };
}

/** Opens what `seal` made. Exit 9: `key_commitment`, `ciphertext` or `padding`. */
export function unseal(dek: Uint8Array, entry: SealedHeader): Json {
  const { key, commit } = entryKeys(dek, entry);
  const claimed = Buffer.from(entry.kc, "base64url");
  if (claimed.length !== commit.length || !timingSafeEqual(claimed, commit))
    throw broken("key_commitment", entry, "it is not sealed with the key that it names");
  return unpad(decrypt(key, entry), entry);
}

function decrypt(key: Uint8Array, entry: SealedHeader): Buffer {
  const bytes = Buffer.from(entry.ct, "base64url");
  const iv = Buffer.from(entry.nonce, "base64url");
  const body = bytes.subarray(0, -TAG_BYTES);
  if (iv.length !== NONCE_BYTES || bytes.length < TAG_BYTES + BLOCK || body.length % BLOCK !== 0)
    throw broken("ciphertext", entry, "its ciphertext has no length that we write");
  const decipher = createDecipheriv("aes-256-gcm", key, iv);
  decipher.setAAD(Buffer.from(headerText(entry)));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(body), decipher.final()]);
  } catch {
    throw broken("ciphertext", entry, "its ciphertext was changed");
  }
}

/** u32be(length) ‖ text ‖ zeros, to a multiple of 256: lengths tell little of what is inside. */
function pad(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const bytes = Buffer.alloc(Math.ceil((length + 4) / BLOCK) * BLOCK);
  bytes.writeUInt32BE(length);
  bytes.write(text, 4);
  return bytes;
}

function unpad(bytes: Buffer, entry: Header): Json {
  const length = bytes.readUInt32BE();
  const end = 4 + length;
  if (Math.ceil(end / BLOCK) * BLOCK !== bytes.length || bytes.subarray(end).some((byte) => byte !== 0))
    throw broken("padding", entry, "its padding is not ours");
  return JSON.parse(bytes.toString("utf8", 4, end));
}

/** The one way in which a stored entry is refused. */
export function broken(code: string, entry: { seq: number; op: string }, why: string) {
  return unverified(
    code,
    `Entry ${entry.seq} of the journal (operation ${entry.op}) does not verify: ${why}.`,
    "Nothing more is sent. Keep the state folder as it is, see `provision audit verify`, and restore a copy that you trust.",
  );
}
