import { createHmac } from "node:crypto";
import { canonical } from "../model/json.ts";
import type { HttpRequest, HttpResult } from "../model/provider.ts";
import { errnoOf } from "./files.ts";
import type { Secret } from "./secret.ts";

/** Answers of the services that we speak to stay far below; in bytes, after decompression. */
export const LARGEST_BODY = 1_000_000;

const REQUEST_IDS = ["x-request-id", "request-id", "x-github-request-id", "x-slack-req-id", "x-okta-request-id"];
const LONGEST_ID = 200;

/** Keyed fingerprint of what a request asks for; its headers, and so its token, are no part of it. */
export function fingerprint(key: Uint8Array, request: HttpRequest, url: URL, body: string | undefined): string {
  const { method, route } = request;
  const facts = { method, route, params: url.pathname + url.search, ...(body !== undefined && { body: plain(body) }) };
  return keyed(key, "request", canonical(facts));
}

/** Keyed hash of an answer's body. */
export function responseHash(key: Uint8Array, body: Uint8Array): string {
  return keyed(key, "response", body);
}

function keyed(key: Uint8Array, kind: string, bytes: string | Uint8Array): string {
  return createHmac("sha256", key).update(`provision/${kind}/v1\0`).update(bytes).digest("hex");
}

/** The parsed form, so that the order of keys counts for nothing; the text where it has none. */
function plain(body: string): unknown {
  try {
    const value: unknown = JSON.parse(body);
    canonical(value);
    return value;
  } catch {
    return body;
  }
}

/** The service's own name for the request. */
export function requestIdOf(headers: Record<string, string>): string | null {
  const id = REQUEST_IDS.map((name) => headers[name]).find((value) => value !== undefined && value !== "");
  return id?.slice(0, LONGEST_ID) ?? null;
}

/** Lower-case names; without cookies, and without what would repeat the token. */
export function plainHeaders(headers: Headers, token: Secret): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name, value]) => name !== "set-cookie" && !token.appearsIn(value)));
}

/** The body, or undefined where it is larger than is read. Throws what the stream throws when it is cut off. */
export async function boundedBody(response: Response): Promise<Uint8Array | undefined> {
  if (response.body === null) return new Uint8Array();
  const reader = response.body.getReader();
  const chunks: Uint8Array[] = [];
  let total = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    total += part.value.length;
    if (total > LARGEST_BODY) {
      // Not waited for: a stream may take its time to end, and what it says then is of no use.
      void reader.cancel().catch(() => undefined);
      return undefined;
    }
    chunks.push(part.value);
  }
  return Buffer.concat(chunks);
}

/** JSON or nothing. Text of a refusal is kept as text, since some services say only there that they throttle. */
export function parsedBody(
  bytes: Uint8Array | undefined,
  status: number,
  token: Secret,
): { body: unknown; malformed: boolean } {
  if (bytes === undefined) return { body: undefined, malformed: true };
  if (bytes.length === 0) return { body: undefined, malformed: false };
  let text: string;
  try {
    // A service that quotes the token in its answer must not bring it into messages and journal.
    text = token.hideIn(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return { body: JSON.parse(text), malformed: false };
  } catch {
    const isRefusal = status >= 400;
    return {
      body: isRefusal ? token.hideIn(Buffer.from(bytes).toString("utf8")).slice(0, LONGEST_TEXT) : undefined,
      malformed: true,
    };
  }
}

const LONGEST_TEXT = 4_096;

/** Failures that come before the first byte of a request; TLS is settled before it, too. */
const BEFORE_SENDING = new Set([
  "UND_ERR_CONNECT_TIMEOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ECONNREFUSED",
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/**
 * What a failed request proves. Only what cannot happen after the connection stood is `not_sent`; the rest may have
 * arrived. Of the error nothing is repeated but its code: messages of the stack can quote headers.
 */
export function failure(error: unknown, status: number | null): HttpResult {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const code = errnoOf(cause);
  if (status === null && cameBeforeSending(cause)) {
    return { kind: "not_sent", detail: `The connection could not be made (${code}).` };
  }
  const what = status === null ? "no answer came" : "the answer was cut off";
  return { kind: "lost", detail: `The connection broke and ${what} (${code}).`, ...(status !== null && { status }) };
}

function cameBeforeSending(cause: unknown): boolean {
  // Several addresses were tried: each of them must have failed so.
  if (cause instanceof AggregateError && cause.errors.length > 0) return cause.errors.every(cameBeforeSending);
  if (typeof cause !== "object" || cause === null) return false;
  const syscall = "syscall" in cause ? cause.syscall : undefined;
  return syscall === "connect" || syscall === "getaddrinfo" || BEFORE_SENDING.has(errnoOf(cause));
}
