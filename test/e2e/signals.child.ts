import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { provider } from "../../providers/sandbox/index.ts";
import type { Holder } from "../../src/model/entry.ts";
import type { SubjectKey } from "../../src/model/plan.ts";
import { type Journal, type Lease, openJournal } from "../../src/runtime/journal/journal.ts";
import { thisProcess } from "../../src/runtime/process.ts";
import { PROVISION } from "./built.ts";
import { type Desk, until } from "./desk.ts";
import { PRELOAD } from "./kills.stage.ts";

/** One of the built command's processes while it runs, with all that it has said so far. */
export interface Child {
  pid: number;
  said: { stdout: string; stderr: string };
  kill(signal: NodeJS.Signals): void;
  /** Closes our ends of its pipes: nobody reads any more. */
  hangUp(): void;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** The one document on stdout; throws where there is none, or more than one. */
  json<T>(): T;
}

export function startChild(
  desk: Desk,
  args: readonly string[],
  { env = {}, node = [] }: { env?: NodeJS.ProcessEnv; node?: readonly string[] } = {},
): Child {
  const child: ChildProcess = spawn(process.execPath, [...node, PROVISION, ...args], {
    cwd: desk.dir,
    env: { ...desk.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name]?.setEncoding("utf8").on("data", (text: string) => {
      said[name] += text;
    });
  return {
    pid: child.pid ?? 0,
    said,
    kill: (signal) => child.kill(signal),
    hangUp() {
      child.stdout?.destroy();
      child.stderr?.destroy();
    },
    ended: new Promise((done) =>
      child.once("close", (code, signal) => {
        desk.printed.push(said.stdout, said.stderr);
        done({ code, signal });
      }),
    ),
    json: <T>() => JSON.parse(said.stdout) as T,
  };
}

/** A command whose next request of `action` lies at the tenant's door for `ms`; it is there when this returns. */
export async function inTheAir(desk: Desk, args: readonly string[], action: string, ms = 400): Promise<Child> {
  await desk.tenant.fault(`delay:${ms}`, { action });
  const count = (await desk.tenant.writes(action)).length;
  const child = startChild(desk, args);
  await until(async () => (await desk.tenant.writes(action)).length > count, `${action} is at the tenant`);
  return child;
}

/** A command that stops itself (SIGSTOP) at the first boundary that matches; it stands there when this returns. */
export async function stoppedAt(desk: Desk, args: readonly string[], boundary: string): Promise<Child> {
  const log = desk.file(".provision/boundaries");
  writeFileSync(log, "");
  const env = { KILL_LOG: log, KILL_ON: boundary, KILL_SIGNAL: "SIGSTOP" };
  const child = startChild(desk, args, { env, node: ["--import", PRELOAD] });
  await until(() => /^T/.test(stateOf(child.pid)), `it stops at ${boundary}`);
  return child;
}

function stateOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return stat.slice(stat.lastIndexOf(")") + 2);
}

/** Opens the desk's journal as another executor would. Close it. */
export function anotherExecutor(desk: Desk): Journal {
  const now = () => new Date().toISOString();
  return openJournal({ dir: desk.file(".provision"), now, random: (bytes) => randomBytes(bytes) });
}

/** Takes the lease on an operation and its person as somebody else, who then may or may not show signs of life. */
export function heldElsewhere(
  journal: Journal,
  op: string,
  person: SubjectKey,
  holder: Partial<Holder>,
): Promise<Lease> {
  return journal.takeLease(
    op,
    provider.fold(person).map((key) => `acme-sandbox\0${key}`),
    {
      leaseMs: 1_000,
      holder: { ...thisProcess(), ...holder },
      now: () => performance.now(),
      alive: () => "alive",
      sleep: () => Promise.reject(new Error("nobody else holds it")),
    },
  );
}

/** What another machine, another boot or another container looks like from here. */
export const ELSEWHERE: [string, Partial<Holder>][] = [
  ["of another machine", { host: "host-b", boot_id: "0f0c", pid_namespace: "pid:[1]", user: "lee", pid: 815 }],
  ["of an earlier boot", { boot_id: "0f0c" }],
  ["of another container", { pid_namespace: "pid:[1]" }],
];
