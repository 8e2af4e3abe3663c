import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Answer, Desk } from "./desk.ts";
import {
  altered,
  type Between,
  closeField,
  colleague,
  invitationsOf,
  openField,
  perhapsThere,
  sent,
  told,
} from "./field-between.ts";
import { accepted, approve, holds, ordinaryOnly, plan, results, rollback, run, undos } from "./path.ts";

let desk: Desk;
let between: Between;
beforeAll(async () => {
  ({ desk, between } = await openField());
  desk.edit("provision.yaml", (yaml) => yaml.replace("[example.test]", "[example.test, bücher.example]"));
});
afterEach(() => {
  between.calm();
  return desk.tenant.clearFaults();
});
afterAll(() => closeField({ desk, between }));

const whole = (yaml: string) => yaml;
const make = (email: string, role = "guest") => colleague(desk, "POST", "/users", { email, role });
const edit = (email: string, op: string, to?: string) =>
  desk.tenant.act("edit/user", to === undefined ? { email, op } : { email, op, to });

function planning(email: string, change = ordinaryOnly): Promise<Answer> {
  return desk.quick("plan", desk.request(email, change), "--json");
}

/** Role and first group done, the sensitive one approved and still to come; and the id that it is about. */
async function halfway(email: string): Promise<{ op: string; id: string }> {
  const op = await accepted(desk, email, whole);
  const { code, left } = await run(desk, op);
  expect([code, left.state]).toEqual([3, "awaiting_approval"]);
  expect(await approve(desk, op)).toEqual([5]);
  return { op, id: left.subject.remote_id ?? "" };
}

/** Who holds this id, and what they hold. */
async function ofId(id: string) {
  const { users, groups } = await desk.tenant.state();
  const user = users.find((one) => one.id === id);
  const direct = groups.filter(({ members }) => members.some((one) => one.user_id === id && one.via === "direct"));
  return { email: user?.email, role: user?.role, groups: direct.map(({ name }) => name) };
}

test("an administrator's address in another letter case is that administrator, who is invited to nothing and loses nothing", async () => {
  await make("Ada@example.test", "admin");
  for (const [change, code] of [
    [ordinaryOnly, "precondition_contradicted"],
    [perhapsThere, "account_holds_more"],
  ] as const) {
    const planned = await planning("ADA@Example.TEST", change);
    expect([planned.code, planned.json<{ error: { code: string } }>().error.code]).toEqual([6, code]);
  }
  expect(await holds(desk, "Ada@example.test")).toMatchObject({ role: "admin" });
  expect(await invitationsOf(desk, "ADA@example.test")).toEqual([]);
});

test("an account whose address the tenant writes in another case is found, and its plan is bound to its id", async () => {
  const { id } = await make("Ines@example.test", "member");
  const planned = await planning("ines@example.test", perhapsThere);
  expect(planned.code).toBe(0);
  const op = planned.json<{ operation_id: string }>().operation_id;
  await approve(desk, op);
  const { code, left } = await run(desk, op);
  expect([code, left.subject.remote_id, results(left)]).toEqual([
    0,
    id,
    ["already_member", "observed", "unchanged", "added"],
  ]);
  expect((await rollback(desk, op)).code).toBe(0);
  expect(await ofId(id)).toEqual({ email: "Ines@example.test", role: "member", groups: [] });
});

test("an address with a tag is another person than the one without it, all the way", async () => {
  const { id } = await make("pat@example.test", "billing");
  const op = await accepted(desk, "pat+ci@example.test");
  expect((await run(desk, op)).code).toBe(0);
  expect(await holds(desk, "pat+ci@example.test")).toEqual({
    role: "member",
    status: "active",
    groups: ["engineering"],
  });
  expect(await ofId(id)).toEqual({ email: "pat@example.test", role: "billing", groups: [] });
  const asked = between.asked.filter(({ path }) => path.includes("email="));
  expect(asked.filter(({ path }) => !path.includes("email=pat%2Bci%40example.test"))).toEqual([]);
});

test("one domain in letters and in its encoded form is one person, one operation and one account", async () => {
  const op = await plan(desk, "nina@bücher.example");
  const second = await planning("nina@xn--bcher-kva.example");
  expect([second.code, second.json().operation_id]).toEqual([0, op]);
  await approve(desk, op);
  expect((await run(desk, op)).code).toBe(4);
  await desk.tenant.accept("nina@xn--bcher-kva.example");
  expect((await run(desk, op)).code).toBe(0);
  const third = await planning("nina@BÜCHER.example");
  expect([third.code, third.json<{ error: { code: string } }>().error.code]).toEqual([6, "precondition_contradicted"]);
});

test.each([
  ["a letter of another alphabet", "testо@example.test", "mixed_script", "U+043E"],
  ["a sign that lower-cases to a letter", "quac\u212a@example.test", "look_alike", "U+212A"],
  ["a look-alike in the domain", "ana@exаmple.test", "mixed_script", "U+0430"],
])("an address with %s is refused by its code point, before anything is read", async (_what, email, code, point) => {
  const from = between.asked.length;
  const planned = await planning(email);
  const { details } = planned.json<{ error: { details: { code: string; message: string }[] } }>().error;
  expect([planned.code, details.find((one) => one.code === code)?.message]).toEqual([
    2,
    expect.stringContaining(point),
  ]);
  expect(between.asked.length).toBe(from);
});

test("an account that is renamed between plan and run is not gone on with, and nobody is invited in its place", async () => {
  const { id } = await make("before-run@example.test");
  const op = await plan(desk, "before-run@example.test", perhapsThere);
  await approve(desk, op);
  await edit("before-run@example.test", "rename", "married@example.test");
  const { code, left } = await run(desk, op);
  expect([code, left.state, results(left)]).toEqual([6, "diverged", ["conflict", "-", "-", "-"]]);
  expect(left.blocked?.detail).toBe("it held already when this was planned, and a read shows absent; nothing was sent");
  expect(await ofId(id)).toEqual({ email: "married@example.test", role: "guest", groups: [] });
});

test("whoever gets an address after its account was renamed inherits no plan that was made for it", async () => {
  const { id } = await make("handle@example.test");
  const op = await plan(desk, "handle@example.test", perhapsThere);
  await approve(desk, op);
  await edit("handle@example.test", "rename", "old-handle@example.test");
  const stranger = await make("handle@example.test");
  const before = (await sent(desk)).length;
  const { code, left } = await run(desk, op);
  expect([code, left.state, left.blocked?.code]).toEqual([6, "diverged", "other_account"]);
  expect([left.subject.remote_id, results(left)]).toEqual([id, ["conflict", "-", "-", "-"]]);
  expect(await sent(desk, before)).toEqual([]);
  for (const one of [id, stranger.id]) expect(await ofId(one)).toMatchObject({ role: "guest", groups: [] });
});

test("whoever accepted and was renamed before the next look is not known to be the one invited", async () => {
  const email = "accepted-renamed@example.test";
  const op = await accepted(desk, email);
  await edit(email, "rename", "someone-else@example.test");
  const { code, left } = await run(desk, op);
  expect([code, left.blocked?.code, results(left)[1]]).toEqual([6, "other_redeemer", "conflict"]);
  expect(await holds(desk, "someone-else@example.test")).toMatchObject({ role: "guest", groups: [] });
});

test("a rename between two runs ends the second with nothing sent, and the way back finds the account by its id", async () => {
  const { op, id } = await halfway("between-runs@example.test");
  await edit("between-runs@example.test", "rename", "renamed@example.test");
  const before = (await sent(desk)).length;
  const { code, left } = await run(desk, op);
  expect([code, left.state, left.blocked?.code]).toEqual([6, "diverged", "changed_since"]);
  expect(left.blocked?.detail).toContain(`accepted by ${id}, and a read shows nobody at the address`);
  expect(await sent(desk, before)).toEqual([]);
  const back = await rollback(desk, op);
  expect([back.code, back.left.state]).toEqual([0, "rolled_back"]);
  expect(await ofId(id)).toEqual({ email: "renamed@example.test", role: "guest", groups: [] });
});

test("a rename after the run hides nothing from the way back, and who has the address now loses nothing", async () => {
  const email = "after-run@example.test";
  const op = await accepted(desk, email);
  const { left } = await run(desk, op);
  const id = left.subject.remote_id ?? "";
  await edit(email, "rename", "after-run-renamed@example.test");
  const stranger = await make(email, "member");
  await desk.tenant.act("edit/group", { email, op: "add", group: "engineering" });
  const seen = await desk.quick("status", op, "--refresh", "--json");
  expect(seen.code).toBe(6);
  expect((await rollback(desk, op)).code).toBe(0);
  expect(await ofId(id)).toEqual({ email: "after-run-renamed@example.test", role: "guest", groups: [] });
  expect(await ofId(stranger.id)).toEqual({ email, role: "member", groups: ["engineering"] });
});

test("a person who is deleted and made again under the same address is another person, for run, refresh and rollback", async () => {
  const email = "made-anew@example.test";
  const { op, id } = await halfway(email);
  await edit(email, "delete");
  const anew = await make(email, "member");
  await desk.tenant.act("edit/group", { email, op: "add", group: "engineering" });
  const before = (await sent(desk)).length;
  const { code, left } = await run(desk, op);
  expect([code, left.state, left.blocked?.code]).toEqual([6, "diverged", "changed_since"]);
  expect(left.blocked?.detail).toContain(`accepted by ${id}, and a read shows ${anew.id} at the address`);
  expect(await sent(desk, before)).toEqual([]);
  expect((await desk.quick("status", op, "--refresh", "--json")).code).toBe(6);

  const back = await rollback(desk, op);
  expect([back.code, undos(back.left).slice(2)]).toEqual([8, ["diverged", "undone", "-"]]);
  expect(await ofId(id)).toEqual({ email, role: "member", groups: [] });
  expect(await ofId(anew.id)).toEqual({ email, role: "member", groups: ["engineering"] });
});

test("somebody who was deleted once is invited anew, and the old account stays as it was", async () => {
  const { id } = await make("returns@example.test", "billing");
  await edit("returns@example.test", "delete");
  const op = await accepted(desk, "returns@example.test");
  const { code, left } = await run(desk, op);
  expect([code, left.subject.remote_id === id]).toEqual([0, false]);
  expect(await ofId(left.subject.remote_id ?? "")).toMatchObject({ role: "member", groups: ["engineering"] });
  expect(await ofId(id)).toMatchObject({ role: "billing", groups: [] });
});

test("a suspended account is no absent one: nobody is invited in its place, and it is not woken up", async () => {
  await make("sleeping@example.test");
  await edit("sleeping@example.test", "suspend");
  const planned = await planning("sleeping@example.test", perhapsThere);
  expect([planned.code, planned.json<{ error: { code: string } }>().error.code]).toEqual([6, "account_suspended"]);
  expect(await holds(desk, "sleeping@example.test")).toMatchObject({ status: "suspended" });
});

const guest = (id: string, email: string) => ({
  id,
  email,
  role: "guest",
  status: "active",
  restore_until: null,
  etag: '"1"',
});

test("two accounts for one address are a stop, and not a choice", async () => {
  const email = "two@example.test";
  between.instead = ({ path }) =>
    path.startsWith("/users?email")
      ? told(200, { items: [guest("usr_8", email), guest("usr_9", email)], next: null, total: 2 })
      : undefined;
  const planned = await planning(email);
  expect([planned.code, planned.stdout.includes("More than one account holds the address")]).toEqual([12, true]);
});

test("an account whose id is answered for by another one is not written to", async () => {
  const { id } = await make("exact@example.test");
  const op = await plan(desk, "exact@example.test", perhapsThere);
  await approve(desk, op);
  between.after = (asked, answer) =>
    asked.path === `/users/${id}/role` ? altered(answer, (body: object) => ({ ...body, user_id: "usr_1003" })) : answer;
  const before = (await sent(desk)).length;
  const { code, left } = await run(desk, op);
  expect([code, left.state]).toEqual([12, "paused"]);
  expect(left.blocked?.detail).toContain(`another account than ${id}`);
  expect(await sent(desk, before)).toEqual([]);
});

test("a group that is reached through another one is still given directly, and only that is taken back", async () => {
  const email = "nested@example.test";
  const { id } = await make(email);
  await desk.tenant.act("edit/group", { email, op: "add", group: "platform" });
  const op = await plan(desk, email, perhapsThere);
  await approve(desk, op);
  const { code, left } = await run(desk, op);
  expect([code, results(left)[3]]).toEqual([0, "added"]);
  expect((await rollback(desk, op)).code).toBe(0);
  const { groups } = await desk.tenant.state();
  const ways = groups.find(({ name }) => name === "engineering")?.members.filter((one) => one.user_id === id);
  expect(ways).toEqual([{ user_id: id, via: "grp_78" }]);
});
