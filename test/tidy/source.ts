/** One file of the repository: its path from the top, with forward slashes, and its text. */
export interface File {
  path: string;
  text: string;
}

export interface Violation {
  rule: string;
  path: string;
  /** Counts from 1. */
  line: number;
  why: string;
}

/** A rule looks at the whole house and says where it is broken. `name` is the sentence that the test is called by. */
export interface Rule {
  id: string;
  name: string;
  check(house: readonly File[]): Violation[];
}

/** A source text with comments, string contents and regular expressions blanked out; every offset stays what it was. */
export interface Source {
  code: string;
  /** What stands between the quotes, by the offset of the opening quote. Templates are not among them. */
  strings: ReadonlyMap<number, string>;
}

const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y;
/** A string ends at its line, also where its quote is missing: one stray quote must not swallow the file. */
const STRING = /"(?:\\[\s\S]|[^"\\\n])*"?|'(?:\\[\s\S]|[^'\\\n])*'?/y;
const REGEX = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/y;
const TEMPLATE_TEXT = /(?:\\[\s\S]|\$(?!\{)|[^`\\$])*(?:`|\$\{|$)/y;
/** After these a slash begins a regular expression; after a value it divides. */
const BEFORE_REGEX =
  /(?:^|[(,=:[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|in|of|delete|void|throw|else|do|yield|await))\s*$/;

const scanned = new WeakMap<File, Source>();

/** Scans a file once, however many rules ask. */
export function sourceOf(file: File): Source {
  const known = scanned.get(file);
  if (known) return known;
  const source = scan(file.text);
  scanned.set(file, source);
  return source;
}

export function scan(text: string): Source {
  const strings = new Map<number, string>();
  /** For each `${` that is open: how many braces were opened inside it. */
  const holes: number[] = [];
  let code = "";
  const eat = (pattern: RegExp): string => {
    pattern.lastIndex = code.length;
    return pattern.exec(text)?.[0] ?? "";
  };
  const templateText = () => {
    const found = eat(TEMPLATE_TEXT);
    code += blank(found.replace(/(?:`|\$\{)$/, "")) + (/(?:`|\$\{)$/.exec(found)?.[0] ?? "");
    if (found.endsWith("${")) holes.push(0);
  };
  while (code.length < text.length) {
    const char = text[code.length]!;
    const comment = char === "/" ? eat(COMMENT) : "";
    const regex = char === "/" && !comment && BEFORE_REGEX.test(code.slice(-40)) ? eat(REGEX) : "";
    const string = char === '"' || char === "'" ? eat(STRING) : "";
    if (comment || regex) {
      // A regular expression leaves a value behind, so that a slash after it divides.
      code += comment ? blank(comment) : `0${blank(regex.slice(1))}`;
    } else if (string) {
      const closed = string.length > 1 && string.endsWith(char);
      const inner = string.slice(1, closed ? -1 : undefined);
      strings.set(code.length, inner);
      code += char + blank(inner) + (closed ? char : "");
    } else if (char === "`") {
      code += char;
      templateText();
    } else if (char === "}" && holes.at(-1) === 0) {
      holes.pop();
      code += char;
      templateText();
    } else {
      if (holes.length > 0 && (char === "{" || char === "}")) holes[holes.length - 1]! += char === "{" ? 1 : -1;
      code += char;
    }
  }
  return { code, strings };
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, " ");
}

export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) line++;
  return line;
}

/** Where a pattern stands in a text, as offsets. */
export function offsetsOf(pattern: RegExp, text: string): number[] {
  const global = pattern.flags.includes("g") ? pattern : new RegExp(pattern, `${pattern.flags}g`);
  return [...text.matchAll(global)].map((found) => found.index);
}

export function isCode(path: string): boolean {
  return /\.[cm]?tsx?$/.test(path);
}

/** What ships and runs: everything but the tests and the settings. */
export function isShipped(path: string): boolean {
  return isCode(path) && /^(?:src|providers|bin)\//.test(path);
}
