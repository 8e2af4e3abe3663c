import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { openJournal } from "../../src/runtime/journal/journal.ts";

/** A link that redeems an invitation, as the tenant's answer holds it. */
const LINK = /\/redeem\/[\w-]+|redeem_url/;

/**
 * Where a token or a link that redeems an invitation can be read: in what was printed, in any file of the folder but
 * the token files themselves, and in the journal's entries once they are opened with their keys.
 */
export function leaks(desk: { dir: string; printed: readonly string[] }): string[] {
  const state = join(desk.dir, ".provision");
  const files = readdirSync(desk.dir, { recursive: true, encoding: "utf8" })
    .map((name) => join(desk.dir, name))
    .filter((path) => statSync(path).isFile());
  const tokens = files.filter((path) => path.endsWith(".token")).map((path) => readFileSync(path, "utf8").trim());
  const texts: [string, string][] = [
    ...desk.printed.map((text, at): [string, string] => [`printed ${at}`, text]),
    ...files
      .filter((path) => !path.endsWith(".token"))
      .map((path): [string, string] => [path, readFileSync(path, "latin1")]),
    ...(files.includes(join(state, "journal.db")) ? [["entries", entries(state)] as [string, string]] : []),
  ];
  return texts
    .filter(([, text]) => LINK.test(text) || tokens.some((token) => text.includes(token)))
    .map(([where]) => where);
}

/** Every entry of every operation, opened. A journal that a test damaged has nothing more to tell. */
function entries(dir: string): string {
  const io = { now: () => new Date().toISOString(), random: () => new Uint8Array() };
  const journal = openJournal({ dir, readOnly: true, ...io });
  try {
    return journal
      .list()
      .map(({ op }) => JSON.stringify(journal.read(op)))
      .join("\n");
  } finally {
    journal.close();
  }
}
