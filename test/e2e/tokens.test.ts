import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Desk, endDesk, openDesk } from "./desk.ts";
import { accepted, holds, results, rollback, run } from "./path.ts";
import { type Between, between, type Given, type Passing } from "./store-between.ts";

let desk: Desk;
let door: Between;
beforeAll(async () => {
  desk = await openDesk();
  const command = (name: string) => `{ command: [${desk.file("token")}, ${name}] }`;
  desk.edit("provision.yaml", (yaml) =>
    yaml
      .replace("provider: sandbox", "provider: sandbox\n    timing: { request: 3s, lease: 10s }")
      .replace(/^( +)ordinary:.*$/m, `$1ordinary: ${command("ordinary")}`),
  );
  door = await between(desk);
  source(`cat ${desk.file(".provision/sandbox")}/$1.token`);
  expect((await desk.quick("trust")).code).toBe(0);
});
afterEach(async () => {
  door.calm();
  await desk.tenant.clearFaults();
  source(`cat ${desk.file(".provision/sandbox")}/$1.token`);
});
afterAll(async () => {
  await door.close();
  await endDesk(desk);
});

/** What the configured command does; it notes each call. */
function source(lines: string): void {
  writeFileSync(desk.file("token"), `#!/bin/sh\necho x >> ${desk.file("calls")}\n${lines}\n`);
  chmodSync(desk.file("token"), 0o700);
  rmSync(desk.file("calls"), { force: true });
}

const calls = () =>
  existsSync(desk.file("calls")) ? (readFileSync(desk.file("calls"), "utf8").match(/x/g) ?? []).length : 0;
const writes = () => door.seen.filter(({ method }) => method !== "GET");
const dead: Given = { status: 401, body: '{"code":"token_expired","message":"The token has expired."}' };
const refuseWrites = (times: number) => (request: Passing) =>
  request.method === "GET" || writes().length > times ? undefined : dead;

test("a token that dies in the midst of a run is fetched again once, and the same change is made with the new one", async () => {
  const op = await accepted(desk, "once@example.test");
  door.calm();
  rmSync(desk.file("calls"), { force: true });
  door.ahead = refuseWrites(1);
  const { code, left } = await run(desk, op);
  expect([code, left.state, calls()]).toEqual([0, "completed", 2]);
  expect(left.steps[2]?.transport).toMatchObject({ attempts: 2, last_status: 200 });
  expect((await holds(desk, "once@example.test"))?.role).toBe("member");
});

test("a token that stays dead pauses the run: nothing is marked failed, and a later run goes on", async () => {
  const email = "stays-dead@example.test";
  const op = await accepted(desk, email);
  door.calm();
  rmSync(desk.file("calls"), { force: true });
  door.ahead = refuseWrites(99);
  const { code, left } = await run(desk, op);
  expect([code, left.state, results(left).slice(2)]).toEqual([12, "paused", ["-", "-"]]);
  expect(left.blocked).toMatchObject({ step: 3, detail: expect.stringContaining("credential is no longer accepted") });
  expect([writes().length, calls(), await holds(desk, email)]).toEqual([
    2,
    2,
    expect.objectContaining({ role: "guest" }),
  ]);
  door.calm();
  const again = await run(desk, op);
  expect([again.code, results(again.left).slice(2)]).toEqual([0, ["changed", "added"]]);
});

test("a new token that cannot be had pauses the run as well, and nothing more is sent", async () => {
  const op = await accepted(desk, "no-new-one@example.test");
  door.calm();
  source(`test $(wc -l < ${desk.file("calls")}) = 1 || exit 7\ncat ${desk.file(".provision/sandbox")}/$1.token`);
  door.ahead = refuseWrites(99);
  const { code, left } = await run(desk, op);
  expect([code, left.state, results(left).slice(2), writes().length]).toEqual([12, "paused", ["-", "-"], 1]);
  expect(left.blocked?.detail).toContain("credential_command");
  door.calm();
  source(`cat ${desk.file(".provision/sandbox")}/$1.token`);
  expect((await run(desk, op)).code).toBe(0);
});

test("a read that is refused its token says so before anything else, pauses at once, and nothing is sent", async () => {
  const op = await accepted(desk, "blind@example.test");
  door.calm();
  door.ahead = () => dead;
  const { code, left } = await run(desk, op);
  expect([code, left.state, door.seen.length]).toEqual([12, "paused", 1]);
  expect(left.blocked?.detail).toContain("unauthenticated: the credential is no longer accepted (401 token_expired");
  const planned = await desk.quick("plan", desk.request("unseen@example.test"), "--json");
  expect([planned.code, planned.stdout]).toEqual([12, expect.stringContaining("the credential is no longer accepted")]);
  door.calm();
  expect((await run(desk, op)).code).toBe(0);
});

/** A token with so many milliseconds to live beyond what a step needs; the ones after it as `then` says. */
const shortLived = (ms: number, then: string) => `
if test $(wc -l < ${desk.file("calls")}) = 1; then
  printf '{"token":"%s","expires_at":"%s"}' $(cat ${desk.file(".provision/sandbox")}/$1.token) ${new Date(Date.now() + 60_000 + ms).toISOString()}
else
  ${then}
fi`;

test("the end of a token that its command tells is honoured ahead of time", async () => {
  const op = await accepted(desk, "ahead@example.test");
  door.calm();
  source(shortLived(900, `cat ${desk.file(".provision/sandbox")}/$1.token`));
  await desk.tenant.fault("delay:950", { action: "role.set" });
  const { code } = await run(desk, op);
  expect([code, calls(), writes().length]).toEqual([0, 2, 2]);
});

test("where no new token is to be had by then, the run pauses between two steps", async () => {
  const op = await accepted(desk, "between-two@example.test");
  door.calm();
  source(shortLived(900, "exit 7"));
  await desk.tenant.fault("delay:950", { action: "role.set" });
  const { code, left } = await run(desk, op);
  expect([code, left.state, results(left).slice(2), writes().length]).toEqual([12, "paused", ["changed", "-"], 1]);
  expect(left.blocked?.detail).toContain("ordinary credential");
  source(`cat ${desk.file(".provision/sandbox")}/$1.token`);
  const again = await run(desk, op);
  expect([again.code, results(again.left).slice(2)]).toEqual([0, ["changed", "added"]]);
});

test.each(["ordinary", "read"])("a rollback does not begin with a dead %s credential, and says so", async (name) => {
  const email = `way-back-${name}@example.test`;
  const op = await accepted(desk, email);
  expect((await run(desk, op)).code).toBe(0);
  const before = await desk.entries();
  door.calm();
  door.ahead = ({ token }) => (token === name ? dead : undefined);
  const { code, left } = await rollback(desk, op);
  expect([code, left.state, left.error?.code, writes()]).toEqual([12, "completed", "credential_dead", []]);
  expect(left.error?.message).toMatch(`The ${name} credential of acme-sandbox is dead`);
  expect(left.error?.hint).toContain(`provision rollback ${op}`);
  expect(await desk.entries()).toBe(before);
  door.calm();
  expect((await rollback(desk, op)).left.state).toBe("rolled_back");
  expect(await holds(desk, email)).toEqual({ role: "guest", status: "active", groups: [] });
});

test("a rollback whose token dies on the way pauses with the rest still open, and goes on later", async () => {
  const op = await accepted(desk, "dies-back@example.test");
  expect((await run(desk, op)).code).toBe(0);
  door.calm();
  door.ahead = (request) => (request.method !== "GET" && writes().length > 1 ? dead : undefined);
  const { code, left } = await rollback(desk, op);
  expect([code, left.state]).toEqual([8, "rollback_pending"]);
  expect(left.steps.slice(2).map(({ undo }) => undo)).toEqual(["ready: guest", "undone"]);
  door.calm();
  expect((await rollback(desk, op)).left.state).toBe("rolled_back");
});
