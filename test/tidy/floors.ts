import { type Import, importsOf, packageOf } from "./imports.ts";
import { type File, isShipped, type Rule, type Violation } from "./source.ts";

/** Higher may load lower. Two rooms of one height may load each other. */
const HEIGHTS: readonly (readonly [room: string, height: number])[] = [
  ["bin/", 5],
  ["src/cli/", 4],
  ["src/mcp/", 4],
  ["src/operations/", 3],
  ["src/runtime/", 2],
  ["src/core/", 1],
  ["src/model/", 0],
];

function heightOf(path: string): number | undefined {
  return HEIGHTS.find(([room]) => path.startsWith(room))?.[1];
}

function eachImport(
  house: readonly File[],
  check: (path: string, imported: Import) => string | undefined,
  rule: string,
) {
  const found: Violation[] = [];
  for (const file of house.filter((each) => isShipped(each.path))) {
    for (const imported of importsOf(file)) {
      const why = check(file.path, imported);
      if (why !== undefined) found.push({ rule, path: file.path, line: imported.line, why });
    }
  }
  return found;
}

export const floors: Rule = {
  id: "floors",
  name: "imports go down a floor or stay on it, and never up",
  check(house) {
    const homeless = house
      .filter(({ path }) => isShipped(path) && !path.startsWith("providers/") && heightOf(path) === undefined)
      .map(({ path }) => ({ rule: "floors", path, line: 1, why: "stands on no floor" }));
    const climbs = eachImport(
      house,
      (path, { target }) => {
        const from = heightOf(path);
        const to = target === null ? undefined : heightOf(target);
        return from !== undefined && to !== undefined && to > from ? `loads ${target}, a floor above` : undefined;
      },
      "floors",
    );
    return [...homeless, ...climbs];
  },
};

export const providersApart: Rule = {
  id: "providers-apart",
  name: "a provider loads the model, its own folder and zod, and only bin loads a provider",
  check(house) {
    return eachImport(
      house,
      (path, { specifier, target }) => {
        if (path.startsWith("providers/")) return providerMayLoad(path, specifier, target);
        if (path.startsWith("src/") && target?.startsWith("providers/"))
          return `loads ${target}: only bin joins the engine to providers`;
        return undefined;
      },
      "providers-apart",
    );
  },
};

function providerMayLoad(path: string, specifier: string | null, target: string | null): string | undefined {
  if (target?.startsWith("src/model/")) return undefined;
  const own = /^providers\/[^/]+\//.exec(path)?.[0];
  if (own === undefined) {
    if (path !== "providers/index.ts") return "stands in no provider's folder";
    return target !== null && /^providers\/[^/]+\//.test(target)
      ? undefined
      : `loads ${specifier}: the list names only providers`;
  }
  if (target?.startsWith(own)) return undefined;
  if (specifier === "zod" || specifier?.startsWith("zod/")) return undefined;
  // The sandbox's tenant is a server of its own that happens to ship in the same package.
  if (specifier?.startsWith("node:") && path.startsWith("providers/sandbox/tenant/")) return undefined;
  return `loads ${specifier}: what a provider needs is handed to it`;
}

/** Where a library is at home. Whoever else needs what it does asks the room that owns it. */
const HOMES: readonly (readonly [library: string, rooms: readonly string[]])[] = [
  ["commander", ["src/cli/"]],
  ["ink", ["src/cli/"]],
  ["react", ["src/cli/"]],
  ["cli-table3", ["src/cli/"]],
  ["better-sqlite3", ["src/runtime/journal"]],
  ["undici", ["src/runtime/http"]],
  ["p-retry", ["src/runtime/http"]],
  ["yaml", ["src/runtime/"]],
  ["zod", ["src/model/", "src/runtime/", "src/mcp/", "providers/"]],
  ["canonicalize", ["src/model/json.ts"]],
];

export const libraryHomes: Rule = {
  id: "library-homes",
  name: "each library is loaded only in the room that owns it",
  check(house) {
    return eachImport(
      house,
      (path, { specifier }) => {
        const library = specifier === null ? null : packageOf(specifier);
        const home = HOMES.find(([name]) => name === library);
        if (!home || home[1].some((room) => path.startsWith(room))) return undefined;
        return `loads ${library}, which is at home in ${home[1].join(", ")}`;
      },
      "library-homes",
    );
  },
};

export const openImports: Rule = {
  id: "open-imports",
  name: "every import says in plain letters what it loads",
  check(house) {
    return eachImport(
      house,
      (_, { specifier }) =>
        specifier === null ? "loads something whose name is computed; no rule can follow it" : undefined,
      "open-imports",
    );
  },
};
