import { distance } from "fastest-levenshtein";

/** The known names that are most like what was written, best first; at most `count`. Case counts for nothing. */
export function nearest(written: string, known: Iterable<string>, count = 3): string[] {
  const word = written.slice(0, 200).toLowerCase();
  return [...new Set(known)]
    .map((name) => ({ name, far: distance(word, name.slice(0, 200).toLowerCase()) }))
    .sort((a, b) => a.far - b.far || (a.name < b.name ? -1 : 1))
    .slice(0, count)
    .map(({ name }) => name);
}
