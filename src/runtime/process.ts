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
 * pid namespace, since elsewhere the same number is another process; the start time tells a reused number apart.
 */
export function livenessOf(holder: Holder): Liveness {
  const here = bootId();
  if (here === "" || here !== holder.boot_id || pidNamespace() !== holder.pid_namespace) return "unknown";
  const started = startTime(holder.pid);
  if (started === undefined) return exists(holder.pid) ? "unknown" : "dead";
  if (started === "" || holder.start_time === "") return exists(holder.pid) ? "unknown" : "dead";
  return started === holder.start_time ? "alive" : "dead";
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

/** Field 22 of proc(5) stat. The name in field 2 may hold spaces and parentheses, so counting starts behind the last one. */
function linuxStartTime(pid: number): string | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const state = fields[0];
  return state === "Z" || state === "X" ? ENDED : fields[22 - 3];
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
