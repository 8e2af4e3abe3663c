import { setTimeout as sleep } from "node:timers/promises";
import pRetry from "p-retry";
import { bug } from "../model/errors.ts";
import type { HttpRequest, HttpResult, ReadIo, WriteIo } from "../model/provider.ts";
import type { Instant } from "../model/reading.ts";
import type { Transport } from "../model/reply.ts";
import { agentsFor } from "./http-agents.ts";
import { attemptOf, INTERRUPTED } from "./http-attempt.ts";
import type { Secret } from "./secret.ts";

export interface HttpOptions<Mode extends "read" | "write"> {
  baseUrl: string;
  /** The token to send; asked for ahead of every attempt, so that one that ends soon is replaced in time. */
  load(): Promise<Secret>;
  /** A token from its source, after the service refused the one at hand. */
  refresh(): Promise<Secret>;
  /** How long one attempt may take, its answer and body included. In milliseconds. */
  requestMs: number;
  mode: Mode;
  /** Routes that read by POST. */
  readOnlyRoutes?: readonly string[] | undefined;
  now(): Instant;
  /** Milliseconds that only ever grow. */
  monotonic(): number;
  /** Of one operation; see `Transport`. */
  fingerprintKey: Uint8Array;
  /** Called once for every attempt on the wire, when it is over. */
  onTransport(transport: Transport): void;
  signal?: AbortSignal | undefined;
  env?: NodeJS.ProcessEnv;
  /** Pause before the second attempt of a read; doubled for the third. In milliseconds. */
  backoffMs?: number;
}

type Io<Mode> = (Mode extends "write" ? WriteIo : ReadIo) & { close(): Promise<void> };

const READ_RETRIES = 2;
/** A read waits this long for a service that asks for it; beyond, the caller decides. */
const LONGEST_PAUSE_MS = 2_000;

/**
 * Requests to one tenant with one credential. The token is put on here alone, and only for the tenant's own origin.
 *
 * Nothing that network or service do is thrown: see `HttpResult`. A read is tried up to three times, and once more with
 * a fresh token after a 401. A write is sent exactly once, whatever comes of it; whether a 401 to it is worth another
 * attempt with a fresh token is for the caller to say.
 *
 * The body of a refusal (status 400 and above) that is no JSON is given as text of at most 4096 characters, malformed.
 *
 * @throws a fault of ours: another origin, a write in read mode, an `authorization` header. What `load` throws.
 */
export function openHttp<Mode extends "read" | "write">(options: HttpOptions<Mode>): Io<Mode> {
  const base = new URL(options.baseUrl);
  const agents = agentsFor(base, options.requestMs, options.env ?? process.env);
  const io = {
    now: options.now,
    close: agents.close,
    async fetch(request: HttpRequest): Promise<HttpResult> {
      const url = checked(request, base, options);
      const reads = isRead(request, options);
      const dispatcher = reads ? agents.read : agents.write;
      const attempt = (token: Secret) => attemptOf(request, { ...options, url, token, dispatcher });
      return reads ? read(attempt, options) : write(attempt, options);
    },
    ...(options.mode === "write" && { writes: true }),
  };
  return io as unknown as Io<Mode>;
}

type Options = HttpOptions<"read" | "write">;
type Attempt = (token: Secret) => Promise<HttpResult>;

function isRead(request: HttpRequest, options: Options): boolean {
  return (
    request.method === "GET" || (request.method === "POST" && (options.readOnlyRoutes ?? []).includes(request.route))
  );
}

function checked(request: HttpRequest, base: URL, options: Options): URL {
  const url = URL.canParse(request.url) ? new URL(request.url) : undefined;
  const name = `${request.method} ${request.route}`;
  if (url === undefined || url.origin !== base.origin || url.username !== "" || url.password !== "") {
    throw bug(`${name} would have gone to another origin than the tenant's, ${base.origin}.`);
  }
  if (Object.keys(request.headers ?? {}).some((header) => header.toLowerCase() === "authorization")) {
    throw bug(`${name} brought an authorization of its own.`);
  }
  if (options.mode === "read" && !isRead(request, options))
    throw bug(`${name} is a write, and only reads were allowed.`);
  return url;
}

async function write(attempt: Attempt, options: Options): Promise<HttpResult> {
  return attempt(await options.load());
}

async function read(attempt: Attempt, options: Options): Promise<HttpResult> {
  const token = await options.load();
  const result = await tried(attempt, options, token);
  if (!isUnauthorised(result)) return result;
  const fresh = await options.refresh().catch(() => token);
  return fresh.equals(token) ? result : tried(attempt, options, fresh);
}

function isUnauthorised(result: HttpResult): boolean {
  return result.kind === "answer" && result.status === 401;
}

async function tried(attempt: Attempt, options: Options, token: Secret): Promise<HttpResult> {
  let last: HttpResult = INTERRUPTED;
  const once = async (): Promise<HttpResult> => {
    last = await attempt(token);
    if (isPassing(last)) throw PASSING;
    return last;
  };
  try {
    return await pRetry(once, {
      retries: READ_RETRIES,
      minTimeout: options.backoffMs ?? 200,
      ...(options.signal && { signal: options.signal }),
      shouldRetry: async ({ error }) => error === PASSING && (await waited(last, options)),
    });
  } catch (error) {
    if (error === PASSING || options.signal?.aborted) return last;
    throw error;
  }
}

/** Thrown and caught within `tried` alone, to make p-retry try again. */
const PASSING = new Error("a read that may be tried again");

function isPassing(result: HttpResult): boolean {
  return result.kind !== "answer" || result.status >= 500 || (result.status === 429 && result.retryAt !== null);
}

/** Waits as long as the service asked; false where that is too long. */
async function waited(result: HttpResult, { now, signal }: Options): Promise<boolean> {
  if (result.kind !== "answer" || result.retryAt === null) return true;
  const pause = Date.parse(result.retryAt) - Date.parse(now());
  if (pause > LONGEST_PAUSE_MS) return false;
  if (pause > 0) await sleep(pause, undefined, signal && { signal });
  return true;
}
