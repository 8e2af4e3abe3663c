import { describe, expect, test } from "vitest";
import { ADD, type Bench, bench, eventually, isIn } from "./sandbox-io.ts";

const rest = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** The line that the record has for the last write. */
function lastWrite({ tenant }: Bench) {
  const { status, applied, action } = tenant.state().requests.findLast((row) => row.action !== null) ?? {};
  return { status, applied, action };
}

describe("answers that are lost", () => {
  test("lost_before_commit: no answer, nothing done, and the key is free again", async () => {
    const b = await bench();
    await b.fault("lost_before_commit");
    await expect(b.call("ordinary", ADD, undefined, { "idempotency-key": "k" })).rejects.toThrow();
    expect(isIn(b)).toBe(false);
    expect(lastWrite(b)).toEqual({ status: null, applied: false, action: "group.add" });
    const again = await b.call("ordinary", ADD, undefined, { "idempotency-key": "k" });
    expect([again.status, again.headers.get("idempotency-replayed"), isIn(b)]).toEqual([201, null, true]);
  });

  test("lost_after_commit: no answer, but done, and the key gives the answer that was meant", async () => {
    const b = await bench();
    await b.fault("lost_after_commit");
    await expect(b.call("ordinary", ADD, undefined, { "idempotency-key": "k" })).rejects.toThrow();
    expect(isIn(b)).toBe(true);
    expect(lastWrite(b)).toEqual({ status: 201, applied: true, action: "group.add" });
    const again = await b.call("ordinary", ADD, undefined, { "idempotency-key": "k" });
    expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([201, "true"]);
    expect(lastWrite(b)).toMatchObject({ applied: false });
  });

  test("commit_late: no answer, done later, and whoever resends with the key waits for it and does nothing twice", async () => {
    const b = await bench();
    await b.fault("commit_late:40");
    await expect(b.call("ordinary", ADD, undefined, { "idempotency-key": "k" })).rejects.toThrow();
    expect(isIn(b)).toBe(false);
    expect(lastWrite(b)).toMatchObject({ status: null, applied: false });
    const again = await b.call("ordinary", ADD, undefined, { "idempotency-key": "k" });
    expect([again.status, again.headers.get("idempotency-replayed"), isIn(b)]).toEqual([201, "true", true]);
    expect(b.tenant.state().requests.map((row) => [row.status, row.applied])).toEqual([
      [201, true],
      [201, false],
    ]);
  });

  test("commit_late does not commit into a tenant that was reset meanwhile", async () => {
    const b = await bench();
    await b.fault("commit_late:30");
    await expect(b.call("ordinary", ADD)).rejects.toThrow();
    await b.call("control", "POST /_sandbox/reset");
    await rest(50);
    expect(isIn(b)).toBe(false);
  });

  test("reset_mid_body: the head of the answer comes, half of the body, and then nothing", async () => {
    const b = await bench();
    await b.fault("reset_mid_body");
    const response = await fetch(`${b.tenant.url}/groups/grp_77/members/usr_1005`, {
      method: "PUT",
      headers: { authorization: `Bearer ${b.tenant.tokens.ordinary}` },
    });
    expect(response.status).toBe(201);
    await expect(response.text()).rejects.toThrow();
    expect(isIn(b)).toBe(true);
  });

  test("malformed_body: the answer comes whole and is no JSON", async () => {
    const b = await bench();
    await b.fault("malformed_body");
    await expect(b.call("ordinary", ADD)).rejects.toThrow(SyntaxError);
    expect(isIn(b)).toBe(true);
    await b.fault("malformed_body");
    await expect(b.call("read", "GET /users")).rejects.toThrow(SyntaxError);
  });
});

describe("answers that mislead", () => {
  test("async: 202, refused at once where it must fail, else applied later", async () => {
    const b = await bench();
    await b.fault("async:40", { times: 2 });
    expect((await b.call("ordinary", "PUT /groups/grp_81/members/usr_1005")).status).toBe(403);
    const sent = await b.call("ordinary", ADD, undefined, { "idempotency-key": "k" });
    expect([sent.status, isIn(b), lastWrite(b).applied]).toEqual([202, false, false]);
    await eventually(() => isIn(b));
    expect(lastWrite(b)).toMatchObject({ status: 202, applied: true });
    expect((await b.call("ordinary", ADD, undefined, { "idempotency-key": "k" })).status).toBe(202);
  });

  test("success_without_effect: a success with a version, and nothing is there", async () => {
    const b = await bench();
    await b.fault("success_without_effect");
    const sent = await b.call("ordinary", ADD);
    expect([sent.status, isIn(b), lastWrite(b).applied]).toEqual([201, false, false]);
    const real = await b.call("ordinary", ADD);
    expect(real.headers.get("etag")).not.toBe(sent.headers.get("etag"));
  });

  test("error_though_applied: an error, and it was done", async () => {
    const b = await bench();
    await b.fault("error_though_applied");
    expect((await b.call("ordinary", ADD)).body.code).toBe("invalid_request");
    expect([isIn(b), lastWrite(b)]).toEqual([true, { status: 400, applied: true, action: "group.add" }]);
  });

  test("masked_403_as_404: not found, though it is there", async () => {
    const b = await bench();
    await b.fault("masked_403_as_404", { times: 2 });
    const read = await b.call("read", "GET /groups/grp_77/members/usr_1003");
    expect([read.status, read.body.code]).toEqual([404, "not_found"]);
    expect((await b.call("ordinary", ADD)).status).toBe(404);
    expect(isIn(b)).toBe(false);
    expect((await b.call("read", "GET /groups/grp_77/members/usr_1003")).status).toBe(200);
  });

  test("ignore_if_match: the guard is not looked at, and a request without one does not use the fault up", async () => {
    const b = await bench();
    await b.fault("ignore_if_match");
    await b.call("ordinary", ADD);
    const stale = await b.call("ordinary", "DELETE /groups/grp_77/members/usr_1005", undefined, { "if-match": '"1"' });
    expect([stale.status, isIn(b)]).toEqual([200, false]);
    expect(b.tenant.state().requests.at(-1)?.if_match).toBe('"1"');
    await b.call("ordinary", ADD);
    const again = await b.call("ordinary", "DELETE /groups/grp_77/members/usr_1005", undefined, { "if-match": '"1"' });
    expect([again.status, isIn(b)]).toEqual([412, true]);
  });
});

describe("refusals and delays", () => {
  test("status: the answer that was ordered, nothing done, nothing kept under the key", async () => {
    const b = await bench();
    await b.fault("status:503");
    expect((await b.call("ordinary", ADD, undefined, { "idempotency-key": "k" })).status).toBe(503);
    expect([isIn(b), lastWrite(b).status]).toEqual([false, 503]);
    expect((await b.call("ordinary", ADD, undefined, { "idempotency-key": "k" })).status).toBe(201);
  });

  test("throttle says when to come back, throttle_by_text only that it is too much", async () => {
    const b = await bench();
    await b.fault("throttle:7");
    const first = await b.call("read", "GET /users");
    expect([first.status, first.headers.get("retry-after")]).toEqual([429, "7"]);
    await b.fault("throttle_by_text");
    const second = await b.call("ordinary", ADD);
    expect([second.status, second.headers.get("retry-after")]).toEqual([403, null]);
    expect(second.body.message).toMatch(/rate limit/);
    expect(isIn(b)).toBe(false);
  });

  test("delay: the request waits ahead of its work, reads too", async () => {
    const b = await bench();
    await b.fault("delay:40", { times: 2 });
    for (const line of ["GET /users", ADD]) {
      const began = performance.now();
      await b.call("ordinary", line);
      expect(performance.now() - began).toBeGreaterThan(35);
    }
  });
});

describe("reads that mislead", () => {
  test("stale_reads: so many reads see the state ahead of the last change, and the audit log is none of them", async () => {
    const b = await bench();
    await b.call("ordinary", ADD);
    await b.fault("stale_reads:2");
    expect((await b.call("read", "GET /audit")).body.total).toBe(1);
    const statuses = [];
    for (let read = 0; read < 3; read++)
      statuses.push((await b.call("read", "GET /groups/grp_77/members/usr_1005")).status);
    expect(statuses).toEqual([404, 404, 200]);
  });

  test("stale_reads on an action: the reads after such a write see the state ahead of it", async () => {
    const b = await bench();
    await b.fault("stale_reads:2", { action: "group.add" });
    expect((await b.call("read", "GET /groups/grp_77/members/usr_1005")).status).toBe(404);
    await b.call("ordinary", ADD);
    await b.call("ordinary", "PUT /users/usr_1005/role", { role: "member" });
    const statuses = [];
    for (let read = 0; read < 3; read++)
      statuses.push((await b.call("read", "GET /groups/grp_77/members/usr_1005")).status);
    expect(statuses).toEqual([404, 404, 200]);
  });

  test("truncate_page: half of the next page that has items, without a word of a next one", async () => {
    const b = await bench();
    await b.fault("truncate_page");
    expect((await b.call("read", "GET /invitations")).body).toMatchObject({ items: [], total: 0 });
    const { body } = await b.call("read", "GET /users");
    expect([body.items.length, body.next, body.total]).toEqual([2, null, 5]);
    expect((await b.call("read", "GET /users")).body.items).toHaveLength(5);
    await b.fault("truncate_page", { action: "group.add" });
    expect((await b.call("read", "GET /users")).body.items).toHaveLength(5);
    await b.call("ordinary", ADD);
    expect((await b.call("read", "GET /users")).body.items).toHaveLength(2);
  });
});
