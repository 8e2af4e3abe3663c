import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import type { Shell } from "../operations/shell.ts";
import type { Door, Signals } from "./context.ts";
import type { Out } from "./out.ts";

/**
 * Where a command is `unhurried`, the first signal lets the request in the air be settled; a second one leaves at once.
 * Any other is left at the first one, after its `farewell`. Never with 0.
 */
export function listenForSignals(unhurried: boolean, farewell: (name: string) => void): Signals {
  const wakers = new Set<() => void>();
  const signals: Signals = {
    interrupted: false,
    onInterrupt(wake) {
      wakers.add(wake);
      return () => wakers.delete(wake);
    },
  };
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => {
      if (!signals.interrupted && !unhurried) farewell(name);
      if (signals.interrupted || !unhurried) process.exit(130);
      signals.interrupted = true;
      for (const wake of wakers) wake();
    });
  }
  return signals;
}

/** A clock that begins at the wall's time and then only counts on, so that a wall clock set back bends no time limit. */
const BEGAN = Date.now() - performance.now();

export function shellFor(
  door: Door,
  options: { dir: string | undefined; config: string | undefined },
  signals: Signals,
  out: Out,
): Shell {
  return {
    cwd: resolve(options.dir ?? "."),
    config: options.config,
    env: process.env,
    provider: door.provider,
    now: () => Math.floor(BEGAN + performance.now()),
    random: (bytes) => randomBytes(bytes),
    sleep: (ms) => sleep(ms, signals),
    interrupted: () => signals.interrupted,
    progress(event) {
      if (event.kind === "unrecorded") out.show(event.text);
      else if (event.kind === "wait") out.say(`      waiting ${event.seconds} s (${event.why})`);
      else
        out.say(
          `${String(event.step).padEnd(4)}  ${[event.action, event.target].filter(Boolean).join(" ").padEnd(27)}${event.word}${event.detail === null ? "" : `: ${event.detail}`}`,
        );
    },
  };
}

function sleep(ms: number, signals: Signals): Promise<void> {
  if (signals.interrupted) return Promise.resolve();
  return new Promise((done) => {
    // A longer one would be over at once (Node.js, setTimeout); whoever sleeps looks at the clock again anyway.
    const timer = setTimeout(end, Math.min(ms, 2_147_483_647));
    const forget = signals.onInterrupt(end);
    function end() {
      clearTimeout(timer);
      forget();
      done();
    }
  });
}
