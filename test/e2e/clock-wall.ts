import { execFile, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { openJournal } from "../../src/runtime/journal/journal.ts";
import { PROVISION } from "./built.ts";
import type { Desk, Operation } from "./desk.ts";

export const DAY = 86_400_000;

/** A wall clock that is off by what stands in a file, looked up at each look at the clock. */
const CLOCK = (file: string) => `
import { readFileSync } from "node:fs";
const Real = globalThis.Date;
const now = () => Real.now() + Number(readFileSync(${JSON.stringify(file)}, "utf8"));
globalThis.Date = class Date extends Real {
  constructor(...given) {
    if (given.length === 0) super(now());
    else super(...given);
  }
  static now() {
    return now();
  }
};`;

export interface Ran {
  code: number;
  left: Operation;
  /** By a clock that does not jump, in milliseconds. */
  tookMs: number;
}

/** The wall clock that the command under test sees, in the hand of the test. */
export interface Wall {
  /** Sets it ahead of the true one, or behind it, in milliseconds. */
  off(ms: number): void;
  /** The built command under that clock. What waits for a day is ended after some seconds. */
  run(...args: string[]): Promise<Ran>;
  /** The same, while everything else in this process stands still. */
  runNow(by: number, ...args: string[]): { code: number | null; left: Operation };
}

export function wallOf(desk: Desk): Wall {
  const file = (by: number) => {
    const path = desk.file(`clock${by === 0 ? "" : `-${by}`}`);
    return {
      path,
      env: { ...desk.env, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(CLOCK(path))}` },
    };
  };
  const shared = file(0);
  return {
    off: (ms) => writeFileSync(shared.path, String(ms)),
    run: (...args) => {
      const began = performance.now();
      const options = { cwd: desk.dir, env: shared.env, timeout: 8_000, killSignal: "SIGKILL" as const };
      return new Promise((done, fail) => {
        execFile(process.execPath, [PROVISION, ...args, "--json"], options, (error, stdout, stderr) => {
          desk.printed.push(stdout, stderr);
          if (error && typeof error.code !== "number") return fail(new Error(`${args.join(" ")} never ended`));
          const code = typeof error?.code === "number" ? error.code : 0;
          done({ code, left: JSON.parse(stdout), tookMs: performance.now() - began });
        });
      });
    },
    runNow(by, ...args) {
      const { path, env } = file(by);
      writeFileSync(path, String(by));
      const ran = spawnSync(process.execPath, [PROVISION, ...args, "--json"], { cwd: desk.dir, env, encoding: "utf8" });
      desk.printed.push(ran.stdout, ran.stderr);
      return { code: ran.status, left: JSON.parse(ran.stdout) };
    },
  };
}

/** When each entry of the operation says that it was written. */
export function timesOf(desk: Desk, op: string): number[] {
  const io = { now: () => new Date().toISOString(), random: () => new Uint8Array() };
  const journal = openJournal({ dir: desk.file(".provision"), readOnly: true, ...io });
  try {
    return journal.read(op).map(({ at }) => Date.parse(at));
  } finally {
    journal.close();
  }
}
