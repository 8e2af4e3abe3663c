import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Desk } from "./desk.ts";
import { type Between, closeField, colleague, invitationsOf, invited, openField, sent, told } from "./field-between.ts";
import { accepted, approve, holds, results, rollback, run, undos } from "./path.ts";

let desk: Desk;
let between: Between;
beforeAll(async () => {
  ({ desk, between } = await openField());
});
afterEach(() => {
  between.calm();
  return desk.tenant.clearFaults();
});
afterAll(() => closeField({ desk, between }));

const whole = (yaml: string) => yaml;

const account = (email: string, op: string) => desk.tenant.act("edit/user", { email, op });

test("an invitation that reads accepted is no membership while its account is suspended, and is one again after it", async () => {
  const email = "suspended@example.test";
  const op = await accepted(desk, email);
  await account(email, "suspend");
  const before = (await sent(desk)).length;
  const { code, left } = await run(desk, op);
  expect([code, left.state, left.blocked?.code]).toEqual([6, "diverged", "accepted_without_membership"]);
  expect(results(left)).toEqual(["accepted", "conflict", "-", "-"]);
  expect(undos(left)[0]).toBe("unavailable");
  expect(left.blocked?.detail).toContain("there is no active account");
  expect(await sent(desk, before)).toEqual([]);

  await account(email, "restore");
  expect((await run(desk, op)).code).toBe(0);
  expect(await holds(desk, email)).toEqual({ role: "member", status: "active", groups: ["engineering"] });
});

test("nobody is waited for who was deleted after accepting, and there is nothing to take back", async () => {
  const email = "gone-at-once@example.test";
  const op = await accepted(desk, email);
  await account(email, "delete");
  const before = (await sent(desk)).length;
  for (let times = 0; times < 2; times++) {
    const { code, left } = await run(desk, op);
    expect([code, left.blocked?.code]).toEqual([6, "accepted_without_membership"]);
  }
  const back = await rollback(desk, op);
  expect([back.code, back.left.state, undos(back.left)]).toEqual([0, "rolled_back", ["unavailable", "n/a", "-", "-"]]);
  expect(await sent(desk, before)).toEqual([]);
});

test("an acceptance of which the tenant names no account is no membership", async () => {
  const { op } = await invited(desk, "nameless@example.test");
  await desk.tenant.accept("nameless@example.test");
  const nobody = (body: { items: object[] }) => ({
    ...body,
    items: body.items.map((one) => ({ ...one, accepted_by: null })),
  });
  between.after = (asked, answer) =>
    asked.path.startsWith("/invitations?")
      ? { ...answer, body: JSON.stringify(nobody(JSON.parse(answer.body))) }
      : answer;
  const before = (await sent(desk)).length;
  const { code, left } = await run(desk, op);
  expect([code, left.blocked?.code, results(left).slice(1)]).toEqual([
    6,
    "accepted_without_membership",
    ["conflict", "-", "-"],
  ]);
  expect(await sent(desk, before)).toEqual([]);
});

test("an account that is deleted between two runs ends the second one, which says what became of the account", async () => {
  const email = "gone-later@example.test";
  const op = await accepted(desk, email, whole);
  expect((await run(desk, op)).code).toBe(3);
  expect(await approve(desk, op)).toEqual([5]);
  await account(email, "delete");
  const before = (await sent(desk)).length;
  const { code, left } = await run(desk, op);
  expect([code, left.state, left.blocked?.step, left.blocked?.code]).toEqual([6, "diverged", 1, "changed_since"]);
  expect(left.blocked?.detail).toMatch(
    /^the invitation was accepted by usr_\d+, and a read shows deleted at the address/,
  );
  expect(await sent(desk, before)).toEqual([]);
  const seen = await desk.quick("status", op, "--refresh", "--json");
  expect(seen.code).toBe(6);

  // A deleted account may be restored with its role, so that one is not called taken back; the group is.
  const back = await rollback(desk, op);
  expect([back.code, back.left.state, undos(back.left).slice(2)]).toEqual([
    8,
    "rollback_pending",
    ["diverged", "undone", "-"],
  ]);
  expect([back.left.blocked?.step, back.left.blocked?.code]).toEqual([3, "account_deleted"]);
  const word = await desk.quick("resolve", op, "--step", "3", "--undo", "--as", "left", "--yes", "--json");
  expect(word.code, word.stdout).toBe(0);
  const over = await rollback(desk, op);
  expect([over.code, over.left.state, undos(over.left)[2]]).toEqual([0, "rolled_back", "left"]);
});

test("an invitation that a colleague withdrew while we wait has ended the operation, and nothing is left to cancel", async () => {
  const { op, id } = await invited(desk, "withdrawn@example.test");
  await colleague(desk, "DELETE", `/invitations/${id}`);
  const before = (await sent(desk)).length;
  const { code, left } = await run(desk, op);
  expect([code, left.state, results(left), undos(left)[0]]).toEqual([
    13,
    "cancelled",
    ["cancelled", "cancelled", "-", "-"],
    "unavailable",
  ]);
  expect((await rollback(desk, op)).code).toBe(0);
  expect(await sent(desk, before)).toEqual([]);
});

test("an invitation that a colleague made in place of ours is theirs, for the run and for the way back", async () => {
  const email = "made-again@example.test";
  const { op, id } = await invited(desk, email);
  await colleague(desk, "DELETE", `/invitations/${id}`);
  await colleague(desk, "POST", "/invitations", { email, role: "guest", send_email: false });
  const before = (await sent(desk)).length;
  const { code, left } = await run(desk, op);
  expect([code, left.state, left.blocked?.code]).toEqual([6, "diverged", "other_invitation"]);
  expect(left.blocked?.detail).toContain(id);
  const back = await rollback(desk, op);
  expect([back.code, back.left.state, undos(back.left)[0]]).toEqual([0, "rolled_back", "already gone"]);
  expect(await sent(desk, before)).toEqual([]);
  expect(await invitationsOf(desk, email)).toEqual(["guest cancelled", "guest pending"]);
});

test("the same where nobody ran in between: the way back cancels ours alone, and that one is gone", async () => {
  const email = "made-again-unseen@example.test";
  const { op, id } = await invited(desk, email);
  await colleague(desk, "DELETE", `/invitations/${id}`);
  await colleague(desk, "POST", "/invitations", { email, role: "guest", send_email: false });
  const back = await rollback(desk, op);
  expect([back.code, undos(back.left)[0]]).toEqual([0, "already gone"]);
  expect(await invitationsOf(desk, email)).toEqual(["guest cancelled", "guest pending"]);
});

test.each([
  ["ran out", "expire", "expired", "expired"],
  ["was declined", "decline", "cancelled", "declined"],
])(
  "an invitation that %s is not waited for, not renewed by itself and not cancelled",
  async (_how, what, state, word) => {
    const email = `${what}@example.test`;
    const { op } = await invited(desk, email);
    await desk.tenant.act(what, { email });
    const before = (await sent(desk)).length;
    for (let times = 0; times < 2; times++) {
      const { code, left } = await run(desk, op);
      expect([code, left.state, results(left), undos(left)[0]]).toEqual([
        13,
        state,
        [word, word, "-", "-"],
        "unavailable",
      ]);
    }
    const back = await rollback(desk, op);
    expect([back.code, back.left.state]).toEqual([0, "rolled_back"]);
    expect(await sent(desk, before)).toEqual([]);

    // Another one is another plan, which names the one that ended.
    const planned = await desk.quick("plan", `plans/${what}.yaml`, "--json");
    expect([planned.code, planned.json().operation_id === op]).toEqual([0, false]);
    expect(planned.stderr).toMatch(/inv_\d+/);
  },
);

test.each(["expire", "decline"])(
  "an invitation that ended by itself before anybody looked is gone already for the way back: %s",
  async (what) => {
    const email = `unseen-${what}@example.test`;
    const { op } = await invited(desk, email);
    await desk.tenant.act(what, { email });
    const before = (await sent(desk)).length;
    const { code, left } = await rollback(desk, op);
    expect([code, left.state, undos(left)[0]]).toEqual([0, "rolled_back", "already gone"]);
    expect(await sent(desk, before)).toEqual([]);
  },
);

test("an invitation that was accepted before it could be cancelled is not taken back, and its account is named", async () => {
  const { op } = await invited(desk, "quicker@example.test");
  await desk.tenant.accept("quicker@example.test");
  const { code, left } = await rollback(desk, op);
  expect([code, left.state, results(left)[0], undos(left)[0]]).toEqual([0, "rolled_back", "accepted", "unavailable"]);
  expect(left.residual_effects[0]).toMatchObject({ step: 1, kind: "account" });
  expect(await holds(desk, "quicker@example.test")).toMatchObject({ role: "guest", status: "active" });
});

test("an invitation whose cancelling and whose state cannot be known stays in doubt until it can be read", async () => {
  const email = "cancelled-in-doubt@example.test";
  const { op } = await invited(desk, email);
  between.after = (asked, answer) => {
    if (asked.method !== "DELETE") return answer;
    between.instead = () => told(404, { code: "not_found", message: "Not found." });
    return told(502, { code: "bad_gateway", message: "Bad gateway." });
  };
  const { code, left } = await rollback(desk, op);
  expect([code, left.state]).toEqual([7, "needs_reconciliation"]);
  expect(left.residual_effects).toContainEqual(expect.objectContaining({ step: 1, kind: "unknown" }));

  between.calm();
  const before = (await sent(desk)).length;
  const again = await rollback(desk, op);
  expect([again.code, again.left.state, undos(again.left)[0]]).toEqual([0, "rolled_back", "undone"]);
  expect(await sent(desk, before)).toEqual([]);
  expect(await invitationsOf(desk, email)).toEqual(["guest cancelled"]);
});

test("an invitation that ended long ago stands in nobody's way", async () => {
  const email = "terminal@example.test";
  const first = await invited(desk, email);
  await desk.tenant.act("decline", { email });
  expect((await run(desk, first.op)).code).toBe(13);
  const second = await invited(desk, email);
  expect(second.op).not.toBe(first.op);
  expect(await invitationsOf(desk, email)).toEqual(["guest declined", "guest pending"]);
  const back = await rollback(desk, second.op);
  expect([back.code, undos(back.left)[0]]).toEqual([0, "undone"]);
  expect(await invitationsOf(desk, email)).toEqual(["guest declined", "guest cancelled"]);
});

test("an invitation that is accepted into an account made by hand gives nothing that would lower it", async () => {
  const email = "by-hand@example.test";
  const { op } = await invited(desk, email);
  await colleague(desk, "POST", "/users", { email, role: "billing" });
  await desk.tenant.accept(email);
  const before = (await sent(desk)).length;
  const { code, left } = await run(desk, op);
  expect([code, left.state, results(left).slice(2)]).toEqual([6, "diverged", ["conflict", "-"]]);
  expect(await sent(desk, before)).toEqual([]);
  expect(await holds(desk, email)).toMatchObject({ role: "billing" });
});
