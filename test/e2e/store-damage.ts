import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import type { Desk } from "./desk.ts";

/** Something that happens to the state folder, and what takes it back. */
export type Damage = (desk: Desk) => () => void;

export const inState = (desk: Desk, name = "") => desk.file(join(".provision", name));

export function filesIn(desk: Desk): string[] {
  return readdirSync(inState(desk)).filter((name) => statSync(inState(desk, name)).isFile());
}

/** Answers, or room for them, beside the journal. */
export const asideIn = (desk: Desk) => filesIn(desk).filter((name) => name.startsWith("unrecorded-"));

/** Another process is in the midst of a write, and stays there. */
export function locked(file: string): Damage {
  return (desk) => {
    const db = new Sqlite(inState(desk, file));
    db.exec("BEGIN IMMEDIATE");
    return () => {
      db.exec("ROLLBACK");
      db.close();
    };
  };
}

function chattr(flag: "+i" | "-i", paths: readonly string[]): void {
  execFileSync("chattr", [flag, ...paths], { stdio: "ignore" });
}

/** Whether files can be made unchangeable here: permission bits do not bind root, and this flag needs root. */
export function canFix(): boolean {
  const folder = mkdtempSync(join(tmpdir(), "provision-fixed-"));
  try {
    chattr("+i", [folder]);
    chattr("-i", [folder]);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Nothing can write to these any more, whoever it is. */
export function fixed(which: (desk: Desk) => string[]): Damage {
  return (desk) => {
    const paths = which(desk).map((name) => inState(desk, name));
    chattr("+i", paths);
    return () => chattr("-i", paths);
  };
}

/** Keeps a copy of the whole folder, and gives what puts it back; what was kept beside the journal since stays. */
export function restorer(desk: Desk): () => void {
  const copy = mkdtempSync(join(desk.dir, "..", "copy-"));
  const kept = (path: string) => !path.includes("unrecorded-");
  cpSync(inState(desk), copy, { recursive: true, filter: kept });
  return () => {
    for (const name of filesIn(desk).filter(kept)) rmSync(inState(desk, name));
    cpSync(copy, inState(desk), { recursive: true });
    rmSync(copy, { recursive: true });
  };
}

export function gone(which: (desk: Desk) => string[]): Damage {
  return (desk) => {
    const restore = restorer(desk);
    for (const name of which(desk)) rmSync(inState(desk, name));
    return restore;
  };
}

export function changed(name: string, change: (path: string) => void): Damage {
  return (desk) => {
    const restore = restorer(desk);
    change(inState(desk, name));
    return restore;
  };
}

/** Another file of the same bytes takes its place. */
export function exchanged(name: string): Damage {
  return changed(name, (path) => {
    cpSync(path, `${path}.new`);
    renameSync(`${path}.new`, path);
  });
}

/** Noise in the place of what was there, the same in every run. */
export function garbled(name: string, from: number, to = Number.POSITIVE_INFINITY): Damage {
  return changed(name, (path) => {
    const bytes = readFileSync(path);
    for (let at = from; at < to && at < bytes.length; at++) bytes[at] = (at * 7919) >> 3;
    writeFileSync(path, bytes);
  });
}

/** Brings everything from the logs into the files themselves, as the last process does that closes them. */
export function settleLogs(desk: Desk): void {
  for (const file of ["journal.db", "keys.db"]) {
    const db = new Sqlite(inState(desk, file));
    db.pragma("wal_checkpoint(TRUNCATE)");
    db.close();
  }
}

/** Everything that a journal is made of. What SQLite keeps beside it for readers is no content. */
export function contents(desk: Desk): Record<string, string> {
  const names = filesIn(desk).filter((name) => !/-(?:shm|wal)$/.test(name));
  return Object.fromEntries(names.map((name) => [name, readFileSync(inState(desk, name), "latin1")]));
}
