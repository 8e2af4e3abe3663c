import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import type { Readable } from "node:stream";
import { invalid, type ProvisionError } from "../model/errors.ts";

/** What a person writes for `provision` (requests, catalogues, configuration) may have this many bytes. */
export const LARGEST_INPUT = 1_000_000;

export interface FileBytes {
  bytes: Buffer;
  /** Of the opened file, so that it tells of the very bytes that were read. */
  stats: Stats;
}

/**
 * Reads a regular file of at most `maxBytes` and never more than one byte beyond.
 *
 * @param what - How messages call it: "the request".
 * @throws exit 2: `file_not_found`, `unreadable_file`, `not_a_file`, `too_large`.
 */
export function readBounded(path: string, maxBytes: number, what: string): FileBytes {
  let handle: number;
  try {
    // Without O_NONBLOCK, opening a pipe that nobody writes to would wait for ever.
    handle = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    throw unreadable(path, what, error);
  }
  try {
    const stats = fstatSync(handle);
    if (!stats.isFile()) throw invalid("not_a_file", `${path}, ${what}, is no regular file.`);
    const bytes = fill(handle, maxBytes + 1);
    if (bytes.length > maxBytes) throw tooLarge(path, maxBytes);
    return { bytes, stats };
  } finally {
    closeSync(handle);
  }
}

function fill(handle: number, most: number): Buffer {
  const chunks: Buffer[] = [];
  let total = 0;
  for (;;) {
    const chunk = Buffer.alloc(Math.min(65_536, most - total));
    const read = chunk.length === 0 ? 0 : readSync(handle, chunk, 0, chunk.length, null);
    if (read === 0) return Buffer.concat(chunks);
    chunks.push(chunk.subarray(0, read));
    total += read;
  }
}

/** Reads standard input, or another stream, up to `maxBytes`; the rest is left unread. @throws exit 2 `too_large`. */
export async function readStream(stream: Readable, maxBytes: number, what: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk);
    total += bytes.length;
    if (total > maxBytes) throw tooLarge(what, maxBytes);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/** @throws exit 2 `not_utf8`. A byte order mark at the start is dropped. */
export function decodeUtf8(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalid("not_utf8", `${file} is not text in UTF-8.`, [{ path: file, code: "not_utf8", allowed: "UTF-8" }]);
  }
}

/** Replaces a file as a whole: a reader sees the old bytes or the new ones, also after a crash. */
export function writeAtomically(path: string, data: string | Uint8Array, mode: number): void {
  const beside = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  const handle = openSync(beside, "wx", mode);
  try {
    writeFileSync(handle, data);
    // The umask takes bits off what open() was asked for.
    fchmodSync(handle, mode);
    fsyncSync(handle);
  } catch (error) {
    unlinkSync(beside);
    throw error;
  } finally {
    closeSync(handle);
  }
  renameSync(beside, path);
  syncFolder(dirname(path));
}

/** The name is durable only once its folder is; a platform that cannot open folders has no such call. */
function syncFolder(folder: string): void {
  let handle: number;
  try {
    handle = openSync(folder, "r");
  } catch {
    return;
  }
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** The system's word for a failure (`ENOENT`), which names no content. */
export function errnoOf(error: unknown): string {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "unknown error";
}

function unreadable(path: string, what: string, error: unknown): ProvisionError {
  const code = errnoOf(error);
  if (code === "ENOENT" || code === "ENOTDIR") {
    return invalid("file_not_found", `${path}, ${what}, does not exist.`, [{ path, code: "file_not_found" }]);
  }
  return invalid("unreadable_file", `${path}, ${what}, cannot be read (${code}).`, [{ path, code: "unreadable_file" }]);
}

function tooLarge(file: string, maxBytes: number): ProvisionError {
  const allowed = `at most ${maxBytes} bytes`;
  return invalid("too_large", `${file} is larger than ${maxBytes} bytes.`, [
    { path: file, code: "too_large", allowed },
  ]);
}
