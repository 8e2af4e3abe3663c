import { cells } from "./text.ts";

const GRAPHEMES = new Intl.Segmenter();

/**
 * Breaks a line at its spaces so that no part is wider than `width` cells; the parts after the first begin with
 * `indent` spaces. Inside a word only where the word alone is too wide, and then between graphemes.
 */
export function wrapLine(text: string, width: number, indent: number): string[] {
  if (cells(text) <= width) return [text];
  const begin = " ".repeat(indent);
  const out: string[] = [];
  let current = "";
  let used = 0;
  const turn = () => {
    if (current.trim() !== "") out.push(current.trimEnd());
    current = begin;
    used = indent;
  };
  for (const word of text.split(/(?<= )/u)) {
    const wide = cells(word);
    if (used + cells(word.trimEnd()) <= width) {
      current += word;
      used += wide;
      continue;
    }
    turn();
    for (const { segment } of GRAPHEMES.segment(word)) {
      const more = cells(segment);
      if (used + more > width) turn();
      current += segment;
      used += more;
    }
  }
  return current.trim() === "" ? out : [...out, current.trimEnd()];
}
