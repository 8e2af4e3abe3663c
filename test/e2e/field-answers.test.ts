import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Desk, until } from "./desk.ts";
import {
  type Asked,
  type Between,
  closeField,
  invitationsOf,
  openField,
  sent,
  type Told,
  told,
} from "./field-between.ts";
import { accepted, approve, holds, plan, results, rollback, run, undos } from "./path.ts";

let desk: Desk;
let between: Between;
beforeAll(async () => {
  ({ desk, between } = await openField("request: 300ms, lease: 10s"));
});
afterEach(() => {
  between.calm();
  return desk.tenant.clearFaults();
});
afterAll(() => closeField({ desk, between }));

const DONE = { role: "member", status: "active", groups: ["engineering"] };
const BACK = { role: "guest", status: "active", groups: [] };
const setsRole = ({ method, path }: Asked) => method === "PUT" && path.endsWith("/role");

/** Every read is not found, which may hide a permission, and proves nothing. */
const MASKED: Between["instead"] = ({ method }) =>
  method === "GET" ? told(404, { code: "not_found", message: "Not found." }) : undefined;

/** Does it once, to the first request for which `when` holds. */
function once(when: (asked: Asked) => boolean, change: (answer: Told) => Told): Between["after"] {
  let done = false;
  return (asked, answer) => {
    if (done || !when(asked)) return answer;
    done = true;
    return change(answer);
  };
}

const SOUND: [string, (answer: Told) => Told][] = [
  ["says nothing at all, and not even of what type", () => ({ status: 204, headers: {}, body: "" })],
  [
    "names no type of what it says",
    ({ status, body, headers }) => ({ status, body, headers: { etag: headers.etag ?? "" } }),
  ],
];

test.each(SOUND)("a success that %s is a success, and is not sent again", async (what, change) => {
  const email = `${what.split(" ")[1]}-body@example.test`;
  const op = await accepted(desk, email);
  const before = (await sent(desk)).length;
  between.after = once(setsRole, change);
  expect((await run(desk, op)).code).toBe(0);
  expect(await sent(desk, before)).toEqual(["role.set 200 applied", "group.add 201 applied"]);
  expect(await holds(desk, email)).toEqual(DONE);
});

const UNSOUND: [string, (answer: Told) => Told][] = [
  ["says in its body that it failed", () => told(200, { ok: false, error: "not_allowed" })],
  ["is about another account", ({ body }) => told(200, body.replace(/usr_\d+/, "usr_1003"))],
  [
    "is a page for people",
    () => ({ status: 200, headers: { "content-type": "text/html" }, body: "<html>Sign in</html>" }),
  ],
  ["is empty where something is promised", () => told(200, "")],
];

test.each(UNSOUND)(
  "a success that %s is neither believed nor taken for a failure: a read decides",
  async (what, change) => {
    const name = what.split(" ").slice(-1)[0];
    const email = `applied-${name}@example.test`;
    const op = await accepted(desk, email);
    const before = (await sent(desk)).length;
    between.after = once(setsRole, change);
    const { code, left } = await run(desk, op);
    expect([code, results(left)[2], left.steps[2]?.receipt?.attribution]).toEqual([0, "changed", "proven"]);
    expect(await sent(desk, before)).toEqual(["role.set 200 applied", "group.add 201 applied"]);

    // The same answer to a request that never arrived: it is sent again, and done once.
    const other = `unapplied-${name}@example.test`;
    const second = await accepted(desk, other);
    const from = (await sent(desk)).length;
    let times = 1;
    between.calm();
    between.instead = (asked) =>
      setsRole(asked) && times-- > 0
        ? change(told(200, { user_id: "usr_1", role: "member", changed: true }))
        : undefined;
    expect((await run(desk, second)).code).toBe(0);
    expect(await sent(desk, from)).toEqual(["role.set 200 applied", "group.add 201 applied"]);
    expect(await holds(desk, other)).toEqual(DONE);
  },
);

test("a refusal whose words nobody knows is judged by what is there, both ways", async () => {
  for (const [email, applied] of [
    ["noisy@example.test", true],
    ["refused@example.test", false],
  ] as const) {
    const op = await accepted(desk, email);
    const refusal = told(400, { code: "something_new_since_june", message: "No." });
    if (applied) between.after = once(setsRole, () => refusal);
    else between.instead = (asked) => (setsRole(asked) ? refusal : undefined);
    const { code, left } = await run(desk, op);
    expect([email, code, results(left)[2]]).toEqual([email, applied ? 0 : 5, applied ? "changed" : "rejected"]);
    if (!applied) expect(left.blocked).toMatchObject({ step: 3, code: "something_new_since_june", by: "tenant" });
    between.calm();
  }
});

test("a conflict of two requests is not the end where a read shows what was wanted, and is one where it does not", async () => {
  const op = await accepted(desk, "try-again@example.test");
  between.instead = (asked) => (setsRole(asked) ? told(409, { code: "conflict", message: "Try again." }) : undefined);
  const { code, left } = await run(desk, op);
  expect([code, left.state, results(left)[2], left.blocked?.code]).toEqual([6, "diverged", "conflict", "conflict"]);
  between.calm();
  expect((await run(desk, op, "--retry-step", "3")).code).toBe(3);
  expect(await approve(desk, op)).toEqual([3]);
  expect((await run(desk, op)).code).toBe(0);
});

test("not found for a person who joined moments ago is waited out, as one step", async () => {
  const email = "just-made@example.test";
  const op = await accepted(desk, email);
  let times = 1;
  between.instead = (asked) =>
    setsRole(asked) && times-- > 0 ? told(404, { code: "user_not_found", message: "No such user." }) : undefined;
  const { code, left } = await run(desk, op);
  expect([code, results(left)[2], left.steps[2]?.transport?.attempts]).toEqual([0, "changed", 2]);
  expect(await holds(desk, email)).toEqual(DONE);
});

test("what was promised and comes later than anybody waits is in doubt, and is found by the next run", async () => {
  const email = "late@example.test";
  const op = await accepted(desk, email);
  await desk.tenant.fault("async:1700", { action: "role.set" });
  const { code, left } = await run(desk, op);
  expect([code, left.state, results(left).slice(2)]).toEqual([7, "needs_reconciliation", ["unknown", "-"]]);
  const seen = await desk.quick("status", op, "--exit-code");
  expect(seen.code).toBe(7);
  expect(seen.stdout).toMatch(/STATE needs_reconciliation\n$/);
  const before = (await sent(desk)).length;
  const late = async () => (await desk.tenant.writes("role.set")).at(-1)?.applied === true;
  await until(late, "the change arrives");
  const again = await run(desk, op);
  expect([again.code, results(again.left)[2], again.left.steps[2]?.receipt?.attribution]).toEqual([
    0,
    "changed",
    "proven",
  ]);
  expect(await sent(desk, before)).toEqual(["group.add 201 applied"]);
  expect((await rollback(desk, op)).code).toBe(0);
  expect(await holds(desk, email)).toEqual(BACK);
});

test("where nothing can be read after a write, it is in doubt for run, status and rollback, and a later run finds it", async () => {
  const email = "blind@example.test";
  const op = await accepted(desk, email);
  between.after = (asked, answer) => {
    if (setsRole(asked)) between.instead = MASKED;
    return answer;
  };
  const { code, left } = await run(desk, op);
  expect([code, left.state, results(left).slice(2)]).toEqual([7, "needs_reconciliation", ["unknown", "-"]]);
  expect(left.residual_effects).toContainEqual(expect.objectContaining({ step: 3, kind: "unknown" }));
  const before = (await sent(desk)).length;
  // Nothing is taken back over a doubt.
  const back = await rollback(desk, op);
  expect([back.code, back.left.state]).toEqual([7, "needs_reconciliation"]);
  expect(await sent(desk, before)).toEqual([]);

  between.calm();
  const over = await rollback(desk, op);
  expect([over.code, over.left.state, results(over.left)[2], undos(over.left)[2]]).toEqual([
    0,
    "rolled_back",
    "changed",
    "undone",
  ]);
  expect(await holds(desk, email)).toEqual(BACK);
});

test("a doubt that no read settles is settled by an approver's signed word, in the words of what they saw", async () => {
  const email = "signed@example.test";
  const op = await accepted(desk, email);
  between.after = (asked, answer) => {
    if (setsRole(asked)) between.instead = MASKED;
    return answer;
  };
  expect((await run(desk, op)).code).toBe(7);
  const word = await desk.quick("resolve", op, "--step", "3", "--as", "applied", "--yes", "--json");
  expect(word.code, word.stdout).toBe(0);
  between.calm();
  const { code, left } = await run(desk, op);
  expect([code, results(left).slice(2)]).toEqual([0, ["changed", "added"]]);
  expect(await holds(desk, email)).toEqual(DONE);
});

test("a change that was promised, and is not there when its time is over, is in doubt and not a failure", async () => {
  const op = await accepted(desk, "promised@example.test");
  await desk.tenant.fault("async:100", { action: "role.set" });
  await desk.tenant.fault("success_without_effect", { action: "role.set" });
  const { code, left } = await run(desk, op);
  expect([code, left.state, results(left)[2]]).toEqual([7, "needs_reconciliation", "unknown"]);
  expect(await holds(desk, "promised@example.test")).toMatchObject({ role: "guest" });
});

test("a removal that was only queued is not taken back before a read shows it", async () => {
  const email = "queued@example.test";
  const op = await accepted(desk, email);
  expect((await run(desk, op)).code).toBe(0);
  await desk.tenant.fault("async:300", { action: "group.remove" });
  const { code, left } = await rollback(desk, op);
  expect([code, left.state, undos(left).slice(2)]).toEqual([0, "rolled_back", ["undone", "undone"]]);
  expect(await holds(desk, email)).toEqual(BACK);
});

test("reads that lag behind an invitation make nobody invite twice, and never end the wait", async () => {
  const email = "lagging@example.test";
  const op = await plan(desk, email);
  await approve(desk, op);
  await desk.tenant.fault("stale_reads:3", { action: "invitation.create" });
  const { code, left } = await run(desk, op);
  expect([code, left.state, results(left).slice(0, 2)]).toEqual([4, "waiting", ["pending", "waiting"]]);
  expect(await invitationsOf(desk, email)).toEqual(["guest pending"]);
});

test("an answer that breaks off, again and again, never makes a second invitation", async () => {
  const email = "broken-off@example.test";
  const op = await plan(desk, email);
  await approve(desk, op);
  await desk.tenant.fault("reset_mid_body", { action: "invitation.create", times: 10 });
  const { code, left } = await run(desk, op);
  expect([code, left.state, undos(left)[0]]).toEqual([4, "waiting", "ready: cancel"]);
  expect(await invitationsOf(desk, email)).toEqual(["guest pending"]);
  expect((await rollback(desk, op)).code).toBe(0);
  expect(await invitationsOf(desk, email)).toEqual(["guest cancelled"]);
});
