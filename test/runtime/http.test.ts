import { inspect } from "node:util";
import { HttpResponse, http } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { HttpRequest } from "../../src/model/provider.ts";
import type { Transport } from "../../src/model/reply.ts";
import { type HttpOptions, openHttp } from "../../src/runtime/http.ts";
import { failure, LARGEST_BODY } from "../../src/runtime/http-wire.ts";
import { Secret } from "../../src/runtime/secret.ts";

const BASE = "https://tenant.example.test/v1";
const CANARY = "canary-7Zq9-token";
const FRESH = "canary-fresh-token";
const NOW = "2026-07-24T10:00:00.000Z";

const server = setupServer();
beforeAll(() => server.listen({ onUnhandledRequest: "error" }));
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

let seen: { method: string; authorization: string | null; body: string; type: string | null }[];
let transports: Transport[];
let refreshed: number;
beforeEach(() => {
  seen = [];
  transports = [];
  refreshed = 0;
});

/** Answers one after the other; the last one stays. */
function answers(...list: (() => Response)[]): void {
  server.use(
    http.all(`${BASE}/*`, async ({ request }) => {
      const { method, headers } = request;
      seen.push({
        method,
        authorization: headers.get("authorization"),
        body: await request.text(),
        type: headers.get("content-type"),
      });
      return (list[Math.min(seen.length, list.length) - 1] as () => Response)();
    }),
  );
}
const status =
  (code: number, headers: Record<string, string> = {}) =>
  () =>
    HttpResponse.json({ code }, { status: code, headers });
const text =
  (body: string | Uint8Array<ArrayBuffer>, code = 200) =>
  () =>
    new HttpResponse(body, { status: code });

let tick = 0;
function open<Mode extends "read" | "write">(mode: Mode, more: Partial<HttpOptions<Mode>> = {}) {
  return openHttp<Mode>({
    baseUrl: BASE,
    load: async () => new Secret(CANARY),
    refresh: async () => {
      refreshed += 1;
      return new Secret(FRESH);
    },
    requestMs: 500,
    mode,
    now: () => NOW,
    monotonic: () => (tick += 5),
    fingerprintKey: new Uint8Array(32).fill(7),
    onTransport: (transport) => transports.push(transport),
    env: {},
    backoffMs: 1,
    ...more,
  });
}

const GET: HttpRequest = { method: "GET", url: `${BASE}/users/usr_1`, route: "/users/{id}" };
const PUT: HttpRequest = {
  method: "PUT",
  url: `${BASE}/users/usr_1/role`,
  route: "/users/{id}/role",
  body: { role: "member" },
};

describe("an answer", () => {
  test("comes back parsed, and the attempt is told with its facts", async () => {
    answers(() =>
      HttpResponse.json({ a: 1 }, { headers: { ETag: '"9"', "X-Request-Id": "req_1", "set-cookie": "a=b" } }),
    );
    const result = await open("read").fetch(GET);
    expect(result).toMatchObject({ kind: "answer", status: 200, body: { a: 1 }, malformed: false, retryAt: null });
    expect(result).toMatchObject({ headers: { etag: '"9"' } });
    expect(JSON.stringify(result)).not.toContain("a=b");
    expect(transports).toEqual([
      {
        status: 200,
        provider_request_id: "req_1",
        started_at: NOW,
        duration_ms: 5,
        fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
        response: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
    expect(seen).toEqual([{ method: "GET", authorization: `Bearer ${CANARY}`, body: "", type: null }]);
  });

  test("that is no JSON, no UTF-8 or too large is malformed", async () => {
    answers(
      text('{"a":'),
      text(new Uint8Array([0x22, 0xe9, 0x22])),
      text(`"${"x".repeat(LARGEST_BODY)}"`),
      text("<html>"),
    );
    const io = open("read");
    for (let i = 0; i < 4; i++)
      expect(await io.fetch(GET)).toMatchObject({ status: 200, body: undefined, malformed: true });
  });

  test("may be as large as the limit, or empty", async () => {
    answers(text(`"${"x".repeat(LARGEST_BODY - 2)}"`), () => new HttpResponse(null, { status: 204 }));
    const io = open("read");
    expect(await io.fetch(GET)).toMatchObject({ malformed: false });
    expect(await io.fetch(GET)).toMatchObject({ status: 204, body: undefined, malformed: false });
    expect(transports[1]?.response).toBeNull();
  });

  test("of refusal keeps its text where it is no JSON", async () => {
    answers(text("You have exceeded a secondary rate limit.", 403));
    expect(await open("write").fetch(PUT)).toMatchObject({
      body: expect.stringContaining("secondary"),
      malformed: true,
    });
  });

  test("that leads elsewhere is not followed", async () => {
    answers(status(302, { location: "https://elsewhere.example.test/" }));
    expect(await open("read").fetch(GET)).toMatchObject({
      status: 302,
      headers: { location: "https://elsewhere.example.test/" },
    });
    expect(seen).toHaveLength(1);
  });

  test("says when to come back", async () => {
    answers(status(429, { "retry-after": "120" }));
    expect(await open("write").fetch(PUT)).toMatchObject({ status: 429, retryAt: "2026-07-24T10:02:00.000Z" });
  });

  test.each(["request-id", "x-github-request-id", "x-slack-req-id", "x-okta-request-id"])(
    "names its request by %s",
    async (name) => {
      answers(status(200, { [name]: "abc" }));
      await open("read").fetch(GET);
      expect(transports[0]?.provider_request_id).toBe("abc");
    },
  );
});

describe("a fingerprint", () => {
  const of = async (request: HttpRequest, more: Partial<HttpOptions<"write">> = {}) => {
    answers(status(200));
    await open("write", more).fetch(request);
    return transports.at(-1)?.fingerprint;
  };

  test("is the same for the same request, whatever its key order, headers and token", async () => {
    const body = { role: "member", note: null };
    const first = await of({ ...PUT, body });
    const load = async () => new Secret("other");
    expect(
      await of({ ...PUT, body: { note: null, role: "member" }, headers: { "idempotency-key": "k" } }, { load }),
    ).toBe(first);
  });

  test("differs by method, address, query, body and key", async () => {
    const changed: HttpRequest[] = [
      PUT,
      { ...PUT, method: "PATCH" },
      { ...PUT, url: `${BASE}/users/usr_2/role` },
      { ...PUT, url: `${PUT.url}?a=1` },
      { ...PUT, route: "/other" },
      { ...PUT, body: { role: "admin" } },
    ];
    const all = [await of(PUT, { fingerprintKey: new Uint8Array(32).fill(8) })];
    for (const request of changed) all.push(await of(request));
    expect(new Set(all).size).toBe(7);
  });
});

describe("the token", () => {
  test.each([
    ["another host", { url: "https://evil.example.test/v1/users" }],
    ["another port", { url: "https://tenant.example.test:444/v1/users" }],
    ["plain http", { url: "http://tenant.example.test/v1/users" }],
    ["a user in the address", { url: "https://a:b@tenant.example.test/v1/users" }],
    ["an address without origin", { url: "/v1/users" }],
    ["an authorization of its own", { headers: { Authorization: "Bearer x" } }],
  ])("is not sent with %s, and neither is anything else", async (_what, change) => {
    answers(status(200));
    await expect(open("read").fetch({ ...GET, ...change })).rejects.toMatchObject({ code: "internal", exit: 1 });
    expect([seen.length, transports.length]).toEqual([0, 0]);
  });

  test("appears in nothing that comes back or is told, whatever goes wrong", async () => {
    const told: unknown[] = [];
    const outcomes = [
      status(200, { "x-request-id": `id-${CANARY}` }),
      status(401),
      status(403),
      status(500),
      text("{"),
      () => HttpResponse.error(),
    ];
    for (const outcome of outcomes) {
      answers(outcome);
      told.push(await open("write").fetch(PUT), await open("read").fetch(GET));
    }
    told.push(
      await open("read")
        .fetch({ ...GET, url: "https://x.test/" })
        .catch((error: unknown) => error),
    );
    told.push(
      await open("write")
        .fetch({ ...PUT, headers: { "x-bad": "a\nb" } })
        .catch((error: unknown) => error),
    );
    const shown = `${inspect({ told, transports }, { depth: 12, showHidden: true })} ${JSON.stringify({ told, transports })}`;
    expect(shown).not.toContain("canary");
    expect(transports.length).toBeGreaterThan(12);
  });
});

describe("reading", () => {
  test("never sends a write", async () => {
    answers(status(200));
    for (const method of ["POST", "PUT", "PATCH", "DELETE"] as const) {
      await expect(open("read").fetch({ ...PUT, method })).rejects.toMatchObject({ code: "internal" });
    }
    expect(seen).toHaveLength(0);
  });

  test("may ask by POST where the provider declares the route as reading", async () => {
    answers(status(503), status(200));
    const query: HttpRequest = {
      method: "POST",
      url: `${BASE}/search`,
      route: "/search",
      body: "a=1",
      headers: { "content-type": "application/x-www-form-urlencoded" },
    };
    expect(await open("read", { readOnlyRoutes: ["/search"] }).fetch(query)).toMatchObject({ status: 200 });
    expect(seen[1]).toMatchObject({ body: "a=1", type: "application/x-www-form-urlencoded" });
  });

  test("is tried up to three times, each attempt told", async () => {
    answers(status(503), () => HttpResponse.error(), status(200));
    expect(await open("read").fetch(GET)).toMatchObject({ kind: "answer", status: 200 });
    expect(transports.map((transport) => transport.status)).toEqual([503, null, 200]);
    answers(status(500));
    expect(await open("write").fetch(GET)).toMatchObject({ kind: "answer", status: 500 });
    expect(transports).toHaveLength(6);
    answers(() => HttpResponse.error());
    expect(await open("read").fetch(GET)).toMatchObject({ kind: "lost" });
    expect(transports).toHaveLength(9);
  });

  test.each([400, 403, 404, 409, 429])("is not tried again after %i", async (code) => {
    answers(status(code));
    expect(await open("read").fetch(GET)).toMatchObject({ status: code });
    expect(seen).toHaveLength(1);
  });

  test("comes back when it is told to, unless that is long", async () => {
    answers(status(429, { "retry-after": "0" }), status(200));
    expect(await open("read").fetch(GET)).toMatchObject({ status: 200 });
    seen = [];
    answers(status(503, { "retry-after": "3" }), status(200));
    expect(await open("read").fetch(GET)).toMatchObject({ status: 503 });
    expect(seen).toHaveLength(1);
  });

  test("fetches a fresh token once after a 401", async () => {
    answers(status(401), status(200));
    expect(await open("read").fetch(GET)).toMatchObject({ status: 200 });
    expect(seen.map(({ authorization }) => authorization)).toEqual([`Bearer ${CANARY}`, `Bearer ${FRESH}`]);
    answers(status(401));
    expect(await open("read").fetch(GET)).toMatchObject({ status: 401 });
    expect([seen.length, refreshed]).toEqual([4, 2]);
  });

  test("is not repeated with the token that was refused, or when no other can be had", async () => {
    answers(status(401));
    expect(await open("read", { refresh: async () => new Secret(CANARY) }).fetch(GET)).toMatchObject({ status: 401 });
    const refresh = async () => Promise.reject(new Error("no token"));
    expect(await open("read", { refresh }).fetch(GET)).toMatchObject({ status: 401 });
    expect(seen).toHaveLength(2);
  });

  test("throws what the credential says, once", async () => {
    let asked = 0;
    const load = async () => {
      asked += 1;
      throw new Error("no token");
    };
    await expect(open("read", { load }).fetch(GET)).rejects.toThrow("no token");
    expect([asked, seen.length]).toEqual([1, 0]);
  });
});

describe("a write", () => {
  test.each([
    ["500", status(500)],
    ["503 with a time", status(503, { "retry-after": "0" })],
    ["429", status(429, { "retry-after": "0" })],
    ["408", status(408)],
    ["401", status(401)],
    ["a broken body", text("{")],
    ["a network error", () => HttpResponse.error()],
  ])("is sent exactly once, also after %s", async (_what, answer) => {
    answers(answer);
    await open("write").fetch(PUT);
    expect([seen.length, transports.length]).toEqual([1, 1]);
  });

  test("is sent as JSON with its own headers", async () => {
    answers(status(200));
    await open("write").fetch({ ...PUT, headers: { "content-type": "application/scim+json" } });
    await open("write").fetch(PUT);
    expect(seen.map(({ type, body }) => [type, body])).toEqual([
      ["application/scim+json", '{"role":"member"}'],
      ["application/json", '{"role":"member"}'],
    ]);
  });

  test("that met a 401 leaves a fresh token for the next one", async () => {
    answers(status(401));
    await open("write").fetch(PUT);
    expect(refreshed).toBe(1);
    const refresh = async () => Promise.reject(new Error("no token"));
    expect(await open("write", { refresh }).fetch(PUT)).toMatchObject({ status: 401 });
  });

  test("is not sent after the signal", async () => {
    answers(status(200));
    const signal = AbortSignal.abort();
    expect(await open("write", { signal }).fetch(PUT)).toMatchObject({ kind: "not_sent" });
    expect(await open("read", { signal }).fetch(GET)).toMatchObject({ kind: "not_sent" });
    expect([seen.length, transports.length]).toEqual([0, 0]);
  });
});

describe("a failed request", () => {
  const fault = (cause: object) => failure(new TypeError("fetch failed", { cause }), null).kind;
  const coded = (code: string, syscall?: string) => Object.assign(new Error(`${code} ${CANARY}`), { code, syscall });

  test("proves that nothing was sent only where no connection stood", () => {
    const before = [
      coded("ECONNREFUSED"),
      coded("ENOTFOUND", "getaddrinfo"),
      coded("EAI_AGAIN"),
      coded("UND_ERR_CONNECT_TIMEOUT"),
    ];
    before.push(coded("ETIMEDOUT", "connect"), coded("EHOSTUNREACH", "connect"), coded("CERT_HAS_EXPIRED"));
    before.push(new AggregateError([coded("ECONNREFUSED", "connect"), coded("ENETUNREACH", "connect")]) as never);
    expect(before.map(fault)).toEqual(before.map(() => "not_sent"));
    const after = [
      coded("ECONNRESET", "read"),
      coded("EPIPE", "write"),
      coded("ETIMEDOUT", "read"),
      coded("EHOSTUNREACH", "read"),
    ];
    after.push(coded("UND_ERR_SOCKET"), coded("UND_ERR_HEADERS_TIMEOUT"), new Error("?") as never);
    after.push(new AggregateError([coded("ECONNREFUSED", "connect"), coded("ECONNRESET", "read")]) as never);
    expect(after.map(fault)).toEqual(after.map(() => "lost"));
  });

  test("never proves it once a status came", () => {
    expect(failure(coded("ECONNREFUSED", "connect"), 200)).toMatchObject({ kind: "lost", status: 200 });
  });

  test("repeats nothing of the error but its code", () => {
    expect(JSON.stringify(failure(coded("ECONNRESET"), null))).not.toContain(CANARY);
  });
});
