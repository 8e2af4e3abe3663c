import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer } from "node:http";
import { control } from "./control.ts";
import type { Delivery, Floor, Incoming } from "./exchange.ts";
import { exchange } from "./exchange.ts";
import type { Answer } from "./outcome.ts";
import { problem } from "./outcome.ts";
import type { RequestRow } from "./views.ts";
import type { TokenClass } from "./world.ts";

const MAX_BODY = 1024 * 1024;

export interface Tokens extends Record<TokenClass, string> {
  control: string;
}

/** The HTTP side of one tenant: parses requests, puts answers on the wire, and spoils them where a fault says so. */
export function serve(floor: Floor & { reset(): void }, tokens: Tokens): Server {
  return createServer((message, response) => {
    answerTo(floor, tokens, message, response).catch((error: unknown) => {
      // A fault of the tenant's own code must not look like an answer of a SaaS.
      response.destroy(error instanceof Error ? error : undefined);
    });
  });
}

async function answerTo(
  floor: Floor & { reset(): void },
  tokens: Tokens,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const requestId = floor.store.requestId();
  const path = message.url ?? "/";
  const url = new URL(path, "http://127.0.0.1");
  const bearer = /^Bearer (\S+)$/i.exec(message.headers.authorization ?? "")?.[1];
  if (url.pathname.startsWith("/_sandbox/")) {
    const body = await bodyOf(message);
    const given =
      bearer !== tokens.control
        ? problem(401, "unknown_token", "This is not the control token of this sandbox.")
        : control(floor, message.method ?? "", url.pathname, body.value);
    return deliver(response, { answer: given, body: "whole" }, requestId);
  }
  const token = (["read", "ordinary", "privileged"] as const).find((one) => tokens[one] === bearer) ?? null;
  const row = lineOf(floor, message, path, token, requestId);
  floor.store.tick();
  floor.store.log(row);
  const body = await bodyOf(message);
  const request: Incoming = {
    method: message.method ?? "",
    pathname: url.pathname,
    query: url.searchParams,
    body: body.value,
    garbled: body.garbled,
    token,
    key: header(message, "idempotency-key"),
    ifMatch: header(message, "if-match"),
    ifNoneMatch: header(message, "if-none-match"),
  };
  const delivery = await exchange(floor, request, row);
  floor.store.touched();
  deliver(response, delivery, requestId);
}

function lineOf(
  floor: Floor,
  message: IncomingMessage,
  path: string,
  token: TokenClass | null,
  requestId: string,
): RequestRow {
  return {
    seq: floor.store.requests().length + 1,
    at: new Date().toISOString(),
    method: message.method ?? "",
    path,
    action: null,
    token,
    idempotency_key: header(message, "idempotency-key"),
    if_match: header(message, "if-match"),
    status: null,
    applied: false,
    request_id: requestId,
  };
}

function header(message: IncomingMessage, name: string): string | null {
  const value = message.headers[name];
  return typeof value === "string" ? value : null;
}

async function bodyOf(message: IncomingMessage): Promise<{ value: unknown; garbled: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MAX_BODY) chunks.push(chunk);
  }
  if (size === 0) return { value: undefined, garbled: false };
  try {
    if (size > MAX_BODY) throw new RangeError("too long");
    return { value: JSON.parse(Buffer.concat(chunks).toString("utf8")), garbled: false };
  } catch {
    return { value: undefined, garbled: true };
  }
}

function deliver(response: ServerResponse, delivery: Delivery, requestId: string): void {
  if (delivery === "cut_off") {
    response.destroy();
    return;
  }
  const { status, headers } = delivery.answer;
  const text = textOf(delivery.answer);
  const sent = delivery.body === "garbled" ? text.slice(0, Math.max(1, Math.floor(text.length / 2))) : text;
  const bytes = Buffer.from(sent, "utf8");
  response.writeHead(status, {
    "content-type": "application/json",
    ...(bytes.length > 0 ? { "content-length": bytes.length } : {}),
    "x-request-id": requestId,
    ...headers,
  });
  if (delivery.body !== "cut") {
    response.end(bytes);
    return;
  }
  response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => response.destroy());
}

/** 204 and 304 have no body (RFC 9110, sections 15.3.5 and 15.4.5). */
function textOf(given: Answer): string {
  return given.status === 204 || given.status === 304 ? "" : JSON.stringify(given.body);
}
