import { createHash } from "node:crypto";
import canonicalize from "canonicalize";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/**
 * RFC 8785 bytes of a plain JSON value. Only values that `parseCanonical` gives back unchanged: plain objects, dense
 * arrays, strings without lone surrogates, finite numbers; anything else is a fault of ours and throws.
 */
export function canonical(value: unknown): string {
  assertPlain(value, "$");
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError("no canonical form");
  return text;
}

function assertPlain(value: unknown, path: string): void {
  if (value === null || typeof value === "string" || typeof value === "boolean") return;
  if (typeof value === "number") {
    if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value)))
      throw new TypeError(`${path}: a number without an exact JSON form`);
    return;
  }
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) assertPlain(value[i], `${path}[${i}]`);
    return;
  }
  if (typeof value !== "object" || ![Object.prototype, null].includes(Object.getPrototypeOf(value)))
    throw new TypeError(`${path}: not plain JSON`);
  for (const [key, inner] of Object.entries(value)) {
    if (inner !== undefined) assertPlain(inner, `${path}.${key}`);
  }
}

/** Parses bytes that must be canonical already: duplicate keys, spaces, other orders and huge integers are refused. */
export function parseCanonical(text: string): Json {
  const value: Json = JSON.parse(text);
  if (canonical(value) !== text) throw new SyntaxError("not in canonical form (RFC 8785)");
  return value;
}

/** Domain-separated SHA-256, in hex: SHA-256("provision/<kind>/v1\0" ‖ bytes). */
export function digest(kind: string, bytes: string | Uint8Array): string {
  return createHash("sha256").update(`provision/${kind}/v1\0`).update(bytes).digest("hex");
}

/** `sha256:` + digest over the canonical form. */
export function hashOf(kind: string, value: unknown): string {
  return `sha256:${digest(kind, canonical(value))}`;
}
