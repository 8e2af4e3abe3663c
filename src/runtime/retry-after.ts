import type { Instant } from "../model/reading.ts";

/** Nobody is told to come back later than this in good faith; a number beyond it is a mistake or another unit. */
const LONGEST_MS = 31 * 86_400_000;

/**
 * When a throttled caller may come back, by its own clock; null where no header says so or none makes sense.
 *
 * Taken in this order: `Retry-After`, `X-Retry-After` (seconds, whole or decimal and then rounded up, or one of the
 * three date forms), then `X-RateLimit-Reset`, `X-Rate-Limit-Reset` (seconds or milliseconds since 1970), the last two
 * only where `…-Remaining` is absent or 0, since services send them with every answer. Dates count from the answer's own
 * `Date`, so that the two clocks need not agree.
 *
 * Sources: RFC 9110, 10.2.3 and 5.6.7; GitHub REST, "Rate limits for the REST API"; Okta, "Rate limits".
 *
 * @param headers - With lower-case names.
 * @param now - When the answer came, by our clock.
 */
export function retryAfter(headers: Readonly<Record<string, string>>, now: Instant): Instant | null {
  const nowMs = Date.parse(now);
  const theirsMs = httpDate(headers.date ?? "") ?? nowMs;
  for (const name of ["retry-after", "x-retry-after"]) {
    const wait = waitOf(headers[name]?.trim() ?? "", theirsMs);
    if (wait !== null) return new Date(nowMs + wait).toISOString();
  }
  for (const limit of ["x-ratelimit", "x-rate-limit"]) {
    const remaining = headers[`${limit}-remaining`]?.trim();
    const reset = epochMs(headers[`${limit}-reset`]?.trim() ?? "");
    if (reset === null || (remaining !== undefined && remaining !== "0")) continue;
    const wait = sensible(reset - theirsMs);
    if (wait !== null) return new Date(nowMs + wait).toISOString();
  }
  return null;
}

/** Milliseconds to wait. */
function waitOf(value: string, theirsMs: number): number | null {
  if (/^\d{1,12}(\.\d{1,12})?$/.test(value)) return sensible(Math.ceil(Number(value)) * 1000);
  const date = httpDate(value);
  return date === null ? null : sensible(date - theirsMs);
}

function sensible(ms: number): number | null {
  return ms >= 0 && ms <= LONGEST_MS ? ms : null;
}

function epochMs(value: string): number | null {
  if (/^\d{9,10}(\.\d{1,9})?$/.test(value)) return Math.ceil(Number(value) * 1000);
  return /^\d{12,13}$/.test(value) ? Number(value) : null;
}

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
const MONTH = `(${MONTHS.join("|")})`;
const TIME = "(\\d{2}):(\\d{2}):(\\d{2})";
/** `Sun, 06 Nov 1994 08:49:37 GMT` */
const FIXED = new RegExp(`^[A-Z][a-z]{2}, (\\d{2}) ${MONTH} (\\d{4}) ${TIME} GMT$`);
/** `Sunday, 06-Nov-94 08:49:37 GMT` */
const RFC850 = new RegExp(`^[A-Z][a-z]{5,8}, (\\d{2})-${MONTH}-(\\d{2}) ${TIME} GMT$`);
/** `Sun Nov  6 08:49:37 1994` */
const ASCTIME = new RegExp(`^[A-Z][a-z]{2} ${MONTH} ([ \\d]\\d) ${TIME} (\\d{4})$`);

/** Milliseconds since 1970 of an HTTP date in any of its three forms; null where it is none. */
export function httpDate(text: string): number | null {
  const fixed = FIXED.exec(text);
  if (fixed) return utc(fixed[3], fixed[2], fixed[1], fixed.slice(4));
  const old = RFC850.exec(text);
  // Two digits of a year are of this century here: nothing that answers today speaks of the one before.
  if (old) return utc(`20${old[3]}`, old[2], old[1], old.slice(4));
  const asctime = ASCTIME.exec(text);
  return asctime ? utc(asctime[6], asctime[1], asctime[2], asctime.slice(3, 6)) : null;
}

function utc(year = "", month = "", day = "", time: string[] = []): number | null {
  const [hour = 0, minute = 0, second = 0] = time.map(Number);
  const at = new Date(Date.UTC(Number(year), MONTHS.indexOf(month), Number(day), hour, minute, second));
  // A day or hour that does not exist would roll over into the next one.
  const isReal = at.getUTCDate() === Number(day) && at.getUTCHours() === hour && at.getUTCMinutes() === minute;
  return isReal && second <= 60 ? at.getTime() : null;
}
