import { loadConfig } from "../runtime/config.ts";
import { trust } from "../runtime/trust.ts";
import type { Shell } from "./shell.ts";

/** Keeps the hash of the configuration that applies here in the user's own folder. */
export function trustHere(shell: Shell): string {
  const { path } = loadConfig({ cwd: shell.cwd, named: shell.config, env: shell.env });
  trust(path, shell.env);
  return path;
}
