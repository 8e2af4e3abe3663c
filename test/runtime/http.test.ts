import { inspect } from "node:util";
import { HttpResponse } from "msw";
import { describe, expect, test } from "vitest";
import type { HttpRequest } from "../../src/model/provider.ts";
import type { HttpOptions } from "../../src/runtime/http.ts";
import { failure, LARGEST_BODY } from "../../src/runtime/http-wire.ts";
import { Secret } from "../../src/runtime/secret.ts";
import { BASE, CANARY, GET, NOW, PUT, status, tenant, text } from "./http.double.ts";

const acme = tenant();

describe("an answer", () => {
  test("comes back parsed, and the attempt is told with its facts", async () => {
    acme.answers(() =>
      HttpResponse.json({ a: 1 }, { headers: { ETag: '"9"', "X-Request-Id": "req_1", "set-cookie": "a=b" } }),
    );
    const result = await acme.open("read").fetch(GET);
    expect(result).toMatchObject({ kind: "answer", status: 200, body: { a: 1 }, malformed: false, retryAt: null });
    expect(result).toMatchObject({ headers: { etag: '"9"' } });
    expect(JSON.stringify(result)).not.toContain("a=b");
    expect(acme.transports).toEqual([
      {
        status: 200,
        provider_request_id: "req_1",
        started_at: NOW,
        duration_ms: 5,
        fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
        response: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
    expect(acme.seen).toEqual([{ method: "GET", authorization: `Bearer ${CANARY}`, body: "", type: null }]);
  });

  test("that is no JSON, no UTF-8 or too large is malformed", async () => {
    acme.answers(
      text('{"a":'),
      text(new Uint8Array([0x22, 0xe9, 0x22])),
      text(`"${"x".repeat(LARGEST_BODY)}"`),
      text("<html>"),
    );
    const io = acme.open("read");
    for (let i = 0; i < 4; i++)
      expect(await io.fetch(GET)).toMatchObject({ status: 200, body: undefined, malformed: true });
  });

  test("may be as large as the limit, or empty", async () => {
    acme.answers(text(`"${"x".repeat(LARGEST_BODY - 2)}"`), () => new HttpResponse(null, { status: 204 }));
    const io = acme.open("read");
    expect(await io.fetch(GET)).toMatchObject({ malformed: false });
    expect(await io.fetch(GET)).toMatchObject({ status: 204, body: undefined, malformed: false });
    expect(acme.transports[1]?.response).toBeNull();
  });

  test("of refusal keeps its text where it is no JSON", async () => {
    acme.answers(text("You have exceeded a secondary rate limit.", 403));
    expect(await acme.open("write").fetch(PUT)).toMatchObject({
      body: expect.stringContaining("secondary"),
      malformed: true,
    });
  });

  test("that leads elsewhere is not followed", async () => {
    acme.answers(status(302, { location: "https://elsewhere.example.test/" }));
    expect(await acme.open("read").fetch(GET)).toMatchObject({
      status: 302,
      headers: { location: "https://elsewhere.example.test/" },
    });
    expect(acme.seen).toHaveLength(1);
  });

  test("says when to come back", async () => {
    acme.answers(status(429, { "retry-after": "120" }));
    expect(await acme.open("write").fetch(PUT)).toMatchObject({ status: 429, retryAt: "2026-07-24T10:02:00.000Z" });
  });

  test.each(["request-id", "x-github-request-id", "x-slack-req-id", "x-okta-request-id"])(
    "names its request by %s",
    async (name) => {
      acme.answers(status(200, { [name]: "abc" }));
      await acme.open("read").fetch(GET);
      expect(acme.transports[0]?.provider_request_id).toBe("abc");
    },
  );
});

describe("a fingerprint", () => {
  const of = async (request: HttpRequest, more: Partial<HttpOptions<"write">> = {}) => {
    acme.answers(status(200));
    await acme.open("write", more).fetch(request);
    return acme.transports.at(-1)?.fingerprint;
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
    acme.answers(status(200));
    await expect(acme.open("read").fetch({ ...GET, ...change })).rejects.toMatchObject({ code: "internal", exit: 1 });
    expect([acme.seen.length, acme.transports.length]).toEqual([0, 0]);
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
      acme.answers(outcome);
      told.push(await acme.open("write").fetch(PUT), await acme.open("read").fetch(GET));
    }
    told.push(
      await acme
        .open("read")
        .fetch({ ...GET, url: "https://x.test/" })
        .catch((error: unknown) => error),
    );
    told.push(
      await acme
        .open("write")
        .fetch({ ...PUT, headers: { "x-bad": "a\nb" } })
        .catch((error: unknown) => error),
    );
    const shown = `${inspect({ told, transports: acme.transports }, { depth: 12, showHidden: true })} ${JSON.stringify({ told, transports: acme.transports })}`;
    expect(shown).not.toContain("canary");
    expect(acme.transports.length).toBeGreaterThan(12);
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
