import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { invalid, ProvisionError } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import { loadConfig } from "../runtime/config.ts";
import { writeAtomically } from "../runtime/files.ts";
import type { Shell } from "./shell.ts";

/** Where the embedded tenant of this folder leaves its address and tokens. */
export function sandboxFolder(shell: Shell): string {
  return join(loadConfig({ cwd: shell.cwd, named: shell.config, env: shell.env }).stateDir, "sandbox");
}

export interface Running {
  url: string;
  tokens: Record<"read" | "ordinary" | "privileged" | "control", string>;
}

/** Writes the tokens and, last of all, the address: whoever sees it finds everything else in place. */
export function writeRunning(folder: string, running: Running, lagMs: number): void {
  const state = join(folder, "..");
  for (const dir of [state, folder]) {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    chmodSync(dir, 0o700);
  }
  for (const [name, token] of Object.entries(running.tokens))
    writeAtomically(join(folder, `${name}.token`), `${token}\n`, 0o600);
  writeAtomically(join(folder, "lag"), `${lagMs}\n`, 0o600);
  writeAtomically(join(folder, "url"), `${running.url}\n`, 0o600);
}

/** Takes the address away, if it still is this tenant's: nobody finds a tenant that is gone. */
export function removeRunning(folder: string, url: string): void {
  if (read(folder, "url") === url) rmSync(join(folder, "url"), { force: true });
}

function read(folder: string, name: string): string | null {
  const path = join(folder, name);
  return existsSync(path) ? readFileSync(path, "utf8").trim() : null;
}

/** Whether a tenant answers at the address that stands in the folder. */
export async function isLive(folder: string): Promise<string | null> {
  const url = read(folder, "url");
  if (url === null) return null;
  try {
    const answer = await fetch(`${url}/_sandbox/faults`, {
      headers: control(folder),
      signal: AbortSignal.timeout(1000),
    });
    await answer.arrayBuffer();
    return answer.ok ? url : null;
  } catch {
    return null;
  }
}

function control(folder: string): Record<string, string> {
  return { authorization: `Bearer ${read(folder, "control.token") ?? ""}` };
}

/** Acts in the running tenant past its clients: the invited person, another administrator, whoever tests. */
export async function askSandbox(
  shell: Shell,
  method: "GET" | "POST" | "DELETE",
  path: string,
  body?: Json,
): Promise<Json> {
  const folder = sandboxFolder(shell);
  const url = read(folder, "url");
  if (url === null) throw notRunning();
  const init = {
    method,
    headers: { ...control(folder), "content-type": "application/json" },
    signal: AbortSignal.timeout(10_000),
  };
  const answer = await fetch(
    `${url}/_sandbox/${path}`,
    body === undefined ? init : { ...init, body: JSON.stringify(body) },
  ).catch(() => {
    throw notRunning();
  });
  const found = (await answer.json()) as { [key: string]: Json };
  if (answer.ok) return found;
  const message = typeof found.message === "string" ? found.message : `The sandbox answered ${answer.status}.`;
  throw new ProvisionError(typeof found.code === "string" ? found.code : "sandbox", 2, message);
}

function notRunning(): ProvisionError {
  return invalid("sandbox_not_running", "No sandbox tenant answers for this folder.", [], "provision sandbox start");
}
