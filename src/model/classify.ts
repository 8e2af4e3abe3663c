import type { HttpResult } from "./provider.ts";
import type { Reading, UnreadableReason } from "./reading.ts";
import type { Reply } from "./reply.ts";

const MAX_TEXT = 200;
/** Services that throttle with a 403 say so in words alone (GitHub's secondary limits, Google's `rateLimitExceeded`). */
const RATE_LIMIT = [
  /\b(rate.?limit|too many requests|quota.?exceeded|throttl|abuse detection)/i,
  /RateLimit|QuotaExceeded/,
];

export interface Reason {
  code?: unknown;
  message?: unknown;
}

/** What a provider knows about its answers beyond HTTP. */
export interface ReplyHints {
  /** Whether the body of a 2xx (other than 202 and 204) is what the service documents; if not, it may have happened. */
  fits?: (body: unknown) => boolean;
  /** The id of what was made, from the body of a 2xx. */
  remoteId?: (body: unknown) => string | undefined;
  /** Where an error's code and message stand; absent: `code` and `message` at the top. */
  reason?: (body: unknown) => Reason;
}

type Answer = Extract<HttpResult, { kind: "answer" }>;

/**
 * What one write got back, read off HTTP alone. Draws no conclusion about what happened: 408, 5xx, and a success whose
 * body was cut off or makes no sense are `lost`. Code and detail are bounded and carry no address, so that no link
 * by which an invitation is redeemed gets any further.
 */
export function replyOf(result: HttpResult, hints: ReplyHints = {}): Reply {
  if (result.kind === "not_sent") return { kind: "not_sent", detail: bounded(result.detail) };
  if (result.kind === "lost") {
    const detail = bounded(result.detail);
    return result.status === undefined ? { kind: "lost", detail } : { kind: "lost", status: result.status, detail };
  }
  const { status } = result;
  if (status >= 200 && status < 300) return accepted(result, hints);
  const { code, detail } = reasonOf(result, hints);
  const text = `${code} ${detail}`;
  if (isThrottled(result, text)) return { kind: "throttled", status, retryAt: result.retryAt, detail };
  if (status >= 500 || status === 408)
    return { kind: "lost", status, detail, ...(result.retryAt === null ? {} : { retryAt: result.retryAt }) };
  return { kind: refusal(status), status, code, detail };
}

function accepted(result: Answer, { fits, remoteId }: ReplyHints): Reply {
  const { status, body } = result;
  if (result.malformed) return { kind: "lost", status, detail: "The answer was cut off or is no JSON." };
  const asynchronous = status === 202;
  if (!asynchronous && status !== 204 && fits !== undefined && !fits(body))
    return { kind: "lost", status, detail: "The answer is none that the service documents." };
  const id = remoteId?.(body);
  const version = result.headers.etag;
  return {
    kind: "accepted",
    status,
    ...(id === undefined ? {} : { remoteId: id }),
    // The version in a 202 is that of the work to come, if of anything.
    ...(version === undefined || asynchronous ? {} : { version }),
    ...(asynchronous ? { asynchronous } : {}),
  };
}

function refusal(status: number): "denied" | "rejected" | "conflict" | "gone" {
  if (status === 401 || status === 403) return "denied";
  if (status === 404 || status === 410) return "gone";
  if (status === 409 || status === 412 || status === 428) return "conflict";
  return "rejected";
}

function isThrottled(result: Answer, text: string): boolean {
  if (result.status === 429 || result.status === 423) return true;
  return result.status === 403 && (result.retryAt !== null || RATE_LIMIT.some((words) => words.test(text)));
}

/** Why a read proves nothing; undefined where it was answered with a sound 2xx. A 404 is for the caller to judge first. */
export function unreadableOf(result: HttpResult): Extract<Reading<never>, { kind: "unreadable" }> | undefined {
  const until = result.kind === "answer" && result.retryAt !== null ? { until: result.retryAt } : {};
  const unreadable = (reason: UnreadableReason, detail: string) =>
    ({ kind: "unreadable", reason, detail, ...until }) as const;
  if (result.kind === "not_sent") return unreadable("timeout", bounded(result.detail));
  if (result.kind === "lost")
    return unreadable((result.status ?? 0) >= 500 ? "server_error" : "timeout", bounded(result.detail));
  const { status } = result;
  if (status >= 200 && status < 300)
    return result.malformed ? unreadable("malformed", "The answer was cut off or is no JSON.") : undefined;
  const { code, detail } = reasonOf(result, {});
  const text = `${status} ${code}${detail === "" ? "" : `: ${detail}`}`;
  // Said ahead of everything else: with a dead token no answer tells anything of the target.
  if (status === 401) return unreadable("unauthenticated", `the credential is no longer accepted (${text})`);
  if (isThrottled(result, text)) return unreadable("throttled", text);
  if (status >= 500 || status === 408) return unreadable("server_error", text);
  const forbidden = [403, 404, 410].includes(status);
  return unreadable(forbidden ? "forbidden" : "malformed", text);
}

function reasonOf(result: Answer, hints: ReplyHints): { code: string; detail: string } {
  const { code, message } = (hints.reason ?? topLevel)(result.body);
  return {
    code: typeof code === "string" && /^[\w.:-]{1,64}$/.test(code) ? code : `http_${result.status}`,
    detail: typeof message === "string" ? bounded(message) : "",
  };
}

/** A refusal that is no JSON comes as text, and may still say in words that it was too much. */
function topLevel(body: unknown): Reason {
  if (typeof body === "string") return { message: body };
  return typeof body === "object" && body !== null ? (body as Reason) : {};
}

/** Addresses are taken out ahead of the cut, so that no half of one is left. */
function bounded(text: string): string {
  return text.replaceAll(/\b[a-z][a-z0-9+.-]*:\/\/\S*/gi, "[link]").slice(0, MAX_TEXT);
}
