import { statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { invalid } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import { decodeUtf8, LARGEST_INPUT, readStream, writeAtomically } from "../runtime/files.ts";
import { readYaml, readYamlFile } from "../runtime/yaml.ts";
import type { Desk } from "./desk.ts";

/** A request from a file, or from standard input where the name is `-`. */
export async function readRequest(desk: Desk, name: string): Promise<Json> {
  if (name !== "-") return readYamlFile(resolve(desk.shell.cwd, name), "the request");
  const bytes = await readStream(process.stdin, LARGEST_INPUT, "the request on standard input");
  return readYaml(decodeUtf8(bytes, "-"), { file: "-" });
}

/** Where an answer is to be written; exit 2 where nothing can be, and before anything is done for it. */
export function outFile(desk: Desk, name: string): string {
  const path = resolve(desk.shell.cwd, name);
  const folder = statSync(dirname(path), { throwIfNoEntry: false });
  if (!folder?.isDirectory())
    throw invalid("no_such_folder", `There is no folder ${dirname(path)} to write ${basename(path)} into.`, [
      { path: "--out", code: "no_such_folder", found: name },
    ]);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw invalid("is_a_folder", `${path} is a folder; name a file in it.`, [
      { path: "--out", code: "is_a_folder", found: name },
    ]);
  return path;
}

/** A copy of the hashed bytes, at a path that `outFile` gave. It carries no authority. */
export function writePlan(path: string, bytes: string): void {
  writeAtomically(path, bytes, 0o600);
}
