import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { SourceFile } from "../model/proof.ts";

/** The file that holds the proof itself, and the sandbox's own server, which is no part of what is proven. */
const LEFT_OUT = /^(?:conformance\.ts$|tenant\/)/;

/**
 * The sources that a provider's folder was made of: its TypeScript where that is what runs, else what the compiler kept
 * of it in the source maps, so that a build carries its own origin and cannot be older than it looks. Undefined where
 * one of the modules does not say what it was made of.
 */
export function sourcesIn(folder: URL): SourceFile[] | undefined {
  const top = fileURLToPath(folder);
  const paths = readdirSync(top, { recursive: true, encoding: "utf8" }).map((path) => path.split(sep).join("/"));
  const written = paths.filter((path) => /(?<!\.d)\.ts$/.test(path));
  const modules = paths.filter((path) => path.endsWith(".js"));
  const found =
    written.length > 0
      ? written.map((path) => ({ path, text: readFileSync(join(top, path), "utf8") }))
      : modules.map((path) => ({ path: path.replace(/\.js$/, ".ts"), text: originOf(join(top, path)) }));
  const kept = found.filter(({ path }) => !LEFT_OUT.test(path));
  const told = kept.filter((file): file is SourceFile => file.text !== undefined);
  return told.length > 0 && told.length === kept.length ? told : undefined;
}

function originOf(module: string): string | undefined {
  const map = `${module}.map`;
  if (!existsSync(map)) return undefined;
  const { sources, sourcesContent } = JSON.parse(readFileSync(map, "utf8")) as {
    sources?: string[];
    sourcesContent?: (string | null)[];
  };
  return sources?.length === 1 ? (sourcesContent?.[0] ?? undefined) : undefined;
}
