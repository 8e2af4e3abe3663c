import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Desk } from "./desk.ts";
import {
  type Between,
  closeField,
  colleague,
  invitationsOf,
  invited,
  openField,
  overtaken,
  perhapsThere,
  sent,
  told,
} from "./field-between.ts";
import { approve, holds, plan, results, rollback, run, undos } from "./path.ts";

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

test("somebody else's open invitation with the same role is taken over, waited for, and never cancelled by us", async () => {
  const email = "invited-before@example.test";
  const op = await plan(desk, email);
  await approve(desk, op);
  const theirs = () => colleague(desk, "POST", "/invitations", { email, role: "guest", send_email: false });
  const { code, left } = await overtaken(desk, "invitation.create", () => run(desk, op), theirs);
  expect([code, left.state, results(left)[0], undos(left)[0]]).toEqual([4, "waiting", "adopted", "none"]);
  expect((await rollback(desk, op)).code).toBe(0);
  expect(await invitationsOf(desk, email)).toEqual(["guest pending"]);
});

test("somebody else's open invitation with another role is no invitation of this plan", async () => {
  const email = "invited-higher@example.test";
  const op = await plan(desk, email);
  await approve(desk, op);
  const theirs = () => colleague(desk, "POST", "/invitations", { email, role: "member", send_email: false });
  const { code, left } = await overtaken(desk, "invitation.create", () => run(desk, op), theirs);
  expect([code, left.state, results(left)[0], left.blocked?.code]).toEqual([
    6,
    "diverged",
    "conflict",
    "already_invited",
  ]);
  expect((await rollback(desk, op)).code).toBe(0);
  expect(await invitationsOf(desk, email)).toEqual(["member pending"]);
});

test("an account that somebody made while we invite contradicts a request that says there is none", async () => {
  const email = "made-meanwhile@example.test";
  const op = await plan(desk, email);
  await approve(desk, op);
  const before = (await sent(desk)).length;
  const theirs = () => colleague(desk, "POST", "/users", { email, role: "guest" });
  const { code, left } = await overtaken(desk, "invitation.create", () => run(desk, op), theirs);
  expect([code, left.state, results(left), undos(left)[0]]).toEqual([
    6,
    "diverged",
    ["conflict", "-", "-", "-"],
    "none",
  ]);
  expect(left.blocked).toMatchObject({ step: 1, code: "not_as_expected", by: "plan" });
  expect((await run(desk, op)).code).toBe(6);
  expect(await sent(desk, before)).toEqual(["invitation.create 409"]);
  expect(await holds(desk, email)).toEqual({ role: "guest", status: "active", groups: [] });
});

test("where the request leaves that open, the account is found, and only what was given to it is taken back", async () => {
  const email = "found-meanwhile@example.test";
  const op = await plan(desk, email, perhapsThere);
  await approve(desk, op);
  const theirs = () => colleague(desk, "POST", "/users", { email, role: "guest" });
  const { code, left } = await overtaken(desk, "invitation.create", () => run(desk, op), theirs);
  expect([code, results(left)]).toEqual([0, ["already_member", "observed", "changed", "added"]]);
  expect((await rollback(desk, op)).code).toBe(0);
  expect(await holds(desk, email)).toEqual({ role: "guest", status: "active", groups: [] });
});

test.each([
  ["no seat is left", 422, "no_seat", "rejected"],
  ["the person has blocked the organisation", 403, "blocked_by_user", "denied"],
])(
  "where %s the tenant's own reason is told, nothing is asked twice and the next person is invited",
  async (_what, status, code, word) => {
    const email = `${code.replaceAll("_", "-")}@example.test`;
    const op = await plan(desk, email);
    await approve(desk, op);
    between.instead = ({ method, path }) =>
      method === "POST" && path === "/invitations" ? told(status, { code, message: "Not possible." }) : undefined;
    for (let times = 0; times < 2; times++) {
      const { code: exit, left } = await run(desk, op);
      expect([exit, left.state, results(left)[0], left.blocked?.code]).toEqual([5, "partial_failure", word, code]);
    }
    expect(between.asked.filter(({ method }) => method === "POST")).toHaveLength(1);
    between.calm();
    await invited(desk, `after-${email}`);
  },
);
