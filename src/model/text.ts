import stringWidth from "string-width";

/**
 * Characters that a screen obeys, hides or reorders instead of showing: controls, format and bidi marks, surrogates,
 * private and unassigned code points, line and paragraph separators, every space but U+0020, variation selectors,
 * and fillers that look like nothing (the last four are ordinary symbols by category, yet print blank).
 */
const UNSHOWABLE =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Variation_Selector}\u2800\uFFFC\u{1D159}\u{16FE4}]|(?! )\p{Zs}/u;
const EVERY_UNSHOWABLE = new RegExp(UNSHOWABLE, "gu");

/** Replaces everything that would not show as itself by `<U+XXXX>`; stripping it would hide the attack. */
export function escapeText(text: string): string {
  return text.replace(EVERY_UNSHOWABLE, (found) => `<${codePointName(found)}>`);
}

/** `U+202E`, with at least four digits. */
function codePointName(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

export interface ForbiddenCharacter {
  /** As `U+202E`. */
  codePoint: string;
  /** A name that a person can search for. */
  name: string;
  /** In UTF-16 units from the start. */
  index: number;
}

const NAMES = new Map<number, string>([
  [0x00, "NULL"],
  [0x07, "BELL"],
  [0x08, "BACKSPACE"],
  [0x09, "TAB"],
  [0x0a, "LINE FEED"],
  [0x0d, "CARRIAGE RETURN"],
  [0x1b, "ESCAPE"],
  [0x7f, "DELETE"],
  [0x9b, "CONTROL SEQUENCE INTRODUCER"],
  [0x9d, "OPERATING SYSTEM COMMAND"],
  [0xa0, "NO-BREAK SPACE"],
  [0xad, "SOFT HYPHEN"],
  [0x034f, "COMBINING GRAPHEME JOINER"],
  [0x061c, "ARABIC LETTER MARK"],
  [0x115f, "HANGUL CHOSEONG FILLER"],
  [0x1160, "HANGUL JUNGSEONG FILLER"],
  [0x200b, "ZERO WIDTH SPACE"],
  [0x200c, "ZERO WIDTH NON-JOINER"],
  [0x200d, "ZERO WIDTH JOINER"],
  [0x200e, "LEFT-TO-RIGHT MARK"],
  [0x200f, "RIGHT-TO-LEFT MARK"],
  [0x2028, "LINE SEPARATOR"],
  [0x2029, "PARAGRAPH SEPARATOR"],
  [0x202a, "LEFT-TO-RIGHT EMBEDDING"],
  [0x202b, "RIGHT-TO-LEFT EMBEDDING"],
  [0x202c, "POP DIRECTIONAL FORMATTING"],
  [0x202d, "LEFT-TO-RIGHT OVERRIDE"],
  [0x202e, "RIGHT-TO-LEFT OVERRIDE"],
  [0x2060, "WORD JOINER"],
  [0x2066, "LEFT-TO-RIGHT ISOLATE"],
  [0x2067, "RIGHT-TO-LEFT ISOLATE"],
  [0x2068, "FIRST STRONG ISOLATE"],
  [0x2069, "POP DIRECTIONAL ISOLATE"],
  [0x212a, "KELVIN SIGN"],
  [0x212b, "ANGSTROM SIGN"],
  [0x2800, "BRAILLE PATTERN BLANK"],
  [0x3000, "IDEOGRAPHIC SPACE"],
  [0x3164, "HANGUL FILLER"],
  [0xfeff, "ZERO WIDTH NO-BREAK SPACE"],
  [0xffa0, "HALFWIDTH HANGUL FILLER"],
]);

const KINDS: readonly [RegExp, string][] = [
  [/\p{Cc}/u, "control character"],
  [/\p{Cs}/u, "lone surrogate"],
  [/\p{Co}/u, "private-use character"],
  [/\p{Variation_Selector}/u, "variation selector"],
  [/[\u{E0000}-\u{E007F}]/u, "tag character"],
  [/\p{Bidi_Control}/u, "bidi control"],
  [/\p{Cf}/u, "format character"],
  [/\p{Cn}/u, "unassigned code point"],
  [/\p{Zs}/u, "space other than U+0020"],
];

/**
 * What may not stand in an address or an id: all that does not show as itself, and letters that Unicode holds to be
 * another spelling of an ordinary one (the Kelvin sign, full-width and mathematical letters), since services fold those
 * differently and two accounts come of it.
 */
export function forbiddenCharacters(text: string): ForbiddenCharacter[] {
  const found: ForbiddenCharacter[] = [];
  let index = 0;
  for (const character of text) {
    const name = reasonAgainst(character);
    if (name !== null) found.push({ codePoint: codePointName(character), name, index });
    index += character.length;
  }
  return found;
}

function reasonAgainst(character: string): string | null {
  const code = character.codePointAt(0) ?? 0;
  if (UNSHOWABLE.test(character)) {
    return NAMES.get(code) ?? KINDS.find(([of]) => of.test(character))?.[1] ?? "invisible filler";
  }
  const plain = character.normalize("NFKC");
  if (plain === character) return null;
  return NAMES.get(code) ?? `another form of ${escapeText(plain)}`;
}

/** Scripts of living use and those with letters like Latin ones; what is in none of them counts as `Other`. */
const SCRIPTS: readonly [string, RegExp][] = [
  "Latin Greek Cyrillic Armenian Hebrew Arabic Syriac Thaana Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu",
  "Kannada Malayalam Sinhala Thai Lao Tibetan Myanmar Georgian Hangul Ethiopic Cherokee Canadian_Aboriginal Khmer",
  "Mongolian Hiragana Katakana Bopomofo Han Yi Coptic Lisu Tifinagh Vai Nko Deseret Osage Adlam Warang_Citi Runic",
]
  .join(" ")
  .split(" ")
  .map((name) => [name, new RegExp(`\\p{Script=${name}}`, "u")]);
const NEUTRAL = /[\p{Script=Common}\p{Script=Inherited}\p{Cn}\p{Cs}\p{Co}]/u;

/** Writing systems that are made of several scripts (UTS 39, "highly restrictive"); each may also hold Latin. */
const TOGETHER = [
  ["Latin", "Han", "Hiragana", "Katakana"],
  ["Latin", "Han", "Hangul"],
  ["Latin", "Han", "Bopomofo"],
];

/** The scripts in the text, sorted, if they are not of one writing system; else none. Digits and signs count for nothing. */
export function mixedScript(text: string): string[] {
  const found = new Set<string>();
  for (const character of text) {
    if (NEUTRAL.test(character)) continue;
    found.add(SCRIPTS.find(([, of]) => of.test(character))?.[0] ?? "Other");
  }
  const scripts = [...found].sort();
  if (scripts.length < 2 || TOGETHER.some((system) => scripts.every((script) => system.includes(script)))) return [];
  return scripts;
}

const GRAPHEMES = new Intl.Segmenter("en", { granularity: "grapheme" });
/** A pile of combining marks longer than this is no letter of any language, and one cluster can be megabytes long. */
const LONGEST_CLUSTER = 32;

/** At most `max` cells of the text, never cut inside a letter; an ellipsis says that something is missing. */
export function bounded(text: string, max: number): string {
  let kept = "";
  let width = 0;
  let room = "";
  for (const { segment } of GRAPHEMES.segment(text)) {
    width += cells(segment);
    if (width > max || segment.length > LONGEST_CLUSTER) return max < 1 ? "" : `${room}…`;
    kept += segment;
    if (width <= max - 1) room = kept;
  }
  return kept;
}

/** Columns that a terminal takes for the text. */
export function cells(text: string): number {
  return ASCII.test(text) ? text.length : stringWidth(text);
}

/** One cell each. */
const ASCII = /^[\x20-\x7e]*$/;
