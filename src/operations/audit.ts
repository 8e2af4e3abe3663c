import { loadConfig } from "../runtime/config.ts";
import { type Verification, verifyJournal } from "../runtime/journal/audit.ts";
import type { Shell } from "./shell.ts";

/** The keyless audit: of a copy that was named, else of this folder's journal with its mark. */
export function verifyHere(shell: Shell, file: string | null): Verification {
  if (file !== null) return verifyJournal(file);
  return verifyJournal(loadConfig({ cwd: shell.cwd, named: shell.config, env: shell.env }).stateDir);
}
