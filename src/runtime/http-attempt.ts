import type { Dispatcher } from "undici";
import type { HttpRequest, HttpResult } from "../model/provider.ts";
import type { Instant } from "../model/reading.ts";
import type { Transport } from "../model/reply.ts";
import { onlyOnce, type Wire } from "./http-agents.ts";
import { boundedBody, failure, fingerprint, parsedBody, plainHeaders, requestIdOf, responseHash } from "./http-wire.ts";
import { retryAfter } from "./retry-after.ts";
import type { Secret } from "./secret.ts";

/** What one attempt needs beside the request. Times in milliseconds. */
export interface AttemptOptions {
  url: URL;
  token: Secret;
  dispatcher: Dispatcher;
  requestMs: number;
  now(): Instant;
  monotonic(): number;
  fingerprintKey: Uint8Array;
  onTransport(transport: Transport): void;
  signal?: AbortSignal | undefined;
}

type Facts = Pick<Transport, "status" | "provider_request_id" | "response">;

export const INTERRUPTED: HttpResult = { kind: "not_sent", detail: "Interrupted before it was sent." };

/** Sends the request at most once, and reports the attempt whatever came of it. Throws nothing of the network's. */
export async function attemptOf(request: HttpRequest, options: AttemptOptions): Promise<HttpResult> {
  const { signal, url, requestMs } = options;
  if (signal?.aborted) return INTERRUPTED;
  const body = bodyText(request.body);
  const limit = AbortSignal.timeout(requestMs);
  const wire = onlyOnce(options.dispatcher);
  const init: RequestInit = {
    method: request.method,
    headers: headersOf(request, options.token, body),
    ...(body !== undefined && { body }),
    redirect: "manual",
    signal: signal ? AbortSignal.any([limit, signal]) : limit,
    dispatcher: asDispatcher(wire),
  };
  const before = {
    fingerprint: fingerprint(options.fingerprintKey, request, url, body),
    started_at: options.now(),
  };
  const started = options.monotonic();
  const facts: Facts = { status: null, provider_request_id: null, response: null };
  let result: HttpResult;
  try {
    result = await answerTo(init, facts, options);
  } catch (error) {
    if (wire.refusedAnother()) facts.status = 421;
    const status = facts.status === null ? {} : { status: facts.status };
    if (signal?.aborted) result = { kind: "lost", detail: "Interrupted while the answer was awaited.", ...status };
    else if (limit.aborted)
      result = { kind: "lost", detail: `No whole answer came within ${requestMs} ms.`, ...status };
    else if (wire.refusedAnother())
      result = { kind: "lost", detail: "It asked for another connection (421).", ...status };
    else result = failure(error, facts.status);
  }
  options.onTransport({ ...before, ...facts, duration_ms: Math.round(options.monotonic() - started) });
  return result;
}

/** Fills in the facts as they come, so that they are known also where the body is cut off. */
async function answerTo(init: RequestInit, facts: Facts, options: AttemptOptions): Promise<HttpResult> {
  const response = await fetch(options.url, init);
  const { status } = response;
  const headers = plainHeaders(response.headers, options.token);
  const retryAt = retryAfter(headers, options.now());
  facts.status = status;
  facts.provider_request_id = requestIdOf(headers);
  const bytes = await boundedBody(response);
  if (bytes !== undefined && bytes.length > 0) facts.response = responseHash(options.fingerprintKey, bytes);
  return { kind: "answer", status, headers, ...parsedBody(bytes, status, options.token), retryAt };
}

/** The types of this fetch and of undici's own dispatcher come from two versions of one interface. */
function asDispatcher(wire: Wire): NonNullable<RequestInit["dispatcher"]> {
  return wire as unknown as NonNullable<RequestInit["dispatcher"]>;
}

/** A text is sent as it is (a form, for instance, with its own content type); anything else as JSON. */
function bodyText(body: unknown): string | undefined {
  return body === undefined || typeof body === "string" ? body : JSON.stringify(body);
}

function headersOf(request: HttpRequest, token: Secret, body: string | undefined): Headers {
  const headers = new Headers({ accept: "application/json", "user-agent": "provision" });
  if (body !== undefined) headers.set("content-type", "application/json");
  for (const [name, value] of Object.entries(request.headers ?? {})) headers.set(name, value);
  headers.set("authorization", `Bearer ${token.reveal()}`);
  return headers;
}
