import { Composer, type Document, isAlias, isNode, isScalar, LineCounter, Parser, visit } from "yaml";
import { type Finding, invalid } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import { decodeUtf8, LARGEST_INPUT, readBounded } from "./files.ts";

export interface YamlOptions {
  /** How messages call the source: a path, or "standard input". */
  file: string;
  /** In bytes of UTF-8. */
  maxBytes?: number;
}

/** Nothing that people write here is deeper; a parser that recurses can be killed by depth alone. */
const DEEPEST = 64;
/** Nodes that aliases may stand for together. A handful helps to avoid repetition, a bomb needs thousands. */
const MOST_ALIASED = 100;
const CORE_TAG = /^tag:yaml\.org,2002:(str|int|float|bool|null|map|seq)$/;

/** The tokens of the parser, as far as depth is concerned. */
interface Token {
  value?: unknown;
  items?: { key?: Token | null; value?: Token | null }[];
}

/**
 * Reads one YAML 1.2 document (core schema) whose root is a mapping, as plain JSON.
 *
 * Refused with exit 2, all findings at once and each with its line and column: more than `maxBytes` (`too_large`, before
 * anything is parsed), what is no YAML (`not_yaml`), duplicate keys (`duplicate_key`), a second document
 * (`yaml_documents`), tags beyond the core (`yaml_tag`), too much aliasing (`yaml_aliases`), too much depth
 * (`yaml_depth`), numbers without an exact JSON form (`yaml_number`), another root (`not_a_map`).
 */
export function readYaml(text: string, options: YamlOptions): Record<string, Json> {
  const { file, maxBytes = LARGEST_INPUT } = options;
  const size = Buffer.byteLength(text);
  if (size > maxBytes) fail(file, "too_large", `it has ${size} bytes; at most ${maxBytes} are allowed`);
  const lines = new LineCounter();
  const tokens = [...new Parser(lines.addNewLine).parse(text)];
  if (tokens.some((token) => depth(token as Token) > DEEPEST)) {
    fail(file, "yaml_depth", `it nests deeper than ${DEEPEST} levels`);
  }
  const composer = new Composer({
    schema: "core",
    version: "1.2",
    strict: true,
    stringKeys: true,
    merge: false,
    resolveKnownTags: false,
  });
  const documents = [...composer.compose(tokens, true, text.length)];
  const place = (offset: number) => lines.linePos(offset);
  const wrong = documents.flatMap((document) => findings(document, file, place));
  if (documents.length > 1) {
    wrong.push({
      path: at(file, place(documents[1]?.range[0] ?? 0)),
      code: "yaml_documents",
      message: "a second document begins",
    });
  }
  if (wrong.length > 0) throw notYaml(wrong);
  return plainRoot(documents[0] as Document.Parsed, file);
}

/** Reads the file, never more than the limit, and then as `readYaml`. */
export function readYamlFile(path: string, what: string): Record<string, Json> {
  return readYaml(decodeUtf8(readBounded(path, LARGEST_INPUT, what).bytes, path), { file: path });
}

/**
 * Takes the optional `schema: provision.<kind>/v1` header off.
 * @throws exit 2 `wrong_schema` where it names another kind or version.
 */
export function withoutSchema(value: Record<string, Json>, schema: string, file: string): Record<string, Json> {
  const { schema: found, ...rest } = value;
  if (found === undefined || found === schema) return rest;
  const detail: Finding = { path: "schema", code: "wrong_schema", found, allowed: schema };
  throw invalid("wrong_schema", `${file} says that it is of another schema than ${schema}.`, [detail]);
}

function depth(root: Token): number {
  let deepest = 0;
  // By hand, since the input decides how deep this goes.
  const open: [Token, number][] = [[root, 0]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [token, level] = next;
    deepest = Math.max(deepest, level);
    const inner = (token.items ?? []).flatMap(({ key, value }) => [key, value]);
    for (const one of [token.value, ...inner]) {
      if (typeof one === "object" && one !== null) open.push([one as Token, level + 1]);
    }
  }
  return deepest;
}

type Position = { line: number; col: number };

function at(file: string, { line, col }: Position): string {
  return `${file}:${line}:${col}`;
}

const CODES: Record<string, string> = { DUPLICATE_KEY: "duplicate_key", TAG_RESOLVE_FAILED: "yaml_tag" };

function findings(document: Document.Parsed, file: string, place: (offset: number) => Position): Finding[] {
  const told = [...document.errors, ...document.warnings].map((fault): Finding => {
    const path = at(file, place(fault.pos[0]));
    return { path, code: CODES[fault.code] ?? "not_yaml", message: fault.message };
  });
  const directive = document.directives.yaml;
  if (directive.explicit && directive.version !== "1.2") {
    told.push({ path: at(file, { line: 1, col: 1 }), code: "not_yaml", found: directive.version, allowed: "1.2" });
  }
  visit(document, {
    Node(_key, node) {
      if (isAlias(node) || node.tag === undefined || CORE_TAG.test(node.tag)) return;
      if (told.some(({ code }) => code === "yaml_tag")) return;
      told.push({ path: at(file, place(node.range?.[0] ?? 0)), code: "yaml_tag", found: node.tag, allowed: "no tag" });
    },
    Pair(_key, { key }) {
      // Code that copies keys with a plain assignment would change the prototype instead.
      if (!isScalar(key) || key.value !== "__proto__") return;
      told.push({ path: at(file, place(key.range?.[0] ?? 0)), code: "yaml_key", found: key.value });
    },
    Scalar(_key, node) {
      if (typeof node.value !== "number" || isExact(node.value)) return;
      const path = at(file, place(node.range?.[0] ?? 0));
      told.push({
        path,
        code: "yaml_number",
        found: node.source,
        allowed: "a number that JSON can hold, or text in quotes",
      });
    },
  });
  return told;
}

function isExact(value: number): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
}

function plainRoot(document: Document.Parsed, file: string): Record<string, Json> {
  let value: unknown;
  try {
    // A copy through text: aliased parts become separate values, and a part that holds itself is refused.
    value = JSON.parse(JSON.stringify(document.toJS({ maxAliasCount: MOST_ALIASED })) ?? "null");
  } catch {
    fail(file, "yaml_aliases", `its aliases lead nowhere, to themselves, or to more than ${MOST_ALIASED} nodes`);
  }
  if (!isNode(document.contents) || typeof value !== "object" || value === null || Array.isArray(value)) {
    fail(file, "not_a_map", "its root is no mapping of keys to values");
  }
  return value as Record<string, Json>;
}

function fail(file: string, code: string, why: string): never {
  throw invalid(code, `${file} is refused: ${why}.`, [{ path: file, code, message: why }]);
}

function notYaml(wrong: Finding[]): Error {
  const first = wrong[0] as Finding;
  const more = wrong.length > 1 ? ` (and ${wrong.length - 1} more)` : "";
  const what = first.message ?? `${String(first.found)} is not allowed, only ${String(first.allowed)}`;
  return invalid(first.code, `${first.path}: ${what}${more}.`, wrong);
}
