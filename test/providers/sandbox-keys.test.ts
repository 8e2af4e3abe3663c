import { describe, expect, test } from "vitest";
import { FAULT_KINDS } from "../../providers/sandbox/tenant/faults.ts";
import { ADD, bench, eventually, GUEST, isIn, PRIYA } from "./sandbox-io.ts";

describe("which requests a fault strikes", () => {
  test("only those of its action, after as many as it lets pass, as often as it says", async () => {
    const b = await bench();
    await b.fault("status:500", { action: "role.set", after: 1, times: 2 });
    expect((await b.call("ordinary", ADD)).status).toBe(201);
    const statuses = [];
    for (let turn = 0; turn < 4; turn++)
      statuses.push((await b.call("ordinary", "PUT /users/usr_1005/role", { role: "member" })).status);
    expect(statuses).toEqual([200, 500, 500, 200]);
  });

  test("an action may name its group or licence", async () => {
    const b = await bench();
    await b.fault("status:500", { action: "group.add platform" });
    await b.fault("status:501", { action: "license.assign lic_1" });
    expect((await b.call("ordinary", ADD)).status).toBe(201);
    expect((await b.call("ordinary", "PUT /groups/grp_78/members/usr_1005")).status).toBe(500);
    expect((await b.call("ordinary", "PUT /licenses/lic_1/assignments/usr_1002")).status).toBe(501);
  });

  test("faults of writes leave reads alone", async () => {
    const b = await bench();
    const ofWrites = [
      "lost_before_commit",
      "lost_after_commit",
      "commit_late:9",
      "async:9",
      "success_without_effect",
      "error_though_applied",
    ];
    for (const kind of ofWrites) await b.fault(kind);
    expect((await b.call("read", "GET /users")).status).toBe(200);
    const { body } = await b.call("control", "GET /_sandbox/faults");
    expect(body.faults).toHaveLength(ofWrites.length);
  });

  test("all that match apply to the same request", async () => {
    const b = await bench();
    await b.fault("delay:40");
    await b.fault("ignore_if_match");
    await b.fault("lost_after_commit");
    const began = performance.now();
    await expect(b.call("ordinary", ADD, undefined, { "if-match": '"1"' })).rejects.toThrow();
    expect(performance.now() - began).toBeGreaterThan(35);
    expect(isIn(b)).toBe(true);
    expect((await b.call("control", "GET /_sandbox/faults")).body.faults).toEqual([]);
  });

  test("of two answers that were ordered for one request the later wins", async () => {
    const b = await bench();
    await b.fault("throttle:1");
    await b.fault("status:502");
    expect((await b.call("ordinary", ADD)).status).toBe(502);
    expect((await b.call("ordinary", ADD)).status).toBe(201);
  });

  test("cleared, none is left, also of what was still to come", async () => {
    const b = await bench();
    await b.fault("stale_reads:5", { action: "group.add" });
    await b.fault("truncate_page", { action: "group.add" });
    await b.call("ordinary", ADD);
    await b.call("control", "DELETE /_sandbox/faults");
    expect((await b.call("read", "GET /groups/grp_77/members/usr_1005")).status).toBe(200);
    expect((await b.call("read", "GET /users")).body.items).toHaveLength(5);
  });

  test("what makes no fault is refused with what would", async () => {
    const b = await bench();
    const wrong = ["nothing", "status", "status:99", "delay:soon", "lost_after_commit:3", "delay:1:2"];
    for (const kind of wrong) expect([kind, (await b.fault(kind)).status]).toEqual([kind, 400]);
    for (const kind of FAULT_KINDS) expect((await b.fault("nothing")).body.message).toContain(kind);
    expect((await b.fault("status:500", { action: "acceptance.wait" })).body.message).toContain("role.set");
    expect((await b.fault("status:500", { times: 0 })).body.code).toBe("invalid_body");
  });
});

describe("idempotency keys", () => {
  const key = { "idempotency-key": "k1" };

  test("the same request under the same key is answered again and done once", async () => {
    const b = await bench();
    const first = await b.call("ordinary", "POST /invitations", { ...GUEST, send_email: true }, key);
    const second = await b.call("ordinary", "POST /invitations", { ...GUEST, send_email: true }, key);
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("etag")).toBe(first.headers.get("etag"));
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(b.tenant.state().invitations).toHaveLength(1);
    expect(b.tenant.state().mails).toHaveLength(1);
    expect(b.tenant.state().requests.map((row) => row.applied)).toEqual([true, false]);
  });

  test("a refusal is remembered, too", async () => {
    const b = await bench();
    const line = "PUT /licenses/lic_1/assignments/usr_1005";
    await b.call("ordinary", line, undefined, key);
    await b.call("ordinary", ADD);
    const again = await b.call("ordinary", line, undefined, key);
    expect([again.status, again.body.code, again.headers.get("idempotency-replayed")]).toEqual([
      422,
      "requires_group",
      "true",
    ]);
  });

  test("a refusal for lack of authority is not, and the privileged token may use the key", async () => {
    const b = await bench();
    const line = "PUT /groups/grp_81/members/usr_1005";
    expect((await b.call("ordinary", line, undefined, key)).status).toBe(403);
    expect((await b.call("privileged", line, undefined, key)).status).toBe(201);
  });

  test("another request under the same key is refused, also while the first is in the air", async () => {
    const b = await bench();
    await b.fault("delay:40");
    const first = b.call("ordinary", "POST /invitations", GUEST, key);
    await eventually(() => b.tenant.state().requests.length === 1);
    const other = { ...GUEST, email: "ana@example.test" };
    expect((await b.call("ordinary", "POST /invitations", other, key)).body.code).toBe("key_of_another_request");
    await first;
    const late = await b.call("ordinary", "POST /invitations", other, key);
    expect([late.status, late.body.code]).toEqual([422, "key_of_another_request"]);
    expect(b.tenant.state().invitations.map((one) => one.email)).toEqual([PRIYA]);
  });

  test("two at once under one key are done once", async () => {
    const b = await bench();
    await b.fault("delay:30", { times: 2 });
    const both = await Promise.all([b.call("ordinary", ADD, undefined, key), b.call("ordinary", ADD, undefined, key)]);
    expect(both.map((one) => one.status)).toEqual([201, 201]);
    expect(both.map((one) => one.headers.get("idempotency-replayed")).filter(Boolean)).toHaveLength(1);
    expect(b.tenant.state().requests.filter((row) => row.applied)).toHaveLength(1);
  });
});
