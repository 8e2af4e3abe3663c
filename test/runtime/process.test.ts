import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, test } from "vitest";
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
