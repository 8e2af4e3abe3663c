import tr46 from "tr46";
import { escapeText, type ForbiddenCharacter, forbiddenCharacters, mixedScript } from "./text.ts";

/** What is wrong with an address or a domain; `code` is stable, `message` names the characters. */
export interface EmailFault {
  code: string;
  message: string;
}

export type EmailCheck =
  | { ok: true; email: string; local: string; domain: string }
  /** `domain` is the A-label where that half was sound, so that it can still be judged. */
  | { ok: false; faults: EmailFault[]; domain: string | null };

export type DomainCheck = { ok: true; domain: string } | { ok: false; faults: EmailFault[] };

/** RFC 5321, 4.5.3.1: 64 octets before the @, 254 for the whole path without its angle brackets. */
const LONGEST_LOCAL = 64;
const LONGEST_ADDRESS = 254;

/** RFC 5322 dot-atom. Quoted local parts are legal and refused: no service here agrees with another on them. */
const LOCAL = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;

/** UTS 46, non-transitional, with every check that the standard offers. */
const STRICT = {
  checkBidi: true,
  checkHyphens: true,
  checkJoiners: true,
  transitionalProcessing: false,
  useSTD3ASCIIRules: true,
  verifyDNSLength: true,
};

/**
 * One form for lookup, comparison, plan and request: the domain as lower-case A-label, the local part as it was
 * written. All that is wrong is told at once. Nothing is repaired: what does not show as itself is refused by name.
 */
export function normaliseEmail(text: string): EmailCheck {
  if (text.length > 4 * LONGEST_ADDRESS) {
    const message = `The address has ${text.length} characters; at most ${LONGEST_ADDRESS} are allowed.`;
    return { ok: false, faults: [{ code: "too_long", message }], domain: null };
  }
  const at = text.lastIndexOf("@");
  if (at < 0) return { ok: false, faults: [...characterFaults(text), missingAt], domain: null };

  const local = text.slice(0, at);
  const domain = normaliseDomain(text.slice(at + 1));
  const faults = [...localFaults(local), ...(domain.ok ? [] : domain.faults)];
  if (domain.ok && local.length + 1 + domain.domain.length > LONGEST_ADDRESS) {
    faults.push({ code: "too_long", message: `The address is longer than ${LONGEST_ADDRESS} characters.` });
  }
  if (domain.ok && faults.length === 0) {
    return { ok: true, email: `${local}@${domain.domain}`, local, domain: domain.domain };
  }
  return { ok: false, faults, domain: domain.ok ? domain.domain : null };
}

const missingAt: EmailFault = { code: "missing_at", message: "The address has no @." };

function localFaults(local: string): EmailFault[] {
  const faults = characterFaults(local);
  const plain = withoutForbidden(local);
  if (local.includes("@")) faults.push({ code: "double_at", message: "The address has more than one @." });
  if (local.length > LONGEST_LOCAL) {
    faults.push({ code: "too_long", message: `More than ${LONGEST_LOCAL} characters stand before the @.` });
  }
  faults.push(...scriptFaults(plain));
  if (/[^\u0000-\u007f]/.test(plain)) {
    const message = `Before the @ stands ${escapeText(plain)}, with ${codePoints(plain)}; only ASCII is allowed there.`;
    faults.push({ code: "non_ascii_local_part", message });
  } else if (faults.length === 0 && !LOCAL.test(local)) {
    const message = local === "" ? "Nothing stands before the @." : "What stands before the @ is no plain local part.";
    faults.push({ code: "malformed_local_part", message });
  }
  return faults;
}

/** The lower-case A-label of a domain of at least two labels. */
export function normaliseDomain(text: string): DomainCheck {
  const faults = [...characterFaults(text), ...scriptFaults(withoutForbidden(text))];
  if (faults.length > 0) return { ok: false, faults };
  const ascii = tr46.toASCII(text, STRICT);
  if (ascii === null || !ascii.includes(".") || /(^|\.)[0-9]+$/.test(ascii)) {
    return { ok: false, faults: [{ code: "malformed_domain", message: "What stands after the @ is no domain name." }] };
  }
  // An A-label can spell what its letters would not have been allowed to show.
  const decoded = tr46.toUnicode(ascii, STRICT).domain;
  const hidden = [...characterFaults(decoded), ...scriptFaults(withoutForbidden(decoded))];
  return hidden.length > 0 ? { ok: false, faults: hidden } : { ok: true, domain: ascii };
}

/** For comparison only: ASCII letters without case. Wider folding would join different people (the Kelvin sign is no k). */
export function foldEmail(email: string): string {
  return email.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** The domain as people read it, beside its A-label; null where both are the same. */
export function shownDomain(domain: string): string | null {
  const unicode = tr46.toUnicode(domain, STRICT).domain;
  return unicode === domain ? null : unicode;
}

const KINDS: readonly { code: string; what: string; of: RegExp }[] = [
  { code: "bidi_character", what: "characters that change the reading direction", of: /\p{Bidi_Control}/u },
  { code: "control_character", what: "control characters", of: /[\p{Cc}\p{Zl}\p{Zp}]/u },
  { code: "space", what: "spaces", of: /\p{Zs}/u },
  { code: "zero_width_character", what: "characters without width", of: /[\p{Cf}\p{Default_Ignorable_Code_Point}]/u },
  { code: "invisible_character", what: "characters that do not show as themselves", of: /[\p{C}\u2800\uFFFC]/u },
  { code: "look_alike", what: "look-alikes of ordinary characters", of: /./su },
];

function characterFaults(text: string): EmailFault[] {
  const byKind = new Map<string, ForbiddenCharacter[]>();
  for (const found of [...forbiddenCharacters(text), ...plainSpaces(text)]) {
    const character = String.fromCodePoint(Number.parseInt(found.codePoint.slice(2), 16));
    const kind = KINDS.find(({ of }) => of.test(character))?.code ?? "look_alike";
    byKind.set(kind, [...(byKind.get(kind) ?? []), found]);
  }
  return KINDS.flatMap(({ code, what }) => {
    const found = byKind.get(code);
    if (!found) return [];
    const list = found.map((one) => `${one.codePoint} (${one.name})`);
    return [{ code, message: `There are ${what}: ${[...new Set(list)].join(", ")}.` }];
  });
}

function plainSpaces(text: string): ForbiddenCharacter[] {
  const index = text.indexOf(" ");
  return index < 0 ? [] : [{ codePoint: "U+0020", name: "SPACE", index }];
}

function scriptFaults(text: string): EmailFault[] {
  return text.split(/[.@\u3002]/).flatMap((label) => {
    const scripts = mixedScript(label);
    if (scripts.length === 0) return [];
    return [{ code: "mixed_script", message: `${label} mixes scripts (${scripts.join(", ")}): ${codePoints(label)}.` }];
  });
}

function withoutForbidden(text: string): string {
  const bad = new Set(forbiddenCharacters(text).map(({ index }) => index));
  let index = 0;
  let kept = "";
  for (const character of text) {
    if (!bad.has(index)) kept += character;
    index += character.length;
  }
  return kept;
}

/** The code points outside ASCII, each once. */
function codePoints(text: string): string {
  const outside = [...text].filter((character) => character > "\u007f");
  const names = outside.map((it) => `U+${(it.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")} ${it}`);
  return [...new Set(names)].join(", ");
}
