/**
 * Ids that come from outside match this on the way in (tenants, roles, groups, licences, remote ids). `.` and `..` are
 * none: in an address they are steps of its path, encoded or not.
 */
export const ID = /^(?!\.{1,2}$)[A-Za-z0-9._:@-]{1,128}$/;

const RFC4648 = "abcdefghijklmnopqrstuvwxyz234567";
/** Crockford's: no letter that a person reads as a digit. */
const CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz";

/** Unpadded lower-case base32 (RFC 4648 alphabet unless another is given). */
export function base32(bytes: Uint8Array, alphabet = RFC4648): string {
  let out = "";
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      out += alphabet[(value >>> bits) & 31];
    }
    value &= (1 << bits) - 1;
  }
  if (bits > 0) out += alphabet[(value << (5 - bits)) & 31];
  return out;
}

/** `prov_2026_07_24_k3v9q2mz`: the day in UTC and 40 random bits. */
export function operationId(now: string, random: Uint8Array): string {
  return `prov_${now.slice(0, 10).replaceAll("-", "_")}_${base32(random.subarray(0, 5), CROCKFORD)}`;
}

export const OPERATION_ID = /^prov_\d{4}_\d{2}_\d{2}_[0-9a-z]{8}$/;

/** The unique part that people type. */
export function shortId(operation: string): string {
  return operation.slice(operation.lastIndexOf("_") + 1);
}
