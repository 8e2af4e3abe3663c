import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Whether OpenSSH's tool is here. Tests that compare with it say so in their name where they are skipped. */
export const hasSshKeygen = spawnSync("ssh-keygen", ["-?"]).error === undefined;
export const withSshKeygen = hasSshKeygen ? "" : " (skipped: ssh-keygen is not installed)";

export function sshKeygen(argv: string[], input: Uint8Array | string = ""): string {
  return execFileSync("ssh-keygen", argv, { input, encoding: "utf8", stdio: ["pipe", "pipe", "pipe"] });
}

/** The exit code alone, where a refusal is looked for. */
export function sshKeygenCode(argv: string[], input: Uint8Array | string = ""): number | null {
  return spawnSync("ssh-keygen", argv, { input }).status;
}

/** Gives a folder to the test and takes it away after. */
export async function inFolder<T>(use: (folder: string) => T | Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "provision-test-"));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
