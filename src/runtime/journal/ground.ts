import { statSync } from "node:fs";
import { join } from "node:path";
import { unverified } from "../../model/errors.ts";
import { HINT } from "./mark.ts";
import { MASTER_FILE } from "./master.ts";

export const JOURNAL_FILE = "journal.db";
export const KEYS_FILE = "keys.db";

/** Everything that an open journal is made of, but for the mark, which is read anew at every commit. */
const FILES = [...[JOURNAL_FILE, KEYS_FILE].flatMap((file) => [file, `${file}-wal`, `${file}-shm`]), MASTER_FILE];

/** What an open handle stands on. */
export interface Ground {
  /**
   * Throws where one of the files was taken away or exchanged since the handle was opened. SQLite goes on writing into
   * a deleted file without a word, and all of it would be gone with the process.
   *
   * Exit 9 `journal_missing`, `journal_replaced`.
   */
  check(): void;
}

export function groundOf(dir: string): Ground {
  const known = new Map<string, string>();
  for (const file of FILES) {
    const id = identityOf(join(dir, file));
    if (id !== null) known.set(file, id);
  }
  return {
    check() {
      for (const [file, id] of known) {
        const now = identityOf(join(dir, file));
        if (now === id) continue;
        const [code, what] =
          now === null ? ["journal_missing", "taken away"] : ["journal_replaced", "exchanged for another file"];
        const message = `${join(dir, file)} was ${what} while it was open; what was written last is not in the journal.`;
        throw unverified(code as string, message, HINT);
      }
    },
  };
}

function identityOf(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev}:${found.ino}`;
}
