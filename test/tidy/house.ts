import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { File } from "./source.ts";

/** What git ignores, wherever it stands: made by tools, kept by nobody. */
const IGNORED = new Set([".git", "node_modules", "dist", ".provision", "coverage"]);

/** Every file of the repository as it lies on the disk, so that it also works in a copy without git. */
export function readHouse(top: string): File[] {
  const files: File[] = [];
  const walk = (folder: string) => {
    for (const entry of readdirSync(join(top, folder), { withFileTypes: true })) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (IGNORED.has(entry.name) || entry.name.endsWith(".tsbuildinfo")) continue;
      if (entry.isDirectory()) walk(path);
      else if (entry.isFile()) files.push({ path, text: readFileSync(join(top, path), "utf8") });
    }
  };
  walk("");
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}
