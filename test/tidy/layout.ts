import { type File, isCode, type Rule, type Violation } from "./source.ts";

const FOLDERS = new Set(["bin", "src", "providers", "plans", "test", "fixtures", ".ci", ".github"]);
const FILES = new Set([
  ".gitignore",
  "LICENSE",
  "README.md",
  "biome.json",
  "package-lock.json",
  "package.json",
  "tsconfig.build.json",
  "tsconfig.json",
  "vitest.config.ts",
]);

function where(house: readonly File[], rule: string, why: (file: File) => string | undefined): Violation[] {
  return house.flatMap((file) => {
    const reason = why(file);
    return reason === undefined ? [] : [{ rule, path: file.path, line: 1, why: reason }];
  });
}

export const fixedTop: Rule = {
  id: "fixed-top",
  name: "the top of the repository holds its fixed folders and files and no others",
  check: (house) =>
    where(house, "fixed-top", ({ path }) => {
      const [first, ...rest] = path.split("/");
      if (rest.length === 0) return FILES.has(path) ? undefined : "is no file of the top";
      return FOLDERS.has(first!) ? undefined : `lies in ${first}/, which is no room of the house`;
    }),
};

/** Beyond this nobody reads a file in one sitting. */
const LONGEST = 300;

export const shortFiles: Rule = {
  id: "short-files",
  name: `no source or test file is longer than ${LONGEST} lines`,
  check(house) {
    return house
      .filter(({ path }) => isCode(path) && /^(?:src|providers|bin|test)\//.test(path))
      .map(({ path, text }) => ({ path, lines: text.split("\n").length - (text.endsWith("\n") ? 1 : 0) }))
      .filter(({ lines }) => lines > LONGEST)
      .map(({ path, lines }) => ({ rule: "short-files", path, line: LONGEST + 1, why: `has ${lines} lines` }));
  },
};

const DRAWER = /^(?:(?:util|helper)s?|common|misc)$/i;

export const noDrawers: Rule = {
  id: "no-drawers",
  name: "no file or folder is named as a drawer for everything",
  check: (house) =>
    where(house, "no-drawers", ({ path }) => {
      const drawer = path.split(/[/._-]/).find((word) => DRAWER.test(word));
      return drawer === undefined ? undefined : `is called ${drawer}; name what is in it`;
    }),
};

export const dataOnly: Rule = {
  id: "data-only",
  name: "fixtures hold data and plans hold YAML, and neither holds code",
  check: (house) =>
    where(house, "data-only", ({ path }) => {
      if (path.startsWith("plans/") && !/\.ya?ml$/.test(path)) return "is no YAML";
      if (path.startsWith("fixtures/") && /\.(?:[cm]?[jt]sx?|sh|py)$/.test(path)) return "is code";
      return undefined;
    }),
};
