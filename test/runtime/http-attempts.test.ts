import { HttpResponse } from "msw";
import { describe, expect, test } from "vitest";
import type { HttpRequest } from "../../src/model/provider.ts";
import { Secret } from "../../src/runtime/secret.ts";
import { BASE, CANARY, FRESH, GET, PUT, status, tenant, text } from "./http.double.ts";

const acme = tenant();

describe("reading", () => {
  test("never sends a write", async () => {
    acme.answers(status(200));
    for (const method of ["POST", "PUT", "PATCH", "DELETE"] as const) {
      await expect(acme.open("read").fetch({ ...PUT, method })).rejects.toMatchObject({ code: "internal" });
    }
    expect(acme.seen).toHaveLength(0);
  });

  test("may ask by POST where the provider declares the route as reading", async () => {
    acme.answers(status(503), status(200));
    const query: HttpRequest = {
      method: "POST",
      url: `${BASE}/search`,
      route: "/search",
      body: "a=1",
      headers: { "content-type": "application/x-www-form-urlencoded" },
    };
    expect(await acme.open("read", { readOnlyRoutes: ["/search"] }).fetch(query)).toMatchObject({ status: 200 });
    expect(acme.seen[1]).toMatchObject({ body: "a=1", type: "application/x-www-form-urlencoded" });
  });

  test("is tried up to three times, each attempt told", async () => {
    acme.answers(status(503), () => HttpResponse.error(), status(200));
    expect(await acme.open("read").fetch(GET)).toMatchObject({ kind: "answer", status: 200 });
    expect(acme.transports.map((transport) => transport.status)).toEqual([503, null, 200]);
    acme.answers(status(500));
    expect(await acme.open("write").fetch(GET)).toMatchObject({ kind: "answer", status: 500 });
    expect(acme.transports).toHaveLength(6);
    acme.answers(() => HttpResponse.error());
    expect(await acme.open("read").fetch(GET)).toMatchObject({ kind: "lost" });
    expect(acme.transports).toHaveLength(9);
  });

  test.each([400, 403, 404, 409, 429])("is not tried again after %i", async (code) => {
    acme.answers(status(code));
    expect(await acme.open("read").fetch(GET)).toMatchObject({ status: code });
    expect(acme.seen).toHaveLength(1);
  });

  test("comes back when it is told to, unless that is long", async () => {
    acme.answers(status(429, { "retry-after": "0" }), status(200));
    expect(await acme.open("read").fetch(GET)).toMatchObject({ status: 200 });
    acme.seen = [];
    acme.answers(status(503, { "retry-after": "3" }), status(200));
    expect(await acme.open("read").fetch(GET)).toMatchObject({ status: 503 });
    expect(acme.seen).toHaveLength(1);
  });

  test("fetches a fresh token once after a 401", async () => {
    acme.answers(status(401), status(200));
    expect(await acme.open("read").fetch(GET)).toMatchObject({ status: 200 });
    expect(acme.seen.map(({ authorization }) => authorization)).toEqual([`Bearer ${CANARY}`, `Bearer ${FRESH}`]);
    acme.answers(status(401));
    expect(await acme.open("read").fetch(GET)).toMatchObject({ status: 401 });
    expect([acme.seen.length, acme.refreshed]).toEqual([4, 2]);
  });

  test("is not repeated with the token that was refused, or when no other can be had", async () => {
    acme.answers(status(401));
    expect(await acme.open("read", { refresh: async () => new Secret(CANARY) }).fetch(GET)).toMatchObject({
      status: 401,
    });
    const refresh = async () => Promise.reject(new Error("no token"));
    expect(await acme.open("read", { refresh }).fetch(GET)).toMatchObject({ status: 401 });
    expect(acme.seen).toHaveLength(2);
  });

  test("throws what the credential says, once", async () => {
    let asked = 0;
    const load = async () => {
      asked += 1;
      throw new Error("no token");
    };
    await expect(acme.open("read", { load }).fetch(GET)).rejects.toThrow("no token");
    expect([asked, acme.seen.length]).toEqual([1, 0]);
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
    acme.answers(answer);
    await acme.open("write").fetch(PUT);
    expect([acme.seen.length, acme.transports.length]).toEqual([1, 1]);
  });

  test("is sent as JSON with its own headers", async () => {
    acme.answers(status(200));
    await acme.open("write").fetch({ ...PUT, headers: { "content-type": "application/scim+json" } });
    await acme.open("write").fetch(PUT);
    expect(acme.seen.map(({ type, body }) => [type, body])).toEqual([
      ["application/scim+json", '{"role":"member"}'],
      ["application/json", '{"role":"member"}'],
    ]);
  });

  test("that met a 401 asks for no other token by itself", async () => {
    acme.answers(status(401));
    expect(await acme.open("write").fetch(PUT)).toMatchObject({ status: 401 });
    expect(acme.refreshed).toBe(0);
  });

  test("is not sent after the signal", async () => {
    acme.answers(status(200));
    const signal = AbortSignal.abort();
    expect(await acme.open("write", { signal }).fetch(PUT)).toMatchObject({ kind: "not_sent" });
    expect(await acme.open("read", { signal }).fetch(GET)).toMatchObject({ kind: "not_sent" });
    expect([acme.seen.length, acme.transports.length]).toEqual([0, 0]);
  });
});
