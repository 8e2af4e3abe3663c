import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Planted } from "./planted.ts";

/** A copy of the built machine and simulator with one mistake in it. */
export interface Spoilt {
  worker: URL;
  remove(): void;
}

/** @param root - the folder with `dist` and `node_modules` */
export function spoil(root: string, { name, file, from, to }: Planted): Spoilt {
  const copy = mkdtempSync(join(tmpdir(), "provision-planted-"));
  const built = join(copy, "dist");
  for (const part of ["src", "test/simulation"])
    cpSync(join(root, "dist", part), join(built, part), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  writeFileSync(join(copy, "package.json"), '{"type":"module"}');
  const path = join(built, file);
  const text = readFileSync(path, "utf8");
  const parts = text.split(from);
  if (parts.length !== 2) throw new Error(`"${name}" is to replace what stands ${parts.length - 1} times in ${file}`);
  writeFileSync(path, parts.join(to));
  return {
    worker: pathToFileURL(join(built, "test/simulation/worker.js")),
    remove: () => rmSync(copy, { recursive: true }),
  };
}
