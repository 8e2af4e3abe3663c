import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { COMMANDS } from "../../src/cli/commands.ts";
import { type Desk, endDesk, openDesk, PRIYA } from "./desk.ts";
import { plan } from "./path.ts";

let desk: Desk;
let op: string;
beforeAll(async () => {
  desk = await openDesk();
  op = await plan(desk, PRIYA, (yaml) => yaml);
});
afterAll(() => endDesk(desk));

type Failure = { error: { code: string; message: string; hint: string | null; details: unknown[] } };

test("every command has a help with examples, and asking for it is no failure", async () => {
  for (const name of Object.keys(COMMANDS)) {
    const help = await desk.quick(name, "--help");
    expect([help.code, help.stderr], name).toEqual([0, ""]);
    expect(help.stdout, name).toContain(`Usage: provision ${name}`);
    expect(help.stdout, name).toMatch(/\nExamples:\n {2}\$ provision /);
  }
  const whole = await desk.provision("--help");
  expect(whole.code).toBe(0);
  for (const name of Object.keys(COMMANDS)) expect(whole.stdout).toMatch(new RegExp(`^  ${name}\\b`, "m"));
});

const USAGE: [says: string, args: string[]][] = [
  ["a command that does not exist", ["pln"]],
  ["an option that does not exist", ["run", "@last", "--fast"]],
  ["an argument that is missing", ["run"]],
  ["an argument too many", ["status", "@last", "@last"]],
  ["an option that lacks its value", ["run", "@last", "--wait"]],
  ["a duration that is none", ["run", "@last", "--wait", "soon"]],
  ["a step that is no number", ["approve", "@last", "--steps", "one"]],
  ["an operation that does not exist", ["status", "zzzzzzzz"]],
  ["a request that does not exist", ["plan", "plans/nobody.yaml"]],
  ["a configuration that does not exist", ["status", "@last", "--config", "other.yaml"]],
  ["a command of the sandbox that does not exist", ["sandbox", "dance"]],
  ["a fault that does not exist", ["sandbox", "fault", "thunder"]],
];

for (const [says, args] of USAGE)
  test(`${says} is a mistake of usage: 2, one document, and what to do`, async () => {
    const shown = await desk.quick(...args);
    expect([shown.code, shown.stdout]).toEqual([2, ""]);
    expect(shown.stderr).toMatch(/^Error: .+\n/);
    const told = await desk.quick(...args, "--json");
    expect([told.code, told.stderr]).toEqual([2, ""]);
    const { error } = told.json<Failure>();
    expect(error.message).not.toBe("");
    expect(Object.keys(error).sort()).toEqual(["code", "details", "hint", "message"]);
  });

/** With what they exit on an operation that waits for its first decision. */
const COMMAND_LINES: [exit: number, args: string[]][] = [
  [0, ["plan", "plans/priya.yaml"]],
  [0, ["show", "@last"]],
  [0, ["status", "@last"]],
  [3, ["status", "@last", "--exit-code"]],
  [0, ["status", "@last", "--attempts", "--refresh"]],
  [0, ["status"]],
  [13, ["resolve", "@last", "--step", "1", "--as", "applied"]],
  [0, ["list"]],
  [3, ["run", "@last"]],
  [3, ["approve", "@last"]],
  [0, ["rollback", "@last", "--dry-run"]],
  [0, ["audit", "verify"]],
  [0, ["trust"]],
  [0, ["sandbox", "fault", "list"]],
  [0, ["sandbox", "state"]],
  [0, ["sandbox", "fault", "clear"]],
  [0, ["sandbox", "reset"]],
  [2, ["sandbox", "accept", PRIYA]],
  [2, ["init"]],
];

test("with --json stdout is exactly one document, whatever the command and its exit", async () => {
  for (const [exit, args] of COMMAND_LINES) {
    const ran = await desk.quick(...args, "--json");
    expect([ran.code, args]).toEqual([exit, args]);
    expect(typeof ran.json(), args.join(" ")).toBe("object");
    expect(ran.stdout.endsWith("}\n"), args.join(" ")).toBe(true);
  }
});

test("no output holds an escape byte, nor does anybody prompt, where there is no terminal", async () => {
  for (const env of [{ NO_COLOR: "1" }, { FORCE_COLOR: "1" }]) {
    const ran = await desk.with({ env }, "status", op);
    expect(ran.stdout).toContain("STATE awaiting_approval");
    expect(ran.stderr).toContain("in flight");
  }
  expect(desk.printed.join("")).not.toContain("\u001b");
});

test("a CI job plans and approves on the sandbox with --yes, and who asked is not verified", async () => {
  const ci = { env: { CI: "true" } };
  const planned = await desk.with(ci, "plan", desk.request("ci@example.test"), "--json");
  const { operation_id, plan: frozen } = planned.json<{ operation_id: string; plan: { requester: unknown } }>();
  expect(frozen.requester).toMatchObject({ via: "ci", verified: false });
  const approved = await desk.with(ci, "approve", operation_id, "--yes", "--json");
  expect([approved.code, approved.json().state]).toEqual([0, "approved"]);
});

test("the state folder and all in it belong to the user alone", () => {
  const state = desk.file(".provision");
  const all = [".", ...readdirSync(state, { recursive: true, encoding: "utf8" })];
  const modes = all.map((name) => {
    const stat = statSync(join(state, name));
    return `${(stat.mode & 0o777).toString(8)} ${stat.isDirectory() ? "folder" : "file"}`;
  });
  expect(all).toContain("journal.db");
  expect(new Set(modes)).toEqual(new Set(["700 folder", "600 file"]));
});

test("a configuration that others can write is used only where it is named", async () => {
  const below = desk.file("team");
  mkdirSync(below);
  const found = await desk.with({ cwd: below }, "list", "--json");
  expect(found.code).toBe(0);
  for (const mode of [0o664, 0o646]) {
    chmodSync(desk.file("provision.yaml"), mode);
    const refused = await desk.quick("list", "--json");
    expect([refused.code, refused.json<Failure>().error.code]).toEqual([2, "config_writable"]);
  }
  expect((await desk.quick("list", "--config", "provision.yaml")).code).toBe(0);
  chmodSync(desk.file("provision.yaml"), 0o644);
  expect((await desk.quick("list")).code).toBe(0);
});

test("a document larger than a pipe holds arrives whole", async () => {
  expect((await desk.provision("sandbox", "start", "--json")).code).toBe(2);
  expect(await desk.stop()).toBe(0);
  expect(() => statSync(desk.file(".provision/sandbox/url"))).toThrow("ENOENT");
  const users = Array.from({ length: 3000 }, (_, i) => ({ email: `user${i}@example.test`, role: "member" }));
  writeFileSync(desk.file("seed.json"), JSON.stringify({ users }));
  await desk.start("--seed", "seed.json");
  const state = await desk.provision("sandbox", "state", "--json");
  expect(state.stdout.length).toBeGreaterThan(200_000);
  expect(state.json<{ users: unknown[] }>().users).toHaveLength(3000);
});

test("a tenant for one command ends with it, and its exit code is the command's", async () => {
  expect(await desk.stop()).toBe(0);
  const ran = await desk.provision("sandbox", "exec", "--", process.execPath, "-e", "process.exit(7)");
  expect(ran.code).toBe(7);
  expect((await desk.quick("sandbox", "state", "--json")).json<Failure>().error.code).toBe("sandbox_not_running");
});
