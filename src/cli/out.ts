import { ProvisionError } from "../model/errors.ts";
import { escapeText } from "../model/text.ts";

/** Where a command's words go: the answer to stdout, everything else to stderr. */
export interface Out {
  json: boolean;
  /** The answer: one document, or its text. Exactly once a command. */
  answer(document: unknown, text: () => string): void;
  /** What somebody is about to put their name to; no option takes it away. */
  show(text: string): void;
  /** Progress and messages. */
  say(text: string): void;
  /** Details for those who asked for them. */
  detail(text: string): void;
}

export interface Streams {
  stdout: NodeJS.WritableStream;
  stderr: NodeJS.WritableStream;
}

/** `mayAnswer` says whether the one answer of this process is still to be given, and is asked once for each. */
export function openOut(
  streams: Streams,
  options: { json: boolean; quiet: boolean; verbose: boolean },
  mayAnswer: () => boolean = () => true,
): Out {
  return {
    json: options.json,
    answer(document, text) {
      if (!mayAnswer()) return;
      const shown = options.json ? JSON.stringify(document, null, 2) : visible(text());
      if (shown !== "") streams.stdout.write(shown.endsWith("\n") ? shown : `${shown}\n`);
    },
    show(text) {
      streams.stderr.write(`${visible(text)}\n`);
    },
    say(text) {
      if (!options.quiet) streams.stderr.write(`${visible(text)}\n`);
    },
    detail(text) {
      if (options.verbose) streams.stderr.write(`${text}\n`);
    },
  };
}

/** The last gate before a screen: whatever a line was made of, it obeys nothing that stands in it. */
function visible(text: string): string {
  return text.split("\n").map(escapeText).join("\n");
}

export interface ErrorDocument {
  code: string;
  message: string;
  hint: string | null;
  details: { path: string; code: string; found: unknown; allowed: unknown; message?: string }[];
}

export function errorDocument(
  error: Pick<ProvisionError, "code" | "message" | "hint"> & Partial<Pick<ProvisionError, "details">>,
): ErrorDocument {
  return {
    code: error.code,
    message: error.message,
    hint: error.hint ?? null,
    details: (error.details ?? []).map(({ path, code, found, allowed, message }) => ({
      path,
      code,
      found: found ?? null,
      allowed: allowed ?? null,
      ...(message === undefined ? {} : { message }),
    })),
  };
}

/** What happened and to what; each finding on a line; what to do, alone on a line. */
export function errorText(
  error: Pick<ProvisionError, "code" | "message" | "hint"> & Partial<Pick<ProvisionError, "details">>,
): string {
  const lines = [`Error: ${escapeText(error.message)}`];
  for (const { path, code, found, allowed, message } of error.details ?? []) {
    const seen = found === undefined ? "" : `, found ${shown(found)}`;
    const may = allowed === undefined ? "" : `, allowed: ${shown(allowed)}`;
    lines.push(
      `  ${escapeText(path === "" ? "(the whole)" : path)}: ${code}${seen}${may}${message === undefined ? "" : `. ${escapeText(message)}`}`,
    );
  }
  if (error.hint) lines.push("", `  ${escapeText(error.hint)}`);
  lines.push("", `  (${error.code})`);
  return lines.join("\n");
}

/** A found value can be a whole document; what is wrong with it shows at its beginning. */
const LONGEST_SHOWN = 120;

function shown(value: unknown): string {
  const text = Array.isArray(value)
    ? value.map(String).join(", ")
    : typeof value === "string"
      ? value
      : JSON.stringify(value);
  const escaped = escapeText(text);
  return escaped.length > LONGEST_SHOWN ? `${escaped.slice(0, LONGEST_SHOWN)}…` : escaped;
}

/** Anything thrown, as an error of ours. */
export function asProvisionError(thrown: unknown): ProvisionError {
  if (thrown instanceof ProvisionError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new ProvisionError("internal", 1, `Something went wrong in provision itself: ${message}`, {
    hint: "This is a bug in provision. Run it again with --verbose for where it happened.",
  });
}
