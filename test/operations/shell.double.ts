import type { Shell } from "../../src/operations/shell.ts";

/** A shell in this folder whose clock stands still and which hears no signal. */
export function shellIn(cwd: string, changes: Partial<Shell> = {}): Shell {
  return {
    cwd,
    config: undefined,
    env: { HOME: cwd, XDG_CONFIG_HOME: `${cwd}-settings` },
    provider: async () => undefined,
    now: () => 0,
    random: (bytes) => new Uint8Array(bytes),
    sleep: async () => {},
    interrupted: () => false,
    progress: () => {},
    ...changes,
  };
}
