import { execFileSync } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import type { Holder } from "../model/entry.ts";

export type Liveness = "dead" | "alive" | "unknown";

/**
 * This process, as another one can check it. Where the system does not tell a fact it is the empty string, and whoever
 * compares it must then say `unknown`.
 */
export function thisProcess(): Holder {
  return {
    host: hostname(),
    boot_id: bootId(),
    pid_namespace: pidNamespace(),
    pid: process.pid,
    start_time: startTime(process.pid) ?? "",
    user: userName(),
  };
}

/**
 * Whether a process that named itself by `thisProcess` still runs. `dead` and `alive` are said only of the same boot and
 * pid namespace, since elsewhere the same number is another process; the start time tells a reused number apart. One
 * that is stopped (SIGSTOP, a debugger) may wake in a moment or never: `unknown`.
 */
export function livenessOf(holder: Holder): Liveness {
  const here = bootId();
  if (here === "" || here !== holder.boot_id || pidNamespace() !== holder.pid_namespace) return "unknown";
  const started = startTime(holder.pid);
  if (started === undefined) return exists(holder.pid) ? "unknown" : "dead";
  if (started === "" || holder.start_time === "") return exists(holder.pid) ? "unknown" : "dead";
  if (started !== holder.start_time) return "dead";
  return isStopped(holder.pid) ? "unknown" : "alive";
}

/** Signal 0 is not delivered; EPERM means that the process exists and is another user's. */
function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

function bootId(): string {
  if (process.platform === "linux")
    return attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
  return attempt(() => run("sysctl", ["-n", "kern.bootsessionuuid"]));
}

/** Systems without pid namespaces have one for all. */
function pidNamespace(): string {
  return process.platform === "linux" ? attempt(() => readlinkSync("/proc/self/ns/pid")) : "host";
}

/** Undefined where no process of that number can be seen. */
function startTime(pid: number): string | undefined {
  try {
    return process.platform === "linux"
      ? linuxStartTime(pid)
      : run("ps", ["-o", "lstart=", "-p", String(pid)]) || undefined;
  } catch {
    return undefined;
  }
}

/** What a process that has ended and only waits to be collected is said to have started at: no time at all. */
const ENDED = "ended";

function linuxStartTime(pid: number): string | undefined {
  const [state, ...more] = linuxStat(pid);
  return state === "Z" || state === "X" ? ENDED : more[22 - 4];
}

/**
 * The fields of proc(5) stat from the third on: the state, then numbers. The name in field 2 may hold spaces and
 * parentheses, so counting starts behind the last one.
 */
function linuxStat(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/** Both systems write `T` for stopped by a signal; Linux `t` for stopped by a debugger. */
function isStopped(pid: number): boolean {
  const state = attempt(() =>
    process.platform === "linux" ? (linuxStat(pid)[0] ?? "") : run("ps", ["-o", "state=", "-p", String(pid)]),
  );
  return /^t/i.test(state);
}

function run(command: string, argv: string[]): string {
  return execFileSync(command, argv, { encoding: "utf8", timeout: 2_000, stdio: ["ignore", "pipe", "ignore"] }).trim();
}

function userName(): string {
  return attempt(() => userInfo().username);
}

function attempt(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}
