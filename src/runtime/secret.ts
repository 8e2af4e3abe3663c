import { inspect } from "node:util";
import { invalid } from "../model/errors.ts";

const SHOWN = "[secret]";

/**
 * A token that prints as `[secret]` whatever is done with it: text, JSON, inspection, a template, a thrown error's
 * fields. A class, since only a private field keeps a value out of all of these.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The token itself. Only the request that carries it may ask. */
  reveal(): string {
    return this.#value;
  }

  /** Whether the token stands in the text: as it is, in base64 (either alphabet), or URL-encoded. */
  appearsIn(text: string): boolean {
    return this.#forms().some((form) => text.includes(form));
  }

  /** The text with the token taken out of it, in each of these forms. */
  hideIn(text: string): string {
    return this.#forms().reduce((hidden, form) => hidden.replaceAll(form, SHOWN), text);
  }

  #forms(): string[] {
    const bytes = Buffer.from(this.#value);
    const base64 = bytes.toString("base64").replace(/=+$/, "");
    return [this.#value, base64, bytes.toString("base64url"), encodeURIComponent(this.#value)];
  }

  equals(other: Secret): boolean {
    return this.#value === other.#value;
  }

  toString(): string {
    return SHOWN;
  }

  toJSON(): string {
    return SHOWN;
  }

  [Symbol.toPrimitive](): string {
    return SHOWN;
  }

  [inspect.custom](): string {
    return SHOWN;
  }
}

/** Longest token taken; signed tokens of today's services stay below 8 KiB. In characters. */
const LONGEST = 16_384;

/**
 * Makes a token of what a variable, file or command gave: one newline or space at the end is taken off.
 *
 * @param where - Names the source in messages; what was found there is never shown.
 * @throws exit 2 `credential_malformed`: nothing there, too long, or something in it that no HTTP header can carry.
 */
export function clean(text: string, where: string): Secret {
  const token = text.replace(/(\r?\n| )$/, "");
  if (token === "") throw malformed(where, "holds nothing");
  if (token.length > LONGEST) throw malformed(where, `holds more than ${LONGEST} characters`);
  if (!/^[\x21-\x7e]+$/.test(token))
    throw malformed(where, "holds spaces, line breaks, control characters or letters beyond ASCII");
  return new Secret(token);
}

function malformed(where: string, why: string): Error {
  return invalid(
    "credential_malformed",
    `${where} ${why}, so it is no token.`,
    [],
    "Put the token there, alone on one line.",
  );
}
