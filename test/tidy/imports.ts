import { posix } from "node:path";
import { type File, isCode, lineAt, sourceOf } from "./source.ts";

export interface Import {
  /** As written; null where it is computed and nobody can say what it loads. */
  specifier: string | null;
  /** The path from the top that a relative specifier means; null for a package. */
  target: string | null;
  /** What stands between `import` and `from`. Empty for a dynamic or bare import. */
  clause: string;
  line: number;
}

const FROM = /\b(?:import|export)\b([\w\s{},*$]*?)\bfrom\s*(?=["'])/g;
const BARE = /\bimport\s*(?=["'])/g;
const DYNAMIC = /\bimport\s*\(\s*(?=["'])/g;
/** An import of a computed name, or a way around `import`. */
const HIDDEN = /\bimport\s*\(\s*(?!["'\s])|(?<![.\w])require\s*\(|\bcreateRequire\b/g;

/** Everything that a file loads: types count, and so does what it loads only when asked. */
export function importsOf(file: File): Import[] {
  const { code, strings } = sourceOf(file);
  const found: Import[] = [];
  for (const pattern of [FROM, BARE, DYNAMIC, HIDDEN]) {
    for (const match of code.matchAll(pattern)) {
      const specifier = pattern === HIDDEN ? null : (strings.get(match.index + match[0].length) ?? null);
      found.push({
        specifier,
        target: specifier?.startsWith(".") ? posix.join(posix.dirname(file.path), specifier) : null,
        clause: match[1]?.trim() ?? "",
        line: lineAt(code, match.index),
      });
    }
  }
  return found.sort((a, b) => a.line - b.line);
}

/** `@scope/name/deep` and `name/deep` are the packages `@scope/name` and `name`. */
export function packageOf(specifier: string): string | null {
  if (specifier.startsWith(".") || specifier.startsWith("node:")) return null;
  const parts = specifier.split("/");
  return specifier.startsWith("@") ? parts.slice(0, 2).join("/") : parts[0]!;
}

export type Graph = ReadonlyMap<string, readonly { to: string; line: number }[]>;

/** Who loads whom inside the house. */
export function graphOf(house: readonly File[]): Graph {
  const known = new Set(house.map((file) => file.path));
  const graph = new Map<string, { to: string; line: number }[]>();
  for (const file of house.filter((each) => isCode(each.path))) {
    const edges = importsOf(file).flatMap(({ target, line }) =>
      target !== null && known.has(target) ? [{ to: target, line }] : [],
    );
    graph.set(file.path, edges);
  }
  return graph;
}

/** Everything that can be reached, each with the way that leads there (the root first, the file itself last). */
export function reach(graph: Graph, roots: readonly string[]): Map<string, string[]> {
  const ways = new Map<string, string[]>(roots.map((root) => [root, [root]]));
  // A map hands out what is added to it while one walks it.
  for (const [path, way] of ways) {
    for (const { to } of graph.get(path) ?? []) if (!ways.has(to)) ways.set(to, [...way, to]);
  }
  return ways;
}
