import { resolve } from "node:path";
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

/** A copy of the hashed bytes. It carries no authority. */
export function writePlan(desk: Desk, name: string, bytes: string): void {
  writeAtomically(resolve(desk.shell.cwd, name), bytes, 0o600);
}
