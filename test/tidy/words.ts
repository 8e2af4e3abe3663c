import { type File, isCode, isShipped, lineAt, offsetsOf, type Rule, sourceOf, type Violation } from "./source.ts";

// One letter of each word stands in brackets, so that this file does not trip over itself and needs no exception.

type Ban = readonly [pattern: RegExp, why: string];

/** Anywhere in a text: code, comment, string or prose. */
const IN_TEXT: readonly Ban[] = [
  [/\bTO[D]O\b|\bFIXM[E]\b|\bXX[X]\b/, "work left over: do it, or write down elsewhere that it is not done"],
  [/\bfor no[w]\b/i, "promises a later that nobody keeps"],
  [/\bnot implemente[d]\b/i, "is a stub"],
  [/@ts-(?:ignor[e]|nochec[k])\b|\beslint-disabl[e]\b/, "silences the checker"],
  [/\butil[s]\b/i, "names a drawer; name what is in it"],
];

/** Only where it is code: a comment may say what it likes about any of these. */
const IN_CODE: readonly Ban[] = [
  [/\.\s*(?:skip|only|todo)\s*\(/, "is a test that does not run, or keeps others from running"],
  [/\bexpect\s*\(\s*true\s*\)/, "cannot fail"],
  [/:\s*any\b|\bas\s+any\b|<\s*any\b|\.any\(\s*\)/, "turns the type checker off"],
];

function worded(path: string): boolean {
  return /^(?:src|providers|bin|test|plans)\/|^README\.md$/.test(path);
}

function hits(file: File, text: string, bans: readonly Ban[], rule: string): Violation[] {
  return bans.flatMap(([pattern, why]) =>
    offsetsOf(pattern, text).map((offset) => ({ rule, path: file.path, line: lineAt(text, offset), why })),
  );
}

export const plainWords: Rule = {
  id: "plain-words",
  name: "nothing is left for later, skipped or silenced",
  check(house) {
    return house
      .filter(({ path }) => worded(path))
      .flatMap((file) => [
        ...hits(file, file.text, IN_TEXT, "plain-words"),
        ...(isCode(file.path) ? hits(file, sourceOf(file).code, IN_CODE, "plain-words") : []),
      ]);
  },
};

export const noVerdictFlag: Rule = {
  id: "no-verdict-flag",
  name: "nothing in src is called success: what was asked, sent and seen stay apart",
  check(house) {
    const why = "is a verdict in one bit; of zod's result ask for .error or .data";
    return house
      .filter(({ path }) => isShipped(path) && !path.startsWith("providers/"))
      .flatMap((file) => {
        const { code, strings } = sourceOf(file);
        const quoted = [...strings].filter(([, value]) => value === "success").map(([offset]) => offset);
        const named = offsetsOf(/(?<![\w$])success(?![\w$])/, code);
        return [...named, ...quoted].map((offset) => ({
          rule: "no-verdict-flag",
          path: file.path,
          line: lineAt(code, offset),
          why,
        }));
      });
  },
};

/** Papers and places that a reader of this repository cannot open. */
const OUT_OF_REACH: readonly Ban[] = [
  [
    /(?<!https?:\/\/\S*)\b(?!(?:README|DECISIONS|CHANGELOG)\.md)[A-Z][A-Z_]{3,}\.md\b/,
    "names a paper that is not in this repository",
  ],
  [/(?<![\w.~])\/wor[k]\/|\.\.\/share[d]\b/, "names a folder outside this repository"],
];

export const selfContained: Rule = {
  id: "self-contained",
  name: "nothing points at a paper or a folder that a reader of the repository does not have",
  check(house) {
    return house
      .filter(({ path }) => path !== "package-lock.json")
      .flatMap((file) => hits(file, file.text, OUT_OF_REACH, "self-contained"));
  },
};

const SECRETS: readonly Ban[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----(?:\\n|[\s"'`+,])*[A-Za-z0-9+/=]{40,}/, "is a private key"],
  [/\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}/, "looks like a GitHub token"],
  [/\bxox[abeoprs]-[A-Za-z0-9-]{10,}/, "looks like a Slack token"],
  [/\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/, "looks like a signed web token"],
];

export const noSecrets: Rule = {
  id: "no-secrets",
  name: "no key and no token lies in the tree",
  check(house) {
    return house.flatMap((file) => hits(file, file.text, SECRETS, "no-secrets"));
  },
};
