import { describe, expect, test } from "vitest";
import { provider } from "../../providers/sandbox/index.ts";
import { actionOf, bench, ioOf, PRIYA, steps } from "./sandbox-io.ts";

const key = "k".repeat(52);
const LENA = { id: "usr_1005" };
const accepted = { kind: "accepted", status: expect.any(Number), version: expect.stringMatching(/^"\d+"$/) };

describe("reads that prove nothing", () => {
  const add = steps.group("add_group");

  test.each([
    ["status:401", "unauthenticated"],
    ["status:403", "forbidden"],
    ["masked_403_as_404", "forbidden"],
    ["throttle:1", "throttled"],
    ["throttle_by_text", "throttled"],
    ["status:500", "server_error"],
    ["malformed_body", "malformed"],
    ["reset_mid_body", "malformed"],
    ["status:200", "malformed"],
  ])("%s is unreadable: %s, for the target and for its control", async (kind, reason) => {
    const { session, fault } = await bench();
    for (const [step, who] of [
      [add, { id: "usr_1003" }],
      [steps.role("member"), LENA],
      [steps.account("suspend_account"), LENA],
      [steps.revoke("revoke_sessions"), LENA],
      [steps.license("assign_license"), { id: "usr_1003" }],
      [steps.invite(), { email: PRIYA }],
    ] as const) {
      await fault(kind);
      const reading = await actionOf(session("read"), step.kind).observe(step, who);
      expect([step.kind, reading]).toMatchObject([
        step.kind,
        { kind: "unreadable", reason, detail: expect.any(String) },
      ]);
    }
    await fault(kind, { after: 1 });
    expect(await actionOf(session("read"), "add_group").observe(add, LENA)).toMatchObject({
      kind: "unreadable",
      reason,
    });
  });

  test("an account that the tenant does not know has no proven role, membership or licence", async () => {
    const { session } = await bench();
    for (const step of [add, steps.role("member"), steps.license("assign_license")])
      expect(await actionOf(session("read"), step.kind).observe(step, { id: "usr_9" })).toMatchObject({
        reason: "forbidden",
      });
    expect(
      await actionOf(session("read"), "suspend_account").observe(steps.account("suspend_account"), { id: "usr_9" }),
    ).toEqual({
      kind: "absent",
      proof: "exact",
    });
  });

  test("a page that was cut is no list", async () => {
    const { session, fault } = await bench();
    await fault("truncate_page", { times: 3 });
    const reads = [
      actionOf(session("read"), "revoke_sessions").observe(steps.revoke("revoke_sessions"), { id: "usr_1003" }),
      session("read").holders(["owner", "admin"]),
      session("read").listGroups(),
    ];
    for (const reading of await Promise.all(reads))
      expect(reading).toMatchObject({ kind: "unreadable", reason: "truncated" });
  });

  test("a filter that is not kept, pages that repeat, fields that nobody documented: each is told", async () => {
    const row = {
      id: "usr_1",
      email: "a@example.test",
      status: "active",
      restore_until: null,
      etag: '"1"',
      role: "guest",
    };
    const answers = (body: object) =>
      provider.open(
        { name: "t", baseUrl: "http://127.0.0.1", landing: { role: "guest", groups: [] } },
        {
          now: () => "",
          fetch: async () => ({ kind: "answer", status: 200, headers: {}, body, malformed: false, retryAt: null }),
        },
      );
    const reason = async (body: object) => {
      const reading = await answers(body).findSubject({ email: "b@example.test" });
      return reading.kind === "unreadable" ? reading.reason : reading.kind;
    };
    expect(await reason({ items: [], next: null, total: 0 })).toBe("absent");
    expect(await reason({ items: [row], next: null, total: 1 })).toBe("filter_ignored");
    expect(await reason({ items: [row, row], next: null, total: 2 })).toBe("truncated");
    expect(await reason({ items: [], total: 0 })).toBe("truncated");
    expect(await reason({ items: [], next: null, total: 1 })).toBe("truncated");
    expect(await reason({ items: [{ ...row, colour: 1 }], next: null, total: 1 })).toBe("malformed");
    expect(await reason({})).toBe("malformed");
    const twins = [row, { ...row, id: "usr_2" }].map((one) => ({ ...one, email: "b@example.test" }));
    expect(await reason({ items: twins, next: null, total: 2 })).toBe("malformed");
  });
});

describe("writes whose fate is open", () => {
  const add = steps.group("add_group");
  test.each([
    ["lost_before_commit", { kind: "lost" }],
    ["lost_after_commit", { kind: "lost" }],
    ["commit_late:1", { kind: "lost" }],
    ["reset_mid_body", { kind: "lost", status: 201 }],
    ["malformed_body", { kind: "lost", status: 201 }],
    ["status:200", { kind: "lost", status: 200 }],
    ["status:503", { kind: "lost", status: 503 }],
    ["async:1", { kind: "accepted", status: 202, asynchronous: true }],
    ["throttle:0", { kind: "throttled", status: 429, retryAt: expect.any(String) }],
    ["throttle_by_text", { kind: "throttled", status: 403, retryAt: null }],
    ["error_though_applied", { kind: "rejected", status: 400, code: "invalid_request" }],
    ["masked_403_as_404", { kind: "gone", status: 404, code: "not_found" }],
    ["status:422", { kind: "rejected", status: 422 }],
    ["success_without_effect", { kind: "accepted", status: 201 }],
  ])("%s", async (kind, reply) => {
    const { session, fault } = await bench();
    await fault(kind);
    expect(await actionOf(session("ordinary"), "add_group").send(add, LENA, { key })).toMatchObject(reply);
  });

  test("sent again under the same key, a lost write is proven and made once", async () => {
    const { session, fault, tenant } = await bench();
    const action = actionOf(session("ordinary"), "add_group");
    await fault("lost_after_commit");
    const first = await action.send(add, LENA, { key });
    const second = await action.send(add, LENA, { key });
    expect([first.kind, second]).toEqual(["lost", { ...accepted, status: 201 }]);
    expect(tenant.state().requests.map((row) => row.applied)).toEqual([true, false]);
  });

  test("a session that may only read sends nothing", async () => {
    const { tenant } = await bench();
    const { writes: _, ...readOnly } = ioOf(tenant.tokens.privileged);
    const session = provider.open({ name: "t", baseUrl: tenant.url, landing: { role: "guest", groups: [] } }, readOnly);
    await expect(actionOf(session, "add_group").send(add, LENA, { key })).rejects.toThrow("may only read");
    expect(tenant.state().requests).toEqual([]);
  });
});
