import { type Graph, graphOf, importsOf, reach } from "./imports.ts";
import { type File, isShipped, offsetsOf, type Rule, sourceOf, type Violation } from "./source.ts";

export const noCircles: Rule = {
  id: "no-circles",
  name: "no file loads itself on a way round, not even for a type",
  check(house) {
    const graph = graphOf(house);
    const found: Violation[] = [];
    const done = new Set<string>();
    const visit = (path: string, way: string[]) => {
      for (const { to, line } of graph.get(path) ?? []) {
        const start = way.indexOf(to);
        if (start !== -1) {
          found.push({ rule: "no-circles", path, line, why: `a circle: ${[...way.slice(start), to].join(" → ")}` });
        } else if (!done.has(to)) {
          visit(to, [...way, to]);
        }
      }
      done.add(path);
    };
    for (const path of graph.keys()) if (!done.has(path)) visit(path, [path]);
    return found;
  },
};

/** Where a person's word is taken or made. Verifying a signature is not among it: a run needs that. */
const DECIDES = [
  /^src\/(?:operations|cli)\/(?:.*\/)?(?:[a-z]+-)*(?:approve|approvals|deny|resolve|trust)(?:-[a-z]+)*(?:\.tsx?|\/)/,
  /^src\/runtime\/(?:.*\/)?(?:[a-z]+-)*(?:sign|signer|signing|keygen)(?:-[a-z]+)*\.ts$/,
];

export const agentsDecideNothing: Rule = {
  id: "agents-decide-nothing",
  name: "nothing that signs or decides can be reached from the door for agents",
  check(house) {
    const graph = graphOf(house);
    const found: Violation[] = [];
    for (const path of graph.keys()) {
      if (!path.startsWith("src/mcp/")) continue;
      for (const [reached, way] of reach(graph, [path])) {
        if (!DECIDES.some((pattern) => pattern.test(reached))) continue;
        found.push({
          rule: "agents-decide-nothing",
          path,
          line: lineOf(graph, way),
          why: `reaches ${way.slice(1).join(" → ")}`,
        });
      }
    }
    return found;
  },
};

function lineOf(graph: Graph, way: readonly string[]): number {
  return graph.get(way[0]!)?.find(({ to }) => to === way[1])?.line ?? 1;
}

export const noDeadFiles: Rule = {
  id: "no-dead-files",
  name: "every file of src and providers is reached from bin",
  check(house) {
    const graph = graphOf(house);
    const roots = [...graph.keys()].filter((path) => path.startsWith("bin/"));
    const alive = reach(graph, roots);
    return house
      .filter((file) => isShipped(file.path) && !alive.has(file.path) && !describesLoaded(file, house))
      .map(({ path }) => ({ rule: "no-dead-files", path, line: 1, why: "nobody who starts in bin/ ever loads it" }));
  },
};

/** A declaration file is loaded by nobody; it lives as long as somebody loads the library that it describes. */
function describesLoaded(file: File, house: readonly File[]): boolean {
  if (!file.path.endsWith(".d.ts")) return false;
  const { code, strings } = sourceOf(file);
  const described = offsetsOf(/(?<=\bdeclare\s+module\s+)["']/, code).map((offset) => strings.get(offset));
  return house.some(
    (other) =>
      isShipped(other.path) &&
      importsOf(other).some(({ specifier }) => specifier !== null && described.includes(specifier)),
  );
}
