import { spawn } from "node:child_process";
import { resolve } from "node:path";
import type { Command } from "commander";
import { type ExitCode, invalid } from "../../model/errors.ts";
import type { Json } from "../../model/json.ts";
import { isLive, removeRunning, sandboxFolder, writeRunning } from "../../operations/sandbox.ts";
import { decodeUtf8, LARGEST_INPUT, readBounded } from "../../runtime/files.ts";
import type { Action, Context } from "../context.ts";
import { numberOption, textOption } from "../options.ts";
import type { SandboxTenant } from "../sandbox.ts";

/** `start` serves until it is stopped; `exec` serves for one command. */
export function defineServing(sandbox: Command, action: Action): void {
  sandbox
    .command("start")
    .description("serves the tenant on 127.0.0.1 until it is stopped")
    .option("--port <n>", "0: any free one", "0")
    .option("--seed <file>", "what the tenant starts with, as JSON")
    .option("--state <file>", "keeps the tenant in this file")
    .option("--lag <ms>", "how far reads are behind writes", "0")
    .action(
      action(async (context, options) => {
        const { tenant, folder } = await begin(context, options);
        context.out.answer({ url: tenant.url, pid: process.pid }, () => tenant.url);
        await stopped(context);
        await end(tenant, folder);
        return 0;
      }),
    );
  sandbox
    .command("exec")
    .description("serves the tenant while one command runs, and ends with its exit code")
    .option("--seed <file>", "what the tenant starts with, as JSON")
    .argument("<command...>")
    .addHelpText("after", "\nExamples:\n  $ provision sandbox exec -- npm test\n")
    .action(
      action(async (context, options, [program, ...args]) => {
        const { tenant, folder } = await begin(context, options);
        try {
          return await runChild(context, program as string, args);
        } finally {
          await end(tenant, folder);
        }
      }),
    );
}

async function begin(
  { shell, door }: Context,
  options: Record<string, unknown>,
): Promise<{ tenant: SandboxTenant; folder: string }> {
  const folder = sandboxFolder(shell);
  const live = await isLive(folder);
  if (live !== null)
    throw invalid(
      "sandbox_running",
      `A sandbox tenant already answers for this folder at ${live}.`,
      [],
      "Stop it first, or use it.",
    );
  const port = numberOption("--port", options.port, { min: 0, max: 65_535 }) ?? 0;
  const lagMs = numberOption("--lag", options.lag, { min: 0, max: 3_600_000 }) ?? 0;
  const seed = textOption(options.seed);
  const state = textOption(options.state);
  const { startTenant } = await door.sandbox();
  const tenant = await startTenant({
    port,
    lagMs,
    ...(seed === null ? {} : { seed: readSeed(resolve(shell.cwd, seed)) }),
    ...(state === null ? {} : { stateFile: resolve(shell.cwd, state) }),
  });
  writeRunning(folder, tenant, lagMs);
  return { tenant, folder };
}

function readSeed(path: string): Json {
  const { bytes } = readBounded(path, LARGEST_INPUT, "the seed");
  try {
    return JSON.parse(decodeUtf8(bytes, path));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw invalid("sandbox_seed", `The seed ${path} is no JSON: ${error.message}.`);
  }
}

async function end(tenant: SandboxTenant, folder: string): Promise<void> {
  removeRunning(folder, tenant.url);
  await tenant.close();
}

function stopped({ signals }: Context): Promise<void> {
  if (signals.interrupted) return Promise.resolve();
  return new Promise((done) => signals.onInterrupt(done));
}

/** The child works with the configuration that the tenant was started for, also where that one was named. */
function childEnv({ env, config, cwd }: Context["shell"]): NodeJS.ProcessEnv {
  return config === undefined ? env : { ...env, PROVISION_CONFIG: resolve(cwd, config) };
}

/** The child gets our terminal and its own answer counts; a signal to us is passed on, and a signalled child is 130. */
function runChild({ signals, shell }: Context, program: string, args: readonly string[]): Promise<ExitCode> {
  return new Promise((done, fail) => {
    const child = spawn(program, args, { stdio: "inherit", cwd: shell.cwd, env: childEnv(shell) });
    const forget = signals.onInterrupt(() => child.kill("SIGTERM"));
    child.once("error", (error) => {
      forget();
      fail(invalid("command_failed", `The command ${program} cannot be started: ${error.message}.`));
    });
    child.once("exit", (code, signal) => {
      forget();
      done((signal === null ? (code ?? 1) : 130) as ExitCode);
    });
  });
}
