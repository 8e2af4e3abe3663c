import { hostname } from "node:os";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Desk, endDesk, type Operation, openDesk } from "./desk.ts";
import { accepted, approve, holds, plan, results, rollback, run } from "./path.ts";
import { anotherExecutor, ELSEWHERE, heldElsewhere, inTheAir, startChild, stoppedAt } from "./signals.child.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});
afterEach(() => desk.tenant.clearFaults());
afterAll(() => endDesk(desk));

/** A lease that nobody sees run out, and requests that a busy machine has time for. */
const LONG = "timing: { request: 5s, settle: 300ms, lease: 20s }";
/** A lease that a test can wait out. */
const SHORT = "timing: { request: 600ms, settle: 300ms, lease: 1200ms }";

function timing(timing: string): void {
  desk.edit("provision.yaml", (yaml) =>
    yaml.replace(/provider: sandbox(\n {4}timing: .*)?/, `provider: sandbox\n    ${timing}`),
  );
}

async function sent(): Promise<string[]> {
  const rows = await desk.tenant.writes();
  return rows.map(({ action, path, applied }) => `${action} ${path}${applied ? " applied" : ""}`);
}

/** What the tenant was sent while `work` was done, and which of it took effect. */
async function during(work: () => Promise<unknown>): Promise<string[]> {
  const before = (await desk.tenant.writes()).length;
  await work();
  return (await desk.tenant.writes())
    .slice(before)
    .filter(({ applied }) => applied)
    .map(({ action }) => action ?? "");
}

describe("two processes", () => {
  beforeAll(() => timing(LONG));

  test("on one operation: the second is told who, where, since when and until when, in words and in JSON", async () => {
    const op = await accepted(desk, "one@example.test");
    const first = await inTheAir(desk, ["run", op, "--json"], "role.set", 700);
    const words = await desk.quick("run", op);
    expect(words.code).toBe(10);
    for (const part of [`process ${first.pid}`, `on ${hostname()}`, "since 20", "comes free when that process ends"])
      expect(words.stderr).toContain(part);
    const json = await desk.quick("run", op, "--json");
    expect(json.code).toBe(10);
    const said = json.json<Operation>();
    expect([said.state, said.in_flight?.holder?.pid]).toEqual(["running", first.pid]);
    expect(said.error).toMatchObject({ code: "held", message: expect.stringContaining(`process ${first.pid}`) });
    expect(await first.ended).toMatchObject({ code: 0 });
  });

  test("started at the same moment, each change is made once, and whoever lost says so", async () => {
    const op = await accepted(desk, "race@example.test");
    const applied = await during(async () => {
      const children = Array.from({ length: 3 }, () => startChild(desk, ["run", op, "--json"]));
      const ends = await Promise.all(children.map(({ ended }) => ended));
      const codes = ends.map(({ code }) => code ?? -1);
      expect(codes).toContain(0);
      for (const [at, code] of codes.entries())
        if (code !== 0) expect([code, children[at]?.json<Operation>().error?.code]).toEqual([10, "held"]);
    });
    expect(applied).toEqual(["role.set", "group.add"]);
  });

  test("on two operations for one person, whose address is written in another case: one at a time", async () => {
    const first = await accepted(desk, "many@example.test");
    expect((await run(desk, first)).code).toBe(0);
    const second = await plan(desk, "Many@Example.test", (yaml) =>
      yaml.replace("account_absent: true", "account_absent: false").replace("[engineering, ", "["),
    );
    const child = await inTheAir(desk, ["rollback", first, "--json"], "group.remove", 700);
    const { code, left } = await run(desk, second);
    expect([code, left.error?.code]).toEqual([10, "held"]);
    expect(left.error?.message).toContain(`${first} is held: process ${child.pid}`);
    expect(await child.ended).toMatchObject({ code: 0 });
    // It was planned on the role that the rollback has taken back meanwhile.
    expect((await run(desk, second)).left.state).toBe("diverged");
  });

  test("on two operations that turn out to be about one account: the one that learns it last ends before its write", async () => {
    const op = await accepted(desk, "same@example.test");
    const other = await plan(desk, "other@example.test");
    const id = (await desk.tenant.state()).users.find(({ email }) => email === "same@example.test")?.id as string;
    const journal = anotherExecutor(desk);
    const lease = await heldElsewhere(journal, other, { id }, { host: "host-b", boot_id: "0f0c" });
    const pulse = setInterval(() => lease.beat(), 100);
    const before = await sent();
    for (let times = 0; times < 2; times++) {
      const { code, left } = await run(desk, op);
      expect([code, left.error?.code]).toEqual([10, "held"]);
      expect(left.error?.message).toContain(`${other} is held: process ${process.pid} of`);
    }
    expect(await sent()).toEqual(before);
    clearInterval(pulse);
    lease.release();
    journal.close();
    expect((await run(desk, op)).code).toBe(0);
  });

  test("a run and a rollback of one operation: whichever holds it goes on alone", async () => {
    const op = await accepted(desk, "both@example.test");
    const forward = await inTheAir(desk, ["run", op, "--json"], "role.set", 500);
    const refused = await rollback(desk, op);
    expect([refused.code, refused.left.error?.code]).toEqual([10, "held"]);
    expect(await forward.ended).toMatchObject({ code: 0 });
    const back = await inTheAir(desk, ["rollback", op, "--json"], "group.remove", 500);
    const ran = await run(desk, op);
    expect([ran.code, ran.left.state, ran.left.in_flight?.holder?.pid]).toEqual([10, "running", back.pid]);
    expect(await back.ended).toMatchObject({ code: 0 });
    expect(await holds(desk, "both@example.test")).toEqual({ role: "guest", status: "active", groups: [] });
  });

  test("two new tries of one step at the same moment: it is opened once, and asked for again", async () => {
    const op = await accepted(desk, "retried@example.test", (yaml) => yaml);
    expect((await run(desk, op)).code).toBe(3);
    await approve(desk, op);
    expect((await run(desk, op)).code).toBe(5);
    const children = [1, 2].map(() => startChild(desk, ["run", op, "--retry-step", "5", "--json"]));
    const codes = (await Promise.all(children.map(({ ended }) => ended))).map(({ code }) => code);
    expect(codes).toContain(3);
    for (const code of codes) expect([3, 10, 13]).toContain(code);
    const journal = anotherExecutor(desk);
    const opened = journal.read(op).filter(({ kind }) => kind === "step.retried");
    journal.close();
    expect(opened).toHaveLength(1);
  });
});

describe("a holder that is", () => {
  test.each(ELSEWHERE)(
    "%s keeps the operation as long as it shows signs of life, and loses it after",
    async (place, who) => {
      timing(SHORT);
      const email = `${place.replaceAll(" ", "-")}@example.test`;
      const op = await accepted(desk, email);
      const journal = anotherExecutor(desk);
      const lease = await heldElsewhere(journal, op, { email }, who);
      const pulse = setInterval(() => lease.beat(), 100);
      const { code, left } = await run(desk, op);
      clearInterval(pulse);
      expect([code, left.error?.code]).toEqual([10, "held"]);
      expect(left.error?.message).toContain("has shown no sign of life for 1.2 s");
      if (who.host) expect(left.error?.message).toContain(`process ${who.pid} of ${who.user} on ${who.host}`);
      expect(lease.stillMine()).toBe(true);
      const began = performance.now();
      expect((await run(desk, op)).code).toBe(0);
      expect(performance.now() - began).toBeGreaterThanOrEqual(1_200);
      expect([lease.stillMine(), lease.beat()]).toEqual([false, false]);
      journal.close();
    },
  );

  test("dead, of this boot, is replaced at once", async () => {
    timing(LONG);
    const email = "dead@example.test";
    const op = await accepted(desk, email);
    const journal = anotherExecutor(desk);
    const lease = await heldElsewhere(journal, op, { email }, { start_time: "1" });
    const began = performance.now();
    expect((await run(desk, op)).code).toBe(0);
    expect(performance.now() - began).toBeLessThan(15_000);
    expect(lease.stillMine()).toBe(false);
    journal.close();
  });
});

describe("a holder that was stopped longer than its lease, and wakes when another one has done its work,", () => {
  beforeAll(() => timing(SHORT));

  test.each([
    ["before it announced its write", "request:answered GET /me"],
    ["after it announced its write", "append:after .*step.requested"],
    ["at the socket", "request:before PUT /users"],
    ["with its write at the tenant", "request:sent PUT /users"],
    ["with the answer in its hands", "request:answered PUT /users"],
    ["after it recorded the answer", "append:after step.transport"],
  ])("%s: it sends nothing more, and ends with 10", async (where, boundary) => {
    const email = `${where.replaceAll(" ", "-")}@example.test`;
    const op = await accepted(desk, email);
    const applied = await during(async () => {
      const first = await stoppedAt(desk, ["run", op, "--json"], boundary);
      const second = await run(desk, op);
      expect([second.code, second.left.state], JSON.stringify(second.left)).toEqual([0, "completed"]);
      const before = await sent();
      first.kill("SIGCONT");
      expect(await first.ended).toEqual({ code: 10, signal: null });
      expect(first.json<Operation>().error).toMatchObject({ code: "lease_lost" });
      expect(await sent()).toEqual(before);
    });
    expect(applied).toEqual(["role.set", "group.add"]);
    expect((await rollback(desk, op)).code).toBe(0);
  });
});

describe("what is decided while a run is under way is seen before its next write:", () => {
  beforeAll(() => timing(LONG));

  test("an approval of the step that comes next", async () => {
    const op = await decidedInPart("approved");
    const child = await inTheAir(desk, ["run", op, "--json"], "role.set", 700);
    expect(await approve(desk, op)).toEqual([4]);
    expect(await child.ended).toMatchObject({ code: 0 });
    expect(results(child.json<Operation>()).slice(2)).toEqual(["changed", "added"]);
  });

  test("a denial of it", async () => {
    const op = await decidedInPart("denied");
    const child = await inTheAir(desk, ["run", op, "--json"], "role.set", 700);
    const denied = await desk.quick("deny", op, "--reason", "wrong team", "--json");
    expect([denied.code, denied.json().decided]).toEqual([0, [4]]);
    expect(await child.ended).toMatchObject({ code: 13 });
    expect(results(child.json<Operation>()).slice(2)).toEqual(["changed", "-"]);
    expect((await holds(desk, "denied@example.test"))?.groups).toEqual([]);
  });

  test("a stop: the step in the air is settled, and the next one is not sent", async () => {
    const op = await accepted(desk, "halted@example.test");
    const child = await inTheAir(desk, ["run", op, "--json"], "role.set", 700);
    expect((await desk.quick("stop", op, "--reason", "wrong person")).code).toBe(0);
    expect(await child.ended).toMatchObject({ code: 13 });
    const left = child.json<Operation>();
    expect([left.state, ...results(left).slice(2)]).toEqual(["stopped", "changed", "-"]);
    expect(await holds(desk, "halted@example.test")).toEqual({ role: "member", status: "active", groups: [] });
  });

  /** Accepted, with the role decided and the group not. */
  async function decidedInPart(name: string): Promise<string> {
    const planned = await desk.quick(
      "plan",
      desk.request(`${name}@example.test`, (yaml) => yaml.replace(", on-call-readers", "")),
      "--json",
    );
    const op = planned.json<{ operation_id: string }>().operation_id;
    expect(await approve(desk, op, "--steps", "1,3")).toEqual([1, 3]);
    expect((await run(desk, op)).code).toBe(4);
    await desk.tenant.accept(`${name}@example.test`);
    return op;
  }
});
