import type { ProviderLoader } from "../model/provider.ts";
import type { Instant } from "../model/reading.ts";

/** What happens while a use case runs, for whoever shows it. Never part of an answer. */
export type Progress =
  | { kind: "step"; step: number; action: string; target: string | null; word: string; detail: string | null }
  | { kind: "wait"; seconds: number; why: string }
  /** What a service answered, where the journal could not take it: to be shown whatever else is kept quiet. */
  | { kind: "unrecorded"; text: string };

/** Everything that a use case takes from outside. Handed in by a door (command line, agents), stood in for by tests. */
export interface Shell {
  cwd: string;
  /** The configuration's path where it was named. */
  config: string | undefined;
  env: NodeJS.ProcessEnv;
  provider: ProviderLoader;
  /** Milliseconds since the epoch. Within one process it never goes back, whatever the wall clock does. */
  now(): number;
  random(bytes: number): Uint8Array;
  sleep(ms: number): Promise<void>;
  /** A signal asked to stop. */
  interrupted(): boolean;
  progress(event: Progress): void;
}

export function instantOf(shell: Pick<Shell, "now">): Instant {
  return new Date(shell.now()).toISOString();
}
