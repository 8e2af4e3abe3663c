import { HttpResponse, http } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll } from "vitest";
import type { HttpRequest } from "../../src/model/provider.ts";
import type { Transport } from "../../src/model/reply.ts";
import { type HttpOptions, openHttp } from "../../src/runtime/http.ts";
import { Secret } from "../../src/runtime/secret.ts";

export const BASE = "https://tenant.example.test/v1";
export const CANARY = "canary-7Zq9-token";
export const FRESH = "canary-fresh-token";
export const NOW = "2026-07-24T10:00:00.000Z";

export const GET: HttpRequest = { method: "GET", url: `${BASE}/users/usr_1`, route: "/users/{id}" };
export const PUT: HttpRequest = {
  method: "PUT",
  url: `${BASE}/users/usr_1/role`,
  route: "/users/{id}/role",
  body: { role: "member" },
};

type Answer = () => Response;
export const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  () =>
    HttpResponse.json({ code }, { status: code, headers });
export const text =
  (body: string | Uint8Array<ArrayBuffer>, code = 200): Answer =>
  () =>
    new HttpResponse(body, { status: code });

interface Seen {
  method: string;
  authorization: string | null;
  body: string;
  type: string | null;
}

/** A tenant behind an intercepted fetch: what it saw, what was told of each attempt, and what it answers. */
export function tenant() {
  const server = setupServer();
  const it = { seen: [] as Seen[], transports: [] as Transport[], refreshed: 0, answers, open };
  beforeAll(() => server.listen({ onUnhandledRequest: "error" }));
  afterEach(() => {
    server.resetHandlers();
    Object.assign(it, { seen: [], transports: [], refreshed: 0 });
  });
  afterAll(() => server.close());

  /** Answers one after the other, counted from now; the last one stays. */
  function answers(...list: Answer[]): void {
    let given = 0;
    const handler = http.all(`${BASE}/*`, async ({ request }) => {
      const { method, headers } = request;
      const [authorization, type] = [headers.get("authorization"), headers.get("content-type")];
      it.seen.push({ method, authorization, body: await request.text(), type });
      given += 1;
      return (list[Math.min(given, list.length) - 1] as Answer)();
    });
    server.use(handler);
  }

  let tick = 0;
  function open<Mode extends "read" | "write">(mode: Mode, more: Partial<HttpOptions<Mode>> = {}) {
    return openHttp<Mode>({
      baseUrl: BASE,
      load: async () => new Secret(CANARY),
      refresh: async () => {
        it.refreshed += 1;
        return new Secret(FRESH);
      },
      requestMs: 500,
      mode,
      now: () => NOW,
      monotonic: () => {
        tick += 5;
        return tick;
      },
      fingerprintKey: new Uint8Array(32).fill(7),
      onTransport: (transport) => it.transports.push(transport),
      env: {},
      backoffMs: 1,
      ...more,
    });
  }
  return it;
}
