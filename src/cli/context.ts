import type { Command } from "commander";
import type { ExitCode } from "../model/errors.ts";
import type { ProviderLoader } from "../model/provider.ts";
import type { Shell } from "../operations/shell.ts";
import type { Out, Streams } from "./out.ts";
import type { SandboxLoader } from "./sandbox.ts";

/** A signal asked to stop, and whoever sleeps is woken by it. */
export interface Signals {
  interrupted: boolean;
  onInterrupt(wake: () => void): () => void;
}

/** What the command line is joined to from above. */
export interface Door {
  provider: ProviderLoader;
  sandbox: SandboxLoader;
  version: string;
  streams: Streams;
}

/** What every command works with. */
export interface Context {
  out: Out;
  shell: Shell;
  door: Door;
  signals: Signals;
  /** Whether somebody can be asked: both ends are a terminal, and no CI job runs this. */
  interactive: boolean;
}

export type Run = (context: Context, options: Record<string, unknown>, args: readonly string[]) => Promise<ExitCode>;
/** Makes a commander action of a command's body. */
export type Action = (run: Run) => (...args: unknown[]) => Promise<void>;

export interface CommandModule {
  /** Adds arguments, options, examples and the action. Loads nothing that only the action needs. */
  define(command: Command, action: Action): void;
}
