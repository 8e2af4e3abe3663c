import { type ChildProcess, spawn } from "node:child_process";
import { bounded, escapeText } from "../../model/text.ts";

const MOST_OUTPUT = 65_536;
const SHOWN_CELLS = 300;

/** What OpenSSH's tools need to find keys, agents, security keys and a way to ask; no token of ours is among it. */
const PASSED_ON = [
  "PATH HOME USER LOGNAME TERM TMPDIR DISPLAY WAYLAND_DISPLAY XAUTHORITY XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS",
  "SSH_AUTH_SOCK SSH_ASKPASS SSH_ASKPASS_REQUIRE SSH_SK_PROVIDER SSH_SK_HELPER SystemRoot USERPROFILE",
].flatMap((names) => names.split(" "));

export interface ToolOptions {
  /** Where the tool is found and what it sees; the process's own unless given. */
  env?: NodeJS.ProcessEnv;
  /** Whether the tool may ask the person at the terminal. Without it, it gets no terminal to ask at. */
  ask?: boolean;
  /** Milliseconds until it is ended. */
  timeoutMs?: number;
  /** Gets each line that the tool says meanwhile, escaped: "Confirm user presence for key …". */
  notice?: (line: string) => void;
}

/** `missing`: no such program. `rc` is null where it was ended by us or by a signal. */
export type ToolResult = { kind: "missing" } | { kind: "ended"; rc: number | null; stdout: string; said: string };

/** Runs one of OpenSSH's tools, without a shell, its input given and its output bounded. Never throws for what it does. */
export function runTool(
  argv: readonly [string, ...string[]],
  input: Uint8Array,
  options: ToolOptions,
): Promise<ToolResult> {
  const ask = options.ask ?? false;
  // A session of its own has no terminal, so nothing in it can stop and wait for a passphrase.
  const child = spawn(argv[0], argv.slice(1), { env: environment(options.env ?? process.env, ask), detached: !ask });
  const end = () => kill(child, !ask);
  const timer = setTimeout(end, options.timeoutMs ?? 300_000);
  const stdout = gather(child.stdout, end);
  const stderr = gather(child.stderr, end, options.notice);
  return new Promise((resolve) => {
    child.once("error", () => {
      clearTimeout(timer);
      resolve({ kind: "missing" });
    });
    child.once("close", (rc) => {
      clearTimeout(timer);
      const said = bounded(escapeText(stderr().trim().split(/\r?\n/).at(-1) ?? ""), SHOWN_CELLS);
      resolve({ kind: "ended", rc, stdout: stdout(), said });
    });
    // A tool that ends before it has read all says so by its exit code.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}

function environment(from: NodeJS.ProcessEnv, ask: boolean): NodeJS.ProcessEnv {
  const passed = PASSED_ON.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]]));
  return { ...Object.fromEntries(passed), LC_ALL: "C", ...(ask ? {} : { SSH_ASKPASS_REQUIRE: "never" }) };
}

function kill(child: ChildProcess, group: boolean): void {
  try {
    if (group && child.pid !== undefined && process.platform !== "win32") process.kill(-child.pid, "SIGKILL");
    else child.kill("SIGKILL");
  } catch {
    // It ended on its own in the meantime.
  }
}

/** Collects a stream up to the bound, and ends the tool beyond it. */
function gather(stream: NodeJS.ReadableStream, end: () => void, notice?: (line: string) => void): () => string {
  let text = "";
  let told = 0;
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => {
    text += chunk;
    if (text.length > MOST_OUTPUT) {
      text = text.slice(0, MOST_OUTPUT);
      return end();
    }
    for (let stop = text.indexOf("\n", told); notice !== undefined && stop >= 0; stop = text.indexOf("\n", told)) {
      notice(bounded(escapeText(text.slice(told, stop).replace(/\r$/, "")), SHOWN_CELLS));
      told = stop + 1;
    }
  });
  return () => text;
}
