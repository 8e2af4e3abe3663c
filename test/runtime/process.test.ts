import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import { livenessOf, thisProcess } from "../../src/runtime/process.ts";

describe("a process that named itself", () => {
  test("it is alive as long as it runs, and dead once it was collected", async () => {
    const me = thisProcess();
    expect(me.pid).toBe(process.pid);
    expect(me.start_time).not.toBe("");
    expect(livenessOf(me)).toBe("alive");
    const child = spawn(process.execPath, ["-e", "process.stdin.resume()"], { stdio: ["pipe", "ignore", "ignore"] });
    await once(child, "spawn");
    const pid = child.pid ?? 0;
    expect(livenessOf({ ...me, pid })).toBe("dead");
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(livenessOf({ ...me, pid })).toBe("dead");
  });

  test("of one that is stopped nothing is said until it goes on: it may wake in a moment or never", async () => {
    const child = spawn(process.execPath, ["-e", "console.log(1); process.stdin.resume()"], { stdio: "pipe" });
    await once(child.stdout, "data");
    const pid = child.pid ?? 0;
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1").split(" ");
    const holder = { ...thisProcess(), pid, start_time: stat[21] ?? "" };
    expect(livenessOf(holder)).toBe("alive");
    child.kill("SIGSTOP");
    await vi.waitUntil(() => livenessOf(holder) === "unknown");
    child.kill("SIGCONT");
    await vi.waitUntil(() => livenessOf(holder) === "alive");
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(livenessOf(holder)).toBe("dead");
  });

  test("a number that another process took over since is not the process", () => {
    expect(livenessOf({ ...thisProcess(), start_time: "1" })).toBe("dead");
  });

  test("nothing is said of another boot or another pid namespace", () => {
    const me = thisProcess();
    expect(livenessOf({ ...me, boot_id: "another" })).toBe("unknown");
    expect(livenessOf({ ...me, boot_id: "" })).toBe("unknown");
    expect(livenessOf({ ...me, pid_namespace: "pid:[0]" })).toBe("unknown");
    expect(livenessOf({ ...me, start_time: "" })).toBe("unknown");
  });
});
