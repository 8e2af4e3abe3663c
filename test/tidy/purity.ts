import { importsOf } from "./imports.ts";
import { type File, isCode, lineAt, offsetsOf, type Rule, sourceOf, type Violation } from "./source.ts";

/** What `core` and `model` may take from `node:crypto`: functions of their arguments alone. */
const DIGESTS = new Set([
  "createHash",
  "createHmac",
  "hash",
  "timingSafeEqual",
  "Hash",
  "Hmac",
  "BinaryToTextEncoding",
]);

const CORE = /^src\/core\//;
const MODEL_OR_CORE = /^src\/(?:model|core)\//;

/** Words that reach outside. A property of the same name is another thing, hence the look behind for a dot. */
const OUTSIDE: readonly (readonly [rooms: RegExp, pattern: RegExp, why: string])[] = [
  [MODEL_OR_CORE, /\bDate\s*\.\s*now\b/, "asks the clock; the time is handed in"],
  [MODEL_OR_CORE, /\bnew\s+Date\s*\(\s*\)|\bnew\s+Date\b(?!\s*\()/, "asks the clock; the time is handed in"],
  [MODEL_OR_CORE, /(?<!\bnew\s+)(?<![.\w$])Date\s*\(/, "asks the clock; the time is handed in"],
  [MODEL_OR_CORE, /(?<![.\w$])performance\b/, "asks the clock; the time is handed in"],
  [MODEL_OR_CORE, /\bMath\s*\.\s*random\b/, "rolls dice; randomness is handed in"],
  [MODEL_OR_CORE, /(?<![.\w$])(?:crypto|webcrypto)\s*\./, "reaches for the global crypto, which rolls dice"],
  [MODEL_OR_CORE, /(?<![.\w$])(?:process|console|globalThis)\s*[.[]/, "reaches outside the function"],
  [
    MODEL_OR_CORE,
    /(?<![.\w$])(?:setTimeout|setInterval|setImmediate|queueMicrotask)\b/,
    "waits; waiting is a move that the loop makes",
  ],
  [MODEL_OR_CORE, /(?<![.\w$])async\b(?!\s*[?:,;)=}])/, "is asynchronous; only the runtime does things"],
  [MODEL_OR_CORE, /(?<![.\w$])await\b/, "is asynchronous; only the runtime does things"],
  [MODEL_OR_CORE, /\bnew\s+Promise\b|(?<![.\w$])Promise\s*\./, "is asynchronous; only the runtime does things"],
  // The model may name the type: it says what a provider looks like.
  [CORE, /(?<![.\w$])Promise\b/, "is asynchronous; only the runtime does things"],
];

/** An interface of the model may have a member of this name; its line begins with it and gives it a type. */
const FETCH = /(?<![.\w$])fetch\b(?!(?<=^[ \t]*(?:readonly[ \t]+)?fetch)\??\s*(?:\([^()]*\)\s*)?:)/m;

export const pureFloors: Rule = {
  id: "pure-floors",
  name: "core and model know no clock, no dice, no network and no waiting",
  check(house) {
    const found: Violation[] = [];
    for (const file of house.filter(({ path }) => isCode(path) && MODEL_OR_CORE.test(path))) {
      const { code } = sourceOf(file);
      for (const [rooms, pattern, why] of [...OUTSIDE, [MODEL_OR_CORE, FETCH, "reaches for the network"] as const]) {
        if (!rooms.test(file.path)) continue;
        for (const offset of offsetsOf(pattern, code))
          found.push({ rule: "pure-floors", path: file.path, line: lineAt(code, offset), why });
      }
      found.push(...impureImports(file));
    }
    return found;
  },
};

function impureImports(file: File): Violation[] {
  return importsOf(file).flatMap(({ specifier, clause, line }) => {
    if (!specifier?.startsWith("node:")) return [];
    const at = { rule: "pure-floors", path: file.path, line };
    if (specifier !== "node:crypto") return [{ ...at, why: `loads ${specifier}: only node:crypto, for digests` }];
    const names = /^(?:type\s+)?\{([^}]*)\}$/.exec(clause)?.[1]?.split(",");
    if (!names) return [{ ...at, why: "takes all of node:crypto: name the digests" }];
    return names
      .map(
        (name) =>
          name
            .trim()
            .replace(/^type\s+/, "")
            .split(/\s/)[0]!,
      )
      .filter((name) => name !== "" && !DIGESTS.has(name))
      .map((name) => ({ ...at, why: `takes ${name} from node:crypto, which is no digest` }));
  });
}
