import { describe, expect, test } from "vitest";
import { replyOf, unreadableOf } from "../../src/model/classify.ts";
import type { HttpResult } from "../../src/model/provider.ts";

const SOON = "2026-07-24T10:00:05.000Z";

function answer(status: number, more: Partial<Extract<HttpResult, { kind: "answer" }>> = {}): HttpResult {
  return { kind: "answer", status, headers: {}, body: undefined, malformed: false, retryAt: null, ...more };
}

describe("what a write got back", () => {
  test.each([
    [200, "accepted"],
    [201, "accepted"],
    [202, "accepted"],
    [204, "accepted"],
    [301, "rejected"],
    [307, "rejected"],
    [400, "rejected"],
    [401, "denied"],
    [402, "rejected"],
    [403, "denied"],
    [404, "gone"],
    [405, "rejected"],
    [408, "lost"],
    [409, "conflict"],
    [410, "gone"],
    [412, "conflict"],
    [422, "rejected"],
    [423, "throttled"],
    [428, "conflict"],
    [429, "throttled"],
    [500, "lost"],
    [502, "lost"],
    [503, "lost"],
    [504, "lost"],
  ])("%i is %s", (status, kind) => {
    expect(replyOf(answer(status))).toMatchObject({ kind, status });
  });

  test("nothing sent and nothing heard stay apart", () => {
    expect(replyOf({ kind: "not_sent", detail: "refused" })).toEqual({ kind: "not_sent", detail: "refused" });
    expect(replyOf({ kind: "lost", detail: "cut" })).toEqual({ kind: "lost", detail: "cut" });
    expect(replyOf({ kind: "lost", detail: "cut", status: 200 })).toEqual({ kind: "lost", detail: "cut", status: 200 });
  });

  test("a 403 is throttled where it says when to come back, or that it is too much", () => {
    expect(replyOf(answer(403, { retryAt: SOON }))).toMatchObject({ kind: "throttled", retryAt: SOON });
    for (const message of [
      "You have exceeded a secondary rate limit.",
      "rateLimitExceeded",
      "Quota exceeded",
      "Too many requests",
    ])
      expect(replyOf(answer(403, { body: { message } }))).toMatchObject({ kind: "throttled", retryAt: null });
    expect(replyOf(answer(403, { body: "<h1>API rate limit exceeded</h1>", malformed: true }))).toMatchObject({
      kind: "throttled",
    });
    expect(replyOf(answer(403, { body: { code: "userRateLimitExceeded" } }))).toMatchObject({ kind: "throttled" });
    for (const message of ["Blocked by the organisation", "moderate limitations apply", ""])
      expect(replyOf(answer(403, { body: { message } }))).toMatchObject({ kind: "denied" });
    expect(replyOf(answer(404, { body: { message: "rate limit" } }))).toMatchObject({ kind: "gone" });
  });

  test("a success that was cut off or makes no sense may have happened", () => {
    const fits = (body: unknown) => body === "made";
    expect(replyOf(answer(201, { malformed: true }))).toMatchObject({ kind: "lost", status: 201 });
    expect(replyOf(answer(200, { body: { ok: false } }), { fits })).toMatchObject({ kind: "lost", status: 200 });
    expect(replyOf(answer(200, { body: "made" }), { fits })).toEqual({ kind: "accepted", status: 200 });
    expect(replyOf(answer(204), { fits })).toEqual({ kind: "accepted", status: 204 });
    expect(replyOf(answer(202, { body: {} }), { fits })).toEqual({ kind: "accepted", status: 202, asynchronous: true });
    expect(replyOf(answer(202, { malformed: true }))).toMatchObject({ kind: "lost" });
  });

  test("id and version come along, but no version of work that is still to come", () => {
    const remoteId = (body: unknown) => (body as { id: string }).id;
    const more = { body: { id: "usr_1" }, headers: { etag: '"7"' } };
    expect(replyOf(answer(201, more), { remoteId })).toEqual({
      kind: "accepted",
      status: 201,
      remoteId: "usr_1",
      version: '"7"',
    });
    expect(replyOf(answer(202, more))).not.toHaveProperty("version");
  });

  test("code and detail are bounded, and no link gets through, not even half of one", () => {
    const link = "https://example.test/redeem/c2VjcmV0";
    const told = replyOf(
      answer(409, { body: { code: link, message: `${"x".repeat(190)} ${link} ${"y".repeat(300)}` } }),
    );
    expect(told).toEqual({ kind: "conflict", status: 409, code: "http_409", detail: `${"x".repeat(190)} [link] yy` });
    expect(JSON.stringify(replyOf({ kind: "lost", detail: `read ${link}` }))).not.toContain("redeem");
    for (const body of [undefined, null, 7, { code: 7, message: {} }, { code: "a b" }])
      expect(replyOf(answer(400, { body }))).toEqual({ kind: "rejected", status: 400, code: "http_400", detail: "" });
  });

  test("a provider may say where its errors keep code and message", () => {
    const reason = (body: unknown) => (body as { error: { code: string; message: string } }).error;
    const body = { error: { code: "Request_BadRequest", message: "No." } };
    expect(replyOf(answer(400, { body }), { reason })).toMatchObject({ code: "Request_BadRequest", detail: "No." });
  });
});

describe("what a read proves", () => {
  test.each([
    [401, "unauthenticated"],
    [403, "forbidden"],
    [404, "forbidden"],
    [408, "server_error"],
    [429, "throttled"],
    [423, "throttled"],
    [500, "server_error"],
    [503, "server_error"],
    [302, "malformed"],
    [400, "malformed"],
  ])("%i is unreadable: %s", (status, reason) => {
    expect(unreadableOf(answer(status))).toMatchObject({ kind: "unreadable", reason });
  });

  test("only a sound 2xx can prove anything", () => {
    expect(unreadableOf(answer(200, { body: {} }))).toBeUndefined();
    expect(unreadableOf(answer(200, { malformed: true }))).toMatchObject({ reason: "malformed" });
    expect(unreadableOf({ kind: "lost", detail: "cut" })).toMatchObject({ reason: "timeout" });
    expect(unreadableOf({ kind: "lost", detail: "cut", status: 502 })).toMatchObject({ reason: "server_error" });
    expect(unreadableOf({ kind: "not_sent", detail: "refused" })).toMatchObject({ reason: "timeout" });
    expect(unreadableOf(answer(403, { body: { message: "secondary rate limit" } }))).toMatchObject({
      reason: "throttled",
    });
  });
});
