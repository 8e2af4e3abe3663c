import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, vi } from "vitest";
import type { RequestRow, StateDocument } from "../../providers/sandbox/tenant/views.ts";
import type { OperationDocument } from "../../src/core/operation.ts";
import { PROVISION, type Ran, refuseStaleBuild, runChild, runHere } from "./built.ts";
import { leaks } from "./secrets.ts";

// Processes are started here, and a machine may be busy. Nothing waits on purpose.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

export const PRIYA = "priya@example.test";

export type Json = { [key: string]: unknown };

export interface Answer extends Ran {
  /** The one document on stdout; throws where there is none, or more than one. */
  json<T = Json>(): T;
}

/** An operation document, with what refused the command beside it. */
export type Operation = OperationDocument & { error?: { code: string; message: string; hint: string | null } };

export interface Fault {
  action?: string;
  times?: number;
  after?: number;
}

/** A folder of its own, with a home of its own, as `init` left it; and the tenant that is started for it. */
export interface Desk {
  dir: string;
  env: NodeJS.ProcessEnv;
  /** Everything that was printed, for the search for secrets. */
  printed: string[];
  /** The built command as a process of its own. */
  provision(...args: string[]): Promise<Answer>;
  /** The built command in this process. */
  quick(...args: string[]): Promise<Answer>;
  with(more: { env?: NodeJS.ProcessEnv; input?: string; cwd?: string }, ...args: string[]): Promise<Answer>;
  start(...args: string[]): Promise<void>;
  /** Ends the tenant by SIGTERM and gives its exit code. */
  stop(): Promise<number | null>;
  tenant: Tenant;
  file(path: string): string;
  edit(path: string, change: (text: string) => string): void;
  /** The folder as it is, once more beside it: to be spoilt. It has the same tenant. */
  copy(name: string): Desk;
  /** How many entries the journal has, by the audit. */
  entries(): Promise<number>;
  /** Writes the request of the story for somebody else, and gives its path. */
  request(email: string, change?: (yaml: string) => string): string;
}

/** The tenant past its clients: what really is there, and what happens without us. */
export interface Tenant {
  state(): Promise<StateDocument>;
  /** What tenant clients sent, in order; `writes` leaves out the reads. */
  requests(): Promise<RequestRow[]>;
  writes(action?: string): Promise<RequestRow[]>;
  act(path: string, body: Json): Promise<void>;
  accept(email: string, as?: string): Promise<void>;
  fault(kind: string, options?: Fault): Promise<void>;
  clearFaults(): Promise<void>;
}

export async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let tries = 0; !(await holds()); tries++) {
    if (tries > 2000) throw new Error(`it never came to this: ${what}`);
    await pause(5);
  }
}

/** Makes the folder and starts its tenant. End it with `endDesk`. */
export async function openDesk(): Promise<Desk> {
  refuseStaleBuild();
  const root = mkdtempSync(join(tmpdir(), "provision-e2e-"));
  const dir = join(root, "desk");
  const home = join(root, "home");
  for (const folder of [dir, home]) mkdirSync(folder, { mode: 0o700 });
  const env = { PATH: process.env.PATH, HOME: home, XDG_CONFIG_HOME: join(home, ".config") };
  const desk = assemble(dir, env);
  const made = await desk.quick("init");
  if (made.code !== 0) throw new Error(`init: ${made.stderr}`);
  await desk.start();
  return desk;
}

function assemble(dir: string, env: NodeJS.ProcessEnv, printed: string[] = []): Desk {
  let child: ChildProcess | undefined;
  const note = (ran: Ran): Answer => {
    printed.push(ran.stdout, ran.stderr);
    return { ...ran, json: <T>() => JSON.parse(ran.stdout) as T };
  };
  const file = (path: string) => join(dir, path);
  return {
    dir,
    env,
    printed,
    file,
    provision: async (...args) => note(await runChild(args, { cwd: dir, env })),
    quick: async (...args) => note(await runHere(args, { cwd: dir, env })),
    with: async ({ env: more, cwd = dir, ...rest }, ...args) =>
      note(await runChild(args, { cwd, env: { ...env, ...more }, ...rest })),
    async start(...args) {
      child = spawn(process.execPath, [PROVISION, "sandbox", "start", ...args], {
        cwd: dir,
        env,
        stdio: ["ignore", "ignore", "inherit"],
      });
      await until(() => existsSync(file(".provision/sandbox/url")), "the tenant writes its address");
    },
    async stop() {
      if (child === undefined) return null;
      const ended = new Promise<number | null>((done) => child?.once("exit", done));
      child.kill("SIGTERM");
      child = undefined;
      return ended;
    },
    tenant: tenantOf(file(".provision/sandbox")),
    copy(name) {
      const copied = join(dir, "..", name);
      cpSync(dir, copied, { recursive: true });
      return assemble(copied, env, printed);
    },
    entries: async () =>
      note(await runHere(["audit", "verify", "--json"], { cwd: dir, env })).json<{ entries: number }>().entries,
    edit: (path, change) => writeFileSync(file(path), change(readFileSync(file(path), "utf8"))),
    request(email, change = (yaml) => yaml) {
      const path = `plans/${email.split("@")[0]}.yaml`;
      const story = readFileSync(file("plans/joiner.yaml"), "utf8");
      writeFileSync(file(path), change(story.replace(PRIYA, email)));
      return path;
    },
  };
}

function tenantOf(folder: string): Tenant {
  const read = (name: string) => readFileSync(join(folder, name), "utf8").trim();
  const ask = async (method: string, path: string, body?: Json): Promise<unknown> => {
    const answer = await fetch(`${read("url")}/_sandbox/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${read("control.token")}`,
        "content-type": "application/json",
        // A test can keep this process busy for longer than the tenant keeps an idle connection.
        connection: "close",
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
  const state = async () => (await ask("GET", "state")) as StateDocument;
  const act = async (path: string, body: Json) => {
    await ask("POST", path, body);
  };
  return {
    state,
    act,
    requests: async () => (await state()).requests,
    writes: async (action) =>
      (await state()).requests.filter((row) => (action === undefined ? row.method !== "GET" : row.action === action)),
    accept: (email, as) => act("accept", as === undefined ? { email } : { email, as }),
    fault: (kind, options = {}) => act("faults", { kind, ...options }),
    clearFaults: async () => {
      await ask("DELETE", "faults");
    },
  };
}

/** Ends the tenant, looks for secrets in everything that was printed or stored, and removes the folder. */
export async function endDesk(desk: Desk): Promise<void> {
  try {
    expect(leaks(desk)).toEqual([]);
  } finally {
    await desk.stop();
    rmSync(join(desk.dir, ".."), { recursive: true, force: true });
  }
}
