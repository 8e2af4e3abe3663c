import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { unverified } from "../../model/errors.ts";

/**
 * The high-water mark: how long the journal was when last written, and its root then. It lies outside both databases,
 * so that a journal which was cut short, exchanged or restored from an old copy is noticed.
 */
export interface Mark {
  jid: string;
  size: number;
  /** Padded base64, as in checkpoints. */
  root: string;
}

export const MARK_FILE = "mark";
/** Always the same length, within one disk sector: written in place it is old or new after a crash, never torn or empty. */
const LENGTH = 192;

export function markExists(dir: string): boolean {
  return existsSync(join(dir, MARK_FILE));
}

/** Undefined where there is none. Exit 9 `mark_damaged` where what is there is no mark. */
export function readMark(dir: string): Mark | undefined {
  const path = join(dir, MARK_FILE);
  for (let tries = 0; tries < 5; tries++) {
    const text = readText(path);
    if (text === undefined) return undefined;
    const mark = parse(text);
    // A reader takes no lock. Two equal readings in a row were not caught in the middle of a write.
    if (mark !== undefined && readText(path) === text) return mark;
  }
  throw unverified("mark_damaged", `The journal's high-water mark cannot be read (${path}).`, HINT);
}

export const HINT =
  "Nothing more is sent. Keep the state folder as it is, and restore the whole of it from a copy that you trust.";

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function parse(text: string): Mark | undefined {
  try {
    const { jid, size, root } = JSON.parse(text);
    const sound = typeof jid === "string" && Number.isSafeInteger(size) && size >= 0 && typeof root === "string";
    return sound ? { jid, size, root } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Writes the mark. The caller holds the journal's write lock, so that of two processes the later head is written last.
 * A mark that has vanished is not made anew: that is for `beginMark` alone.
 */
export function writeMark(dir: string, mark: Mark): void {
  const fd = openSync(join(dir, MARK_FILE), "r+");
  try {
    writeSync(fd, textOf(mark), 0);
  } finally {
    closeSync(fd);
  }
}

/** Makes the first mark of a journal, whole at once: a reader may be looking for it at this moment. */
export function beginMark(dir: string, mark: Mark): void {
  const draft = join(dir, `${MARK_FILE}.new`);
  rmSync(draft, { force: true });
  const fd = openSync(draft, "wx", 0o600);
  writeFileSync(fd, textOf(mark));
  fsyncSync(fd);
  closeSync(fd);
  renameSync(draft, join(dir, MARK_FILE));
}

function textOf({ jid, root, size }: Mark): string {
  return `${JSON.stringify({ jid, root, size }).padEnd(LENGTH - 1)}\n`;
}
