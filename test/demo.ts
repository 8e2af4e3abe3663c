import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/**
 * The main job on the sandbox, for real: the built command runs as child processes against a tenant that is served by
 * another one. Nothing is acted out in here; each command is echoed, and its exit code shown.
 */
const PROVISION = fileURLToPath(new URL("../bin/provision.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "provision-demo-"));
/** What `init` trusts is kept in the user's own folder; the demo leaves nothing there. */
const env = { ...process.env, XDG_CONFIG_HOME: join(folder, "config") };
const asks = process.stdin.isTTY === true && process.stdout.isTTY === true && !process.env.CI;

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function provision(args: string[], expected: number): void {
  say(`\n$ provision ${args.join(" ")}`);
  const { status } = spawnSync(process.execPath, [PROVISION, ...args], { cwd: folder, env, stdio: "inherit" });
  say(`(exit ${status})`);
  if (status !== expected) throw new Error(`provision ${args[0]} ended with ${status}, not with ${expected}`);
}

function json(args: string[]): { [key: string]: unknown } {
  return JSON.parse(
    spawnSync(process.execPath, [PROVISION, ...args, "--json"], { cwd: folder, env, encoding: "utf8" }).stdout,
  );
}

async function startTenant(): Promise<ChildProcess> {
  say("\n$ provision sandbox start &");
  const tenant = spawn(process.execPath, [PROVISION, "sandbox", "start"], { cwd: folder, env, stdio: "inherit" });
  for (let tries = 0; !existsSync(join(folder, ".provision", "sandbox", "url")); tries++) {
    if (tries > 200) throw new Error("the sandbox tenant did not start");
    await pause(50);
  }
  return tenant;
}

function approve(op: string): void {
  if (!asks) say("\nThere is no terminal to ask at, so the next answer is given by --yes.");
  provision(asks ? ["approve", op] : ["approve", op, "--yes"], 0);
}

async function story(): Promise<void> {
  provision(["plan", "plans/joiner.yaml"], 0);
  const [{ operation_id: op }] = json(["list"]).operations as [{ operation_id: string }];
  say("\nThe tenant will make the invitation and lose its answer on the way.");
  provision(["sandbox", "fault", "lost_after_commit", "--action", "invitation.create"], 0);
  provision(["run", op], 3);
  approve(op);
  provision(["run", op], 4);
  say("\nPriya accepts.");
  provision(["sandbox", "accept", "priya@example.test"], 0);
  say("\nRole and first group are granted; the sensitive group is asked for only now.");
  provision(["run", op], 3);
  approve(op);
  say("\nThe ordinary credential has no authority over that group. It is sent once and refused.");
  provision(["run", op], 5);
  provision(["status", op], 0);
  say("\nWhat this operation changed is taken back, and nothing else.");
  provision(["rollback", op], 0);
  provision(["audit", "verify"], 0);
  const users = json(["sandbox", "state"]).users as { email: string; role: string; status: string }[];
  const priya = users.find(({ email }) => email === "priya@example.test");
  say(`\nIn the tenant, ${priya?.email} is ${priya?.status} with the role ${priya?.role}.`);
}

let tenant: ChildProcess | undefined;
try {
  say(`Working in ${folder}`);
  provision(["init", "--provider", "sandbox"], 0);
  tenant = await startTenant();
  await story();
} catch (error) {
  process.exitCode = 1;
  process.stderr.write(`\nThe demo broke off: ${error instanceof Error ? error.message : error}\n`);
} finally {
  if (tenant?.exitCode === null) {
    const ended = new Promise((done) => tenant?.once("exit", done));
    tenant.kill("SIGTERM");
    await ended;
  }
  rmSync(folder, { recursive: true, force: true });
}
