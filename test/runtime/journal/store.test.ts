import { execFile } from "node:child_process";
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { build } from "vite";
import { beforeAll, describe, expect, test } from "vitest";
import { verifyJournal } from "../../../src/runtime/journal/audit.ts";
import { journalOver } from "../../../src/runtime/journal/journal.ts";
import { openStore } from "../../../src/runtime/journal/open.ts";
import {
  failure,
  frozen,
  HOLDER,
  INTENT,
  means,
  note,
  OP,
  OTHER,
  open,
  rawly,
  SUBJECTS,
  tempFolder,
  written,
} from "./support.ts";

const run = promisify(execFile);

describe("several processes on one journal", () => {
  let program = "";
  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), "journal-child-"));
    symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
    await build({
      configFile: false,
      logLevel: "error",
      build: {
        ssr: resolve("test/runtime/journal/child.ts"),
        outDir: folder,
        rolldownOptions: { output: { entryFileNames: "child.mjs" } },
      },
    });
    program = join(folder, "child.mjs");
    return () => rmSync(folder, { recursive: true });
  });
  const start = (dir: string, name: string, count: number, shared = "") =>
    run(process.execPath, [program, dir, name, `${count}`, shared]);

  test("those who begin it at once begin the same one", async () => {
    const dir = tempFolder();
    await Promise.all(["aaaaaaaa", "bbbbbbbb", "cccccccc", "dddddddd"].map((name) => start(dir, name, 2)));
    expect(verifyJournal(dir)).toMatchObject({ ok: true, entries: 12 });
    expect(open(dir).verify().ok).toBe(true);
  });

  test("entries of both stand in one chain, and the mark is the later one's", async () => {
    const dir = written(2);
    await Promise.all([start(dir, "aaaaaaaa", 30, OP), start(dir, "bbbbbbbb", 30, OP)]);
    const journal = open(dir);
    expect(verifyJournal(dir)).toMatchObject({ ok: true, entries: 3 + 2 * 61, problems: [] });
    const bySharer = (by: string) =>
      journal.read(OP).flatMap((entry) => (entry.kind === "op.stopped" && entry.by === by ? [entry.reason] : []));
    for (const name of ["aaaaaaaa", "bbbbbbbb"])
      expect(bySharer(name)).toEqual(Array.from({ length: 30 }, (_, i) => `${i}`));
    expect(journal.head().size).toBe(125);
    expect(journal.verify().ok).toBe(true);
  });
});

describe("two handles on one journal", () => {
  test("each sees what the other appended, and their entries follow one another", () => {
    const dir = written(2);
    const [a, b] = [open(dir), open(dir)];
    for (let i = 0; i < 10; i++) {
      a.append(OP, [note(`a${i}`)]);
      b.append(i % 3 === 0 ? OTHER : OP, [note(`b${i}`), note("and one")]);
    }
    expect(a.head()).toEqual(b.head());
    expect(a.read(OP)).toEqual(b.read(OP));
    expect(a.verify()).toMatchObject({ ok: true, entries: 33 });
  });

  test("a reader reads while a writer is in the midst of a transaction", () => {
    const dir = written(2);
    const reader = open(dir, { readOnly: true });
    rawly(dir, (db) => {
      db.exec("BEGIN IMMEDIATE");
      expect(reader.read(OP)).toHaveLength(2);
      db.exec("ROLLBACK");
    });
  });
});

describe("a journal that cannot be written", () => {
  /** Each way to write, on a journal with OP in it. */
  const writes = (journal: ReturnType<typeof open>) => [
    () => journal.append(OP, [note("x")]),
    () => journal.create("prov_2026_07_24_zzzzzzzz", frozen, { intent: INTENT, subjects: SUBJECTS }),
    () => journal.setState(OP, "waiting"),
    () => journal.appendGlobal({ kind: "roster.loaded", hash: "x" }),
    () => journal.rebuild(),
  ];

  test("busy for longer than the wait: exit 11, and nothing was written", () => {
    const dir = written(2);
    const journal = open(dir, { busyMs: 10 });
    rawly(dir, (db) => {
      db.exec("BEGIN IMMEDIATE");
      for (const write of writes(journal)) expect(failure(write)).toEqual({ code: "journal_busy", exit: 11 });
      db.exec("ROLLBACK");
    });
    expect(journal.head().size).toBe(3);
    expect(journal.append(OP, [note("now")]).ok).toBe(true);
    expect(journal.verify().ok).toBe(true);
  });

  test("full: exit 11, nothing of the append was written, and it goes on when there is room", () => {
    const dir = written(2);
    const store = openStore({ dir, ...means() });
    const journal = journalOver(store);
    const pages = store.db.pragma("page_count", { simple: true }) as number;
    store.db.pragma(`max_page_count = ${pages}`);
    const large = note("x".repeat(100_000));
    expect(failure(() => journal.append(OP, [note("small"), large]))).toEqual({ code: "journal_unwritable", exit: 11 });
    expect([journal.head().size, journal.read(OP).length]).toEqual([3, 2]);
    store.db.pragma("max_page_count = 1000000");
    expect(journal.append(OP, [large]).ok).toBe(true);
    expect(journal.verify().ok).toBe(true);
    journal.close();
  });

  test("opened to read: exit 11 for every write", () => {
    const journal = open(written(2), { readOnly: true });
    for (const write of writes(journal)) expect(failure(write)).toEqual({ code: "journal_unwritable", exit: 11 });
    const terms = { leaseMs: 10, holder: HOLDER, now: () => 0, alive: () => "dead" as const, sleep: async () => {} };
    return expect(journal.takeLease(OP, [], terms)).rejects.toMatchObject({ code: "journal_unwritable", exit: 11 });
  });

  test("in a folder without write permission: exit 11 to write, and it can still be read and audited", () => {
    const dir = written(2);
    const asNobody = process.getuid?.() === 0 ? 65_534 : undefined;
    if (asNobody !== undefined)
      for (const path of [dirname(dir), dir, ...readdirSync(dir).map((file) => join(dir, file))])
        chownSync(path, asNobody, asNobody);
    for (const file of readdirSync(dir)) chmodSync(join(dir, file), 0o400);
    chmodSync(dir, 0o500);
    try {
      if (asNobody !== undefined) process.seteuid?.(asNobody);
      expect(failure(() => open(dir).append(OP, [note("x")]))).toEqual({ code: "journal_unwritable", exit: 11 });
      expect(open(dir, { readOnly: true }).read(OP)).toHaveLength(2);
      expect(verifyJournal(dir).ok).toBe(true);
    } finally {
      if (asNobody !== undefined) process.seteuid?.(0);
      chmodSync(dir, 0o700);
    }
  });

  test("a mark that cannot be written is a journal that cannot be written", () => {
    const dir = written(2);
    const journal = open(dir);
    rmSync(join(dir, "mark"));
    mkdirSync(join(dir, "mark"));
    expect(() => journal.append(OP, [note("x")])).toThrow();
    rmSync(join(dir, "mark"), { recursive: true });
    cpSync(join(written(2), "mark"), join(dir, "mark"));
    expect(open(dir).read(OP)).toHaveLength(3);
  });
});
