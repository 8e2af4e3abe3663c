import { Command, CommanderError, Option } from "commander";
import { type ExitCode, ProvisionError } from "../model/errors.ts";
import { COMMANDS } from "./commands.ts";
import type { CommandModule, Door } from "./context.ts";
import { asProvisionError, errorDocument, errorText, type Out, openOut } from "./out.ts";
import { listenForSignals, shellFor } from "./shell.ts";

interface Globals {
  json?: boolean;
  quiet?: boolean;
  verbose?: boolean;
  config?: string;
  C?: string;
}

/** Commands that a signal lets finish what is in the air. Any other is left at once: nothing of it is. */
const UNHURRIED: readonly string[] = ["run", "rollback", "sandbox"];

/** Runs one command line. Never throws; the answer is the exit code. */
export async function main(argv: readonly string[], door: Door): Promise<ExitCode> {
  const wanted = namedCommand(argv);
  let exit: ExitCode = 0;
  const program = programFor(door);
  const once = onlyOnce();
  const asked = { json: argv.includes("--json"), quiet: false, verbose: argv.includes("--verbose") };
  const plain = openOut(door.streams, asked, once);
  const signals = listenForSignals(wanted !== undefined && UNHURRIED.includes(wanted), (name) => {
    failed(interruptedBy(name, wanted), plain, door);
  });
  try {
    for (const [name, { summary, load }] of Object.entries(COMMANDS)) {
      const command = program.command(name).description(summary);
      quiet(command, plain);
      if (name !== wanted) continue;
      const module: CommandModule = await load();
      module.define(command, (run) => async (...args) => {
        const globals = command.optsWithGlobals<Globals>();
        const { json, quiet, verbose } = globals;
        const wishes = { json: json === true, quiet: quiet === true, verbose: verbose === true };
        const out = openOut(door.streams, wishes, once);
        const shell = shellFor(door, { dir: globals.C, config: globals.config }, signals, out);
        const leaf = args.at(-1) as Command;
        exit = await run({ out, shell, door, signals, interactive: isInteractive() }, leaf.opts(), leaf.args);
      });
      for (const inner of command.commands) quiet(inner, plain);
    }
    if (argv.length === 0) {
      program.outputHelp();
      return 2;
    }
    await program.parseAsync([...argv], { from: "user" });
    return exit;
  } catch (thrown) {
    return failed(thrown, plain, door);
  }
}

/** True the first time: a process gives one answer, also where a signal gives it. */
function onlyOnce(): () => boolean {
  let answered = false;
  return () => {
    const first = !answered;
    answered = true;
    return first;
  };
}

function interruptedBy(name: string, command = ""): ProvisionError {
  const message = `${["provision", command].join(" ").trim()} was ended by ${name} before it had its answer.`;
  return new ProvisionError("interrupted", 130, message, { hint: "Run it again." });
}

function failed(thrown: unknown, out: Out, door: Door): ExitCode {
  if (thrown instanceof CommanderError) {
    if (thrown.exitCode === 0) return 0;
    return failed(usage(thrown), out, door);
  }
  const error = asProvisionError(thrown);
  if (out.json) out.answer({ error: errorDocument(error) }, () => "");
  else door.streams.stderr.write(`${errorText(error)}\n`);
  if (error.code === "internal" && thrown instanceof Error && thrown.stack) out.detail(thrown.stack);
  return error.exit;
}

function usage(error: CommanderError): ProvisionError {
  const message = error.message.replace(/^error: /, "");
  return new ProvisionError("usage", 2, message === "(outputHelp)" ? "A command is missing." : message, {
    hint: "provision --help",
  });
}

function programFor(door: Door): Command {
  const program = new Command("provision")
    .description("Grants and takes back people's access to SaaS tenants, one proven and reversible change at a time.")
    .version(door.version, "--version", "prints the version")
    .option("-C <dir>", "works in this folder")
    .option("--config <file>", "the configuration to use, instead of the nearest provision.yaml")
    .option("--json", "prints exactly one JSON document")
    .addOption(new Option("--no-color", "prints no colour; NO_COLOR does the same"))
    .option("--quiet", "prints no progress")
    .option("--verbose", "prints more")
    .helpOption("--help", "prints help")
    .helpCommand(false)
    .showHelpAfterError(false)
    .addHelpText("after", EXAMPLES);
  quiet(program, null);
  program.configureOutput({ writeOut: (text) => door.streams.stdout.write(text), writeErr: () => {} });
  return program;
}

const EXAMPLES = `
Examples:
  $ provision init --provider sandbox
  $ provision sandbox start &
  $ provision plan plans/joiner.yaml
  $ provision approve @last
  $ provision run @last
  $ provision status @last
  $ provision rollback @last
`;

/** Errors are thrown to `main`, which prints them in one form; help goes to stdout. */
function quiet(command: Command, out: Out | null): void {
  command
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .helpOption("--help", "prints help")
    .allowExcessArguments(false);
  if (out) command.configureOutput({ writeErr: () => {} });
}

/** The first word that is no option and no option's value. */
function namedCommand(argv: readonly string[]): string | undefined {
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] as string;
    if (word === "-C" || word === "--config") i += 1;
    else if (!word.startsWith("-")) return word;
  }
  return undefined;
}

function isInteractive(): boolean {
  const ci = process.env.CI;
  return (
    process.stdin.isTTY === true &&
    process.stdout.isTTY === true &&
    process.stderr.isTTY === true &&
    (ci === undefined || ci === "" || ci === "0" || ci === "false")
  );
}
