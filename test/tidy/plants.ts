import type { File } from "./source.ts";

/** A small wrong (or only seemingly wrong) change to the house. */
export interface Plant {
  rule: string;
  /** What is wrong with it, as the rest of a sentence. */
  says: string;
  files: readonly File[];
  /** Where the rule must point, or must not: the first file unless another is named. */
  path: string;
  line: number;
}

/** Files by path. A tilde is taken out: it keeps a banned word from standing in this file. */
function plant(
  rule: string,
  says: string,
  files: Record<string, string>,
  line = 1,
  path = Object.keys(files)[0]!,
): Plant {
  const list = Object.entries(files).map(([at, text]) => ({ path: written(at), text: written(text) }));
  return { rule, says: written(says), files: list, path: written(path), line };
}

const written = (text: string) => text.replaceAll("~", "");
const load = (what: string) => `import { x } from "${what}";\n`;
const lines = (count: number) => "const x = 1;\n".repeat(count);

export const WRONG: readonly Plant[] = [
  plant("floors", "the core loads the runtime", { "src/core/planted.ts": `\n${load("../runtime/http.ts")}` }, 2),
  plant("floors", "the model takes a type from the core", {
    "src/model/planted.ts": 'import type { X } from "../core/fold.ts";',
  }),
  plant("floors", "the runtime loads an operation when asked", {
    "src/runtime/a/planted.ts": 'await import("../../operations/run.ts");',
  }),
  plant("floors", "an operation passes on what the command line has", {
    "src/operations/planted.ts": 'export * from "../cli/main.ts";',
  }),
  plant("floors", "an operation loads the door for agents", { "src/operations/planted.ts": load("../mcp/server.ts") }),
  plant("floors", "the command line loads its starter", { "src/cli/planted.ts": load("../../bin/provision.ts") }),
  plant("floors", "a type is fetched from above in passing", {
    "src/core/planted.ts": 'let x: import("../runtime/http.ts").X;',
  }),
  plant("floors", "a file of src stands beside the floors", { "src/planted.ts": "" }),
  plant("providers-apart", "a provider loads the core", {
    "providers/github/planted.ts": load("../../src/core/fold.ts"),
  }),
  plant("providers-apart", "a provider loads another provider", {
    "providers/github/planted.ts": load("../scim/api.ts"),
  }),
  plant("providers-apart", "a provider brings a library", { "providers/github/planted.ts": load("yaml") }),
  plant("providers-apart", "a provider loads node", { "providers/sandbox/planted.ts": load("node:http") }),
  plant("providers-apart", "the list of providers loads the engine", {
    "providers/index.ts": load("../src/runtime/config.ts"),
  }),
  plant("providers-apart", "the engine loads a provider", {
    "src/runtime/planted.ts": 'await import("../../providers/index.ts");',
  }),
  ...["commander", "cli-table3", "ink", "react", "undici", "p-retry", "better-sqlite3/deep.js"].map((library) =>
    plant("library-homes", `an operation loads ${library}`, { "src/operations/planted.ts": load(library) }),
  ),
  plant("library-homes", "a runtime file beside the journal opens a database", {
    "src/runtime/planted.ts": load("better-sqlite3"),
  }),
  plant("library-homes", "a credential file has its own way to the network", {
    "src/runtime/planted.ts": load("undici"),
  }),
  plant("library-homes", "the core loads zod", { "src/core/planted.ts": load("zod") }),
  plant("library-homes", "a command parses YAML", { "src/cli/planted.ts": load("yaml") }),
  plant("library-homes", "a second file makes canonical JSON", { "src/model/planted.ts": load("canonicalize") }),
  plant("open-imports", "a name is computed", { "src/cli/planted.ts": "await import(name);" }),
  plant(
    "open-imports",
    "a name is put together in a template",
    { "bin/planted.ts": "\nawait import(`../providers/$~{name}/index.ts`);" },
    2,
  ),
  plant("open-imports", "a file asks for require", {
    "src/cli/planted.ts": 'import { createRequire } from "node:module";',
  }),
  plant(
    "no-circles",
    "two files load each other, once for a type only",
    {
      "src/core/planted.ts": load("./planted-too.ts"),
      "src/core/planted-too.ts": '\nimport type { X } from "./planted.ts";',
    },
    2,
    "src/core/planted-too.ts",
  ),
  plant("no-circles", "a file loads itself", { "test/planted.ts": load("./planted.ts") }),
  plant("agents-decide-nothing", "the door for agents loads approve by a detour", {
    "src/mcp/planted.ts": load("../operations/planted.ts"),
    "src/operations/planted.ts": load("./approve.ts"),
    "src/operations/approve.ts": "",
  }),
  plant("agents-decide-nothing", "the door for agents reaches the signer", {
    "src/mcp/planted.ts": load("../runtime/approvals/sign.ts"),
    "src/runtime/approvals/sign.ts": "",
  }),
  plant("no-dead-files", "a file is loaded by its test alone", {
    "src/core/planted.ts": "",
    "test/core/planted.test.ts": load("../../src/core/planted.ts"),
  }),
  plant("no-dead-files", "two dead files keep each other company", {
    "providers/x/planted.ts": load("./planted-too.ts"),
    "providers/x/planted-too.ts": "",
  }),
  plant("no-dead-files", "a description outlives its library", {
    "src/core/planted.d.ts": 'declare module "planted" {}',
  }),
  ...[
    ["asks the clock", "\nconst t = Date.now();"],
    ["makes a date out of nothing", "\nconst t = new Date();"],
    ["makes a date out of nothing without parentheses", "\nconst t = new Date;"],
    ["writes the date as a text", "\nconst t = Date();"],
    ["measures time", "\nconst t = performance.now();"],
    ["rolls dice", "\nconst n = Math.random();"],
    ["rolls better dice", "\nconst n = crypto.randomUUID();"],
    ["loads the dice", '\nimport { createHash, randomBytes } from "node:crypto";'],
    ["takes all of node:crypto", '\nimport * as everything from "node:crypto";'],
    ["reads a file", '\nimport { readFileSync } from "node:fs";'],
    ["reads the environment", "\nconst home = process.env.HOME;"],
    ["is asynchronous", "\nexport async function x() {}"],
    ["waits for a promise", "\nconst y = await x;"],
    ["names a promise", "\nexport type X = Promise<string>;"],
    ["calls the network", "\nconst answer = fetch(url);"],
    ["sets a timer", "\nsetTimeout(x, 10);"],
  ].map(([what, text]) => plant("pure-floors", `the core ${what}`, { "src/core/planted.ts": text! }, 2)),
  plant("pure-floors", "the model makes a promise", { "src/model/planted.ts": "export const x = Promise.resolve(1);" }),
  plant("pure-floors", "the model calls the network", { "src/model/planted.ts": "\nconst x = y ? fetch(url) : z;" }, 2),
  plant("fixed-top", "a seventh folder stands on top", { "docs/planted.txt": "" }),
  plant("fixed-top", "a stray file lies on top", { "planted.txt": "" }),
  plant("short-files", "a file has 301 lines", { "src/core/planted.ts": lines(301) }, 301),
  plant(
    "short-files",
    "a test has 301 lines and no last newline",
    { "test/planted.test.ts": lines(301).trimEnd() },
    301,
  ),
  plant("no-drawers", "a file is a drawer", { "src/core/text-ut~ils.ts": "" }),
  plant("no-drawers", "a folder is a drawer", { "test/helpers/planted.ts": "" }),
  plant("data-only", "code lies among the fixtures", { "fixtures/planted.ts": "" }),
  plant("data-only", "something else than YAML lies among the plans", { "plans/planted.json": "{}" }),
  ...[
    "// TO~DO tidy up",
    "/* FIX~ME */",
    "# XX~X",
    "// good enough for n~ow",
    'throw new Error("Not imple~mented");',
    "// @ts-ig~nore",
    "// eslint-dis~able-next-line",
    'import x from "./ut~ils.ts";',
    'it.skip("x", () => {});',
    'describe.only("x", () => {});',
    'it.todo("x");',
    "expect(true).toBe(true);",
    "let x: any;",
    "const y = x as any;",
    "const y = new Map<any, string>();",
    "const schema = z.any();",
  ].map((text) => plant("plain-words", `somebody wrote ${text}`, { "test/planted.ts": `\n${text}\n` }, 2)),
  plant("plain-words", "work is left over in the README", { "README.md": "\n\nTO~DO\n" }, 3),
  plant("plain-words", "work is left over in an example plan", { "plans/planted.yaml": "# TO~DO\n" }),
  ...[
    "type X = { success?: boolean };",
    "if (parsed.success) go();",
    'const x = { "success": 1 };',
    "return { ok, success };",
  ].map((text) => plant("no-verdict-flag", `somebody wrote ${text}`, { "src/cli/planted.ts": `\n${text}\n` }, 2)),
  ...["as PAPER.m~d says", "see notes/OUR_PLANS.m~d section 3", "../sha~red/x", "cd /wo~rk/main"].map((text) =>
    plant("self-contained", `a comment says ${text}`, { ".ci/planted": `\n# ${text}\n` }, 2),
  ),
  plant("no-secrets", "a private key lies in a fixture", {
    "fixtures/planted.pem": `-----BEGIN OPENSSH PRIVATE KEY-----\n${"b3Blbn~NzaC".repeat(9)}\n`,
  }),
  plant(
    "no-secrets",
    "a private key stands in a string",
    {
      "test/planted.ts": `\n"-----BEGIN PRIVATE KEY-----\\n" +\n"${"b3Blbn~NzaC".repeat(9)}";\n`,
    },
    2,
  ),
  ...[
    `ghp_~${"a1B2".repeat(9)}`,
    "xoxb~-123456789012-abcdef",
    `ey~J${"hbGciOi".repeat(3)}.ey~J${"zdWIiOi".repeat(3)}`,
  ].map((token) =>
    plant(
      "no-secrets",
      `a token lies around: ${token.replaceAll("~", "").slice(0, 6)}`,
      { "fixtures/planted.json": `\n"${token}"\n` },
      2,
    ),
  ),
  ...[
    ["a version is a range", '{"dependencies":{\n"zod":"^4.0.0"}}'],
    ["a dependency is loaded by nobody", '{"dependencies":{\n"left-pad":"1.3.0"}}'],
    ["a dependency of the tests is used by nobody", '{"devDependencies":{\n"left-pad":"1.3.0"}}'],
    ["types are kept for a library that is gone", '{"devDependencies":{\n"@types/left-pad":"1.3.0"}}'],
    ["a tool is started by no script", '{"devDependencies":{\n"typescript":"7.0.2"}}'],
  ].map(([says, text]) => plant("honest-dependencies", says!, { "package.json": text! }, 2)),
  plant("honest-dependencies", "a file loads what package.json does not name", {
    "bin/planted.ts": load("@scope/left-pad/deep.js"),
  }),
  plant("honest-dependencies", "a file that ships loads a library of the tests", {
    "src/cli/planted.ts": load("vitest"),
  }),
  plant("honest-dependencies", "a test loads what package.json does not name", {
    "test/planted.test.ts": load("left-pad"),
  }),
  plant("honest-dependencies", "a file loads node without saying so", { "src/cli/planted.ts": load("fs") }),
];

/** What a coarser rule would take for a breach. */
export const RIGHT: readonly Plant[] = [
  plant("floors", "an import in a comment", {
    "src/core/planted.ts": `// ${load("../runtime/http.ts")}/* ${load("../cli/main.ts")} */`,
  }),
  plant("floors", "an import in a string", {
    "src/core/planted.ts": `const text = '${load("../runtime/http.ts").trim()}';`,
  }),
  plant("floors", "an import down a floor", { "src/runtime/planted.ts": load("../model/ids.ts") }),
  plant("providers-apart", "the sandbox's own server on node:http", {
    "providers/sandbox/tenant/planted.ts": load("node:http"),
  }),
  plant("providers-apart", "a test that loads a provider", { "test/planted.test.ts": load("../providers/index.ts") }),
  plant("open-imports", "a word about import(x) in a comment", { "src/cli/planted.ts": "// import(x) and require(y)" }),
  plant("no-dead-files", "a file that bin loads only when asked", {
    "src/core/planted.ts": "",
    "bin/planted.ts": 'await import("../src/core/planted.ts");',
  }),
  plant("agents-decide-nothing", "a signature that is verified", {
    "src/mcp/planted.ts": load("../runtime/approvals/verify.ts"),
    "src/runtime/approvals/verify.ts": "",
  }),
  plant("no-dead-files", "the description of a library that the core loads", {
    "src/core/planted.d.ts": 'declare module "planted" {}',
    "src/core/planted.ts": load("planted"),
  }),
  plant("pure-floors", "a date out of a text, and a comment about Date.now()", {
    "src/core/planted.ts": "const t = new Date(text); // never Date.now()",
  }),
  plant("pure-floors", "a key called async and a property called process", {
    "src/core/planted.ts": 'const x = { async: 1, of: y.process.z, say: "await Promise" };',
  }),
  plant("pure-floors", "an interface of the model with a fetch that promises", {
    "src/model/planted.ts":
      'import { createHash } from "node:crypto";\ninterface Io {\n  fetch(request: R): Promise<S>;\n}',
  }),
  plant("short-files", "a file of 300 lines", { "src/core/planted.ts": lines(300) }),
  plant("plain-words", "a comment in which any process may come by: any", {
    "src/core/planted.ts": "// whoever comes by: any process",
  }),
  plant("no-verdict-flag", "a fault called success_without_effect", {
    "src/cli/planted.ts": "x.success_without_effect = 1;",
  }),
  plant("self-contained", "a source with its address", {
    "providers/planted.md": "https://github.com/o/r/blob/main/PAPER.m~d",
  }),
  plant("no-secrets", "the first line of a key, which a parser must know", {
    "src/runtime/planted.ts": 'const HEAD = "-----BEGIN OPENSSH PRIVATE KEY-----";\nconst next = 1;',
  }),
];
