import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { escapeText } from "../../model/text.ts";

const LONGEST = 1_048_576;

/** A file that decides who may approve, or why it cannot be trusted. */
export type TrustedFile =
  | { kind: "read"; bytes: Buffer }
  | { kind: "missing" }
  | { kind: "unreadable" | "owner" | "writable"; why: string };

/**
 * Reads a file that authority rests on. It must be a plain file that belongs to the reader or to root and that nobody
 * else can write; whoever can write it decides who approves. The checks are made on the opened file, not on its name.
 */
export function readTrusted(path: string, uid = process.getuid?.()): TrustedFile {
  let file: number | undefined;
  try {
    // Without O_NONBLOCK, opening a pipe that nobody writes to would wait for ever.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stat = fstatSync(file);
    const { mode, size, uid: owner } = stat;
    if (!stat.isFile()) return { kind: "unreadable", why: "it is no plain file" };
    if (size > LONGEST) return { kind: "unreadable", why: `it is larger than ${LONGEST} bytes` };
    if (uid !== undefined && owner !== uid && owner !== 0) return { kind: "owner", why: `it belongs to user ${owner}` };
    if (uid !== undefined && (mode & 0o022) !== 0)
      return { kind: "writable", why: "others than its owner can write it" };
    return { kind: "read", bytes: readFileSync(file) };
  } catch (fault) {
    if (fault instanceof Error && "code" in fault && fault.code === "ENOENT") return { kind: "missing" };
    return { kind: "unreadable", why: escapeText(fault instanceof Error ? fault.message : String(fault)) };
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
