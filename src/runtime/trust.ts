import { createHash } from "node:crypto";
import { mkdirSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import envPaths from "env-paths";
import { z } from "zod";
import { invalid } from "../model/errors.ts";
import { LARGEST_INPUT, readBounded, writeAtomically } from "./files.ts";

/** Real path of a configuration to the hash of the bytes that its user trusts. */
const Store = z.strictObject({ version: z.literal(1), files: z.record(z.string(), z.string()) });
type Store = z.infer<typeof Store>;

/** A configuration as far as trust is concerned. */
export interface Standing {
  /** The real path of the file. */
  path: string;
  dir: string;
  trusted: boolean;
}

/** The user's own folder for settings of `provision`; `XDG_CONFIG_HOME` moves it. */
export function configHome(env: NodeJS.ProcessEnv): string {
  const home = env.XDG_CONFIG_HOME;
  return home !== undefined && isAbsolute(home)
    ? join(home, "provision")
    : envPaths("provision", { suffix: "" }).config;
}

/** Trusts the configuration as it stands now; a later change loses it again. Makes the user's folder where it is missing. */
export function trust(path: string, env: NodeJS.ProcessEnv): void {
  const real = realpathSync(path);
  const { bytes } = readBounded(real, LARGEST_INPUT, "the configuration");
  const store = read(env);
  mkdirSync(configHome(env), { recursive: true, mode: 0o700 });
  const files = { ...store.files, [real]: hash(bytes) };
  writeAtomically(storePath(env), `${JSON.stringify({ version: 1, files } satisfies Store, null, 2)}\n`, 0o600);
}

/** Whether these very bytes are trusted under this path. */
export function isTrusted(path: string, bytes: Uint8Array, env: NodeJS.ProcessEnv): boolean {
  const { files } = read(env);
  const real = realpathSync(path);
  return Object.hasOwn(files, real) && files[real] === hash(bytes);
}

function storePath(env: NodeJS.ProcessEnv): string {
  return join(configHome(env), "trusted.json");
}

function hash(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

/** A store that is missing, broken or open to other writers trusts nothing. */
function read(env: NodeJS.ProcessEnv): Store {
  const nothing: Store = { version: 1, files: {} };
  try {
    const { bytes, stats } = readBounded(storePath(env), LARGEST_INPUT, "the list of trusted configurations");
    if (isForeign(stats)) return nothing;
    return Store.parse(JSON.parse(bytes.toString("utf8")));
  } catch {
    return nothing;
  }
}

/** Whether somebody else owns the file or may write it. Systems without user ids have no such notion. */
function isForeign(stats: { uid: number; mode: number }): boolean {
  const uid = process.getuid?.();
  return uid !== undefined && (stats.uid !== uid || (stats.mode & 0o022) !== 0);
}

/**
 * The absolute path of a file that the configuration names: catalogue, policy, approvers, revocation list.
 *
 * @param what - How messages call it.
 * @throws exit 2 `untrusted` where it lies outside the folder, also by a link, and the configuration is not trusted.
 */
export function pathOf(from: Standing, file: string, what: string): string {
  const path = resolve(from.dir, file);
  if (from.trusted || isInside(from.dir, realOf(path))) return path;
  throw untrusted(from, `${what} outside its folder (${path})`);
}

/** Where the path leads; of one that does not exist yet, where its nearest existing folder leads. */
function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : resolve(realOf(above), relative(above, path));
  }
}

function isInside(folder: string, path: string): boolean {
  const way = relative(realpathSync(folder), path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** @param what - What the configuration asks for, as the object of a sentence. */
export function untrusted(from: Standing, what: string): Error {
  const message = `${from.path} was found by walking up and is not trusted as it stands, and it asks for ${what}.`;
  const hint = "Read the file; if you stand behind it: provision trust";
  return invalid("untrusted", message, [{ path: from.path, code: "untrusted", found: what }], hint);
}
