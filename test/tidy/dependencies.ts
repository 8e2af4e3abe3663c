import { importsOf, packageOf } from "./imports.ts";
import { type File, isCode, isShipped, type Rule, type Violation } from "./source.ts";

interface Manifest {
  scripts?: Record<string, string>;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

/** Packages that nobody loads because a script starts them: the word in package.json's scripts that does.
 *  vite is what vitest runs on, and is named to hold it below 8.4, which `npm ci` cannot install. */
const TOOLS: Readonly<Record<string, string>> = {
  typescript: "tsc",
  "@biomejs/biome": "biome",
  vitest: "vitest",
  vite: "vitest",
};

function packagesIn(files: readonly File[]): { path: string; line: number; name: string }[] {
  return files.flatMap((file) =>
    importsOf(file).flatMap(({ specifier, line }) => {
      const name = specifier === null ? null : packageOf(specifier);
      return name === null ? [] : [{ path: file.path, line, name }];
    }),
  );
}

export const honestDependencies: Rule = {
  id: "honest-dependencies",
  name: "every dependency is named at one exact version and used, and nothing else is loaded",
  check(house) {
    const manifest = house.find(({ path }) => path === "package.json");
    if (!manifest) return [{ rule: "honest-dependencies", path: "package.json", line: 1, why: "is missing" }];
    const { scripts = {}, dependencies = {}, devDependencies = {} }: Manifest = JSON.parse(manifest.text);
    const shipped = packagesIn(house.filter(({ path }) => isShipped(path)));
    const rest = packagesIn(house.filter(({ path }) => isCode(path) && !isShipped(path)));
    const inManifest = (name: string, why: string): Violation => {
      const line = manifest.text.split("\n").findIndex((text) => text.includes(`"${name}":`)) + 1;
      return { rule: "honest-dependencies", path: "package.json", line, why: `${name} ${why}` };
    };
    const started = Object.values(scripts).join(" ").split(/\s+/);
    const used = new Set([...shipped, ...rest].map(({ name }) => name));
    const serves = (name: string) =>
      used.has(name) ||
      (name in TOOLS && started.includes(TOOLS[name]!)) ||
      name === "@types/node" ||
      used.has(name.replace(/^@types\//, ""));
    return [
      ...Object.entries({ ...dependencies, ...devDependencies })
        .filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))
        .map(([name, version]) => inManifest(name, `is named at ${version}, which is no exact version`)),
      ...Object.keys(dependencies)
        .filter((name) => !shipped.some((each) => each.name === name))
        .map((name) => inManifest(name, "ships with the product, and no file that ships loads it")),
      ...Object.keys(devDependencies)
        .filter((name) => !serves(name))
        .map((name) => inManifest(name, "is loaded by no test and started by no script")),
      ...shipped
        .filter(({ name }) => !(name in dependencies))
        .map(({ path, line, name }) => ({
          rule: "honest-dependencies",
          path,
          line,
          why: `${name} is none of the dependencies`,
        })),
      ...rest
        .filter(({ name }) => !(name in dependencies) && !(name in devDependencies))
        .map(({ path, line, name }) => ({
          rule: "honest-dependencies",
          path,
          line,
          why: `${name} is not in package.json`,
        })),
    ];
  },
};
