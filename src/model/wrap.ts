import { cells } from "./text.ts";

/**
 * Breaks a line at its spaces so that no part is wider than `width` cells; the parts after the first begin with
 * `indent` spaces. Inside a word only where the word alone is too wide, and then between graphemes.
 */
export function wrapLine(text: string, width: number, indent: number): string[] {
  if (cells(text) <= width) return [text];
  const begin = " ".repeat(indent);
  const out: string[] = [];
  let current = "";
  for (const word of text.split(/(?<= )/u)) {
    if (cells(current) + cells(word.trimEnd()) <= width) {
      current += word;
      continue;
    }
    if (current.trim() !== "") out.push(current.trimEnd());
    current = begin;
    for (const { segment } of new Intl.Segmenter().segment(word)) {
      if (cells(current) + cells(segment) > width) {
        out.push(current.trimEnd());
        current = begin;
      }
      current += segment;
    }
  }
  return current.trim() === "" ? out : [...out, current.trimEnd()];
}
