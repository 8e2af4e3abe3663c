import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { startTenant } from "../../providers/sandbox/tenant/index.ts";
import type { StateDocument } from "../../providers/sandbox/tenant/views.ts";
import { writeRunning } from "../../src/operations/sandbox.ts";
import { PROVISION, refuseStaleBuild, runHere } from "./built.ts";
import type { Boundary } from "./kills.boundary.ts";
import type { Said } from "./kills.command.ts";
import type { Order } from "./kills.driver.ts";

export const BUILT = fileURLToPath(new URL("../../dist/test/e2e/", import.meta.url));
export const PRELOAD = join(BUILT, "kills.preload.js");
/** In the folder, so that a copy of the folder is a copy of the tenant too. */
const TENANT = ".provision/tenant.json";
const TOKENS = {
  read: "sbx_read_stage",
  ordinary: "sbx_ordinary_stage",
  privileged: "sbx_privileged_stage",
  control: "sbx_control_stage",
};

/** A folder with its journal, and the tenant that it is about, served from the folder's own state file. */
export interface Stage {
  dir: string;
  env: NodeJS.ProcessEnv;
  url: string;
  state(): StateDocument;
  fault(kind: string, action: string, times?: number): Promise<void>;
  /** One command line under the watch of the preload: counted (0), or struck by the signal at the n-th boundary. */
  watch(line: readonly string[], at: number, signal?: NodeJS.Signals): Promise<Watched>;
  /** Ends the tenant and leaves the folder. */
  close(): Promise<void>;
}

export interface Watched {
  code: number | null;
  signal: NodeJS.Signals | null;
  boundaries: Boundary[];
  stdout: string;
  stderr: string;
}

/** Makes a folder by `init` under a root that the caller removes. `change` rewrites its configuration. */
export async function layOut(root: string, name: string, change: (yaml: string) => string): Promise<string> {
  refuseStaleBuild();
  if (!existsSync(join(BUILT, "kills.driver.js"))) throw new Error("dist/test/e2e is missing: npm run build");
  const dir = join(root, name);
  mkdirSync(dir, { mode: 0o700 });
  const made = await runHere(["init"], { cwd: dir, env: envOf(root) });
  if (made.code !== 0) throw new Error(`init: ${made.stderr}`);
  const config = join(dir, "provision.yaml");
  writeFileSync(config, change(readFileSync(config, "utf8")));
  return dir;
}

export function newRoot(): string {
  const root = mkdtempSync(join(tmpdir(), "provision-kills-"));
  mkdirSync(join(root, "home"), { mode: 0o700 });
  return root;
}

export function removeRoot(root: string): void {
  rmSync(root, { recursive: true, force: true });
}

/** A copy of a folder whose tenant is closed. */
export function copyOf(dir: string, name: string): string {
  const copy = join(dir, "..", name);
  cpSync(dir, copy, { recursive: true });
  return copy;
}

function envOf(root: string): NodeJS.ProcessEnv {
  const home = join(root, "home");
  return { PATH: process.env.PATH, HOME: home, XDG_CONFIG_HOME: join(home, ".config") };
}

/** Serves the tenant of a folder, in this process and over a real socket. `seed`: who is there at the very first. */
export async function raise(dir: string, seed?: unknown): Promise<Stage> {
  const env = envOf(join(dir, ".."));
  const tenant = await startTenant({ stateFile: join(dir, TENANT), tokens: TOKENS, seed });
  writeRunning(join(dir, ".provision", "sandbox"), tenant, 0);
  return {
    dir,
    env,
    url: tenant.url,
    state: tenant.state,
    async fault(kind, action, times = 1) {
      const answer = await fetch(`${tenant.url}/_sandbox/faults`, {
        method: "POST",
        headers: { authorization: `Bearer ${TOKENS.control}`, "content-type": "application/json", connection: "close" },
        body: JSON.stringify({ kind, action, times }),
      });
      if (!answer.ok) throw new Error(await answer.text());
    },
    async watch(line, at, signal = "SIGKILL") {
      const log = join(dir, "boundaries");
      writeFileSync(log, "");
      const watched = { ...env, KILL_LOG: log, KILL_AT: String(at), KILL_SIGNAL: signal };
      const ended = await start(["--import", PRELOAD, PROVISION, ...line], dir, watched);
      const boundaries = readFileSync(log, "utf8").split("\n").filter(Boolean);
      return { ...ended, boundaries: boundaries.map((text) => JSON.parse(text) as Boundary) };
    },
    close: () => tenant.close(),
  };
}

/** A process that goes on where another one was lost; it serves one folder after another. */
export interface Driver {
  perform(dir: string, lines: Order["lines"]): Promise<Said[]>;
  close(): Promise<void>;
}

export function startDriver(root: string): Driver {
  const stdio: ["pipe", "pipe", "inherit"] = ["pipe", "pipe", "inherit"];
  const child = spawn(process.execPath, [join(BUILT, "kills.driver.js")], { cwd: root, env: envOf(root), stdio });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = new Promise<void>((done) => child.once("exit", () => done()));
  return {
    async perform(dir, lines) {
      child.stdin.write(`${JSON.stringify({ dir, lines } satisfies Order)}\n`);
      const { value, done } = await answers.next();
      if (done === true) throw new Error(`the driver ended with ${child.exitCode ?? child.signalCode}`);
      return JSON.parse(value) as Said[];
    },
    async close() {
      child.stdin.end();
      await ended;
    },
  };
}

interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

function start(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<Ended> {
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text) => {
      stderr += text;
    });
    child.once("error", fail);
    child.once("close", (code, signal) => done({ code, signal, stdout, stderr }));
  });
}
