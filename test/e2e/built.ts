import { spawn } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { fileURLToPath, pathToFileURL } from "node:url";
import { constants, runInThisContext } from "node:vm";
import type { main as Main } from "../../src/cli/main.ts";
import type { ProviderLoader } from "../../src/model/provider.ts";

const TOP = fileURLToPath(new URL("../..", import.meta.url));
/** What a user installs and starts. */
export const PROVISION = join(TOP, "dist", "bin", "provision.js");

/** These tests are about what was built; a build that is older than the source would be another product. */
export function refuseStaleBuild(): void {
  const stale = sources().filter((file) => {
    const built = join(TOP, "dist", file.replace(/\.ts$/, ".js"));
    return !existsSync(built) || statSync(built).mtimeMs < statSync(join(TOP, file)).mtimeMs;
  });
  if (stale.length === 0) return;
  const [first] = stale;
  throw new Error(
    `dist/ is missing or older than the source (${first}${stale.length > 1 ? ` and ${stale.length - 1} more` : ""}): npm run build, then test again.`,
  );
}

function sources(): string[] {
  return ["bin", "src", "providers"].flatMap((folder) =>
    readdirSync(join(TOP, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts"))
      .map((name) => join(folder, name)),
  );
}

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** The built command as a process of its own, without a terminal. */
export function runChild(
  args: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv; input?: string },
): Promise<Ran> {
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, [PROVISION, ...args], { cwd: options.cwd, env: options.env });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text) => {
      stderr += text;
    });
    child.stdin.on("error", () => {});
    child.stdin.end(options.input ?? "");
    child.once("error", fail);
    child.once("close", (code) => done({ code, stdout, stderr }));
  });
}

interface Built {
  main: typeof Main;
  provider: ProviderLoader;
}

let built: Promise<Built> | undefined;

/** Loads as Node itself does: what the test runner would make of these files is not what was built. */
const load: (url: string) => Promise<Built & Loads> = runInThisContext("(url) => import(url)", {
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
});

interface Loads {
  loadProvider(name: string, sourcesIn: unknown): ReturnType<ProviderLoader>;
  sourcesIn: unknown;
}

async function loadBuilt(): Promise<Built> {
  const paths = ["src/cli/main.js", "providers/index.js", "src/runtime/sources.js"];
  const urls = paths.map((path) => pathToFileURL(join(TOP, "dist", path)).href);
  const { main, loadProvider, sourcesIn } = Object.assign({}, ...(await Promise.all(urls.map(load)))) as Built & Loads;
  return { main, provider: (name) => loadProvider(name, sourcesIn) };
}

/**
 * The same built command, called in this process: for tests that need it by the hundred, where starting a process each
 * time would take minutes. It gets the folder by `-C` and the environment of the desk.
 */
export async function runHere(args: readonly string[], options: { cwd: string; env: NodeJS.ProcessEnv }): Promise<Ran> {
  built ??= loadBuilt();
  const { main, provider } = await built;
  const kept = { ...process.env };
  const listeners = new Map(SIGNALS.map((name) => [name, process.listeners(name)]));
  const streams = { stdout: collector(), stderr: collector() };
  replaceEnv(options.env);
  try {
    const code = await main(["-C", options.cwd, ...args], {
      provider,
      sandbox: () => Promise.reject(new Error("a tenant is a process of its own")),
      version: "0.0.0",
      streams,
    });
    return { code, stdout: streams.stdout.text(), stderr: streams.stderr.text() };
  } finally {
    replaceEnv(kept);
    for (const [name, before] of listeners)
      for (const one of process.listeners(name)) if (!before.includes(one)) process.removeListener(name, one);
  }
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

function replaceEnv(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
}

function collector(): NodeJS.WritableStream & { text(): string } {
  const written: Buffer[] = [];
  const stream = new Writable({
    write(chunk, _encoding, next) {
      written.push(Buffer.from(chunk));
      next();
    },
  });
  return Object.assign(stream, { text: () => Buffer.concat(written).toString("utf8") });
}
