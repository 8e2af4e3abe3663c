import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite, { type Database } from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { verifyJournal } from "../../../src/runtime/journal/audit.ts";
import { COLUMNS, type Row } from "../../../src/runtime/journal/chain.ts";
import { failure, note, OP, OTHER, open, rawly, rechain, reforge, tempFolder, written } from "./support.ts";

/** The entry that is changed: the third of OP, in the midst of the journal. */
const SEQ = 3;
/** The last one of `written(6)`, of OP as well. What follows a forged entry no longer opens: `prev` is sealed too. */
const LAST = 7;

function copyOf(dir: string): string {
  const copy = tempFolder();
  cpSync(dir, copy, { recursive: true });
  return copy;
}

/** What reading both operations and the keyless audit say after a change; the folder itself stays as it is. */
function outcome(base: string, change: (db: Database) => void) {
  const dir = copyOf(base);
  rawly(dir, change);
  const audit = verifyJournal(dir);
  const read = failure(() => {
    const journal = open(dir, { readOnly: true });
    journal.read(OP);
    journal.read(OTHER);
  });
  return { read, audit: audit.problems.map(({ code, seq }) => `${code} ${seq}`) };
}

function set(db: Database, column: string, value: unknown, seq = SEQ): void {
  db.prepare(`UPDATE entry SET ${column} = ? WHERE seq = ?`).run(value, seq);
}

function flip(value: string | number): string | number {
  if (typeof value === "number") return value + 1;
  const last = value.at(-1);
  return value.slice(0, -1) + (last === "0" ? "1" : "0");
}

const rowOf = (db: Database, seq = SEQ) => db.prepare("SELECT * FROM entry WHERE seq = ?").get(seq) as Row;

describe("a changed entry", () => {
  test("each field of the entry, changed by one character, is refused by read and named by the audit; the twin reads", () => {
    const base = written(6);
    expect(open(copyOf(base)).read(OP)).toHaveLength(6);
    expect(verifyJournal(base)).toMatchObject({ ok: true, problems: [] });
    for (const column of COLUMNS.filter((name) => name !== "seq")) {
      const { read, audit } = outcome(base, (db) => set(db, column, flip(rowOf(db)[column])));
      expect([column, read.exit], column).toEqual([column, 9]);
      expect(audit[0] === `flipped ${SEQ}` || audit.includes(`flipped ${SEQ}`), `${column}: ${audit}`).toBe(true);
    }
  });

  test("one byte in sixteen of the ciphertext, changed, is refused by its hash", () => {
    const base = written(4);
    const length = rawly(copyOf(base), (db) => Buffer.from(rowOf(db).ct, "base64url").length);
    for (let i = 0; i < length; i += 16) {
      const { read, audit } = outcome(base, (db) => {
        const bytes = Buffer.from(rowOf(db).ct, "base64url");
        bytes[i] = (bytes[i] ?? 0) ^ 0x80;
        set(db, "ct", bytes.toString("base64url"));
      });
      expect([i, read.code, audit]).toEqual([i, "entry_hash", [`flipped ${SEQ}`]]);
    }
  });

  test("with every hash and link made right again the mark still tells, and so does the audit", () => {
    const base = written(6);
    const { read, audit } = outcome(base, (db) => {
      set(db, "ts", "2020-01-01T00:00:00.000Z");
      rechain(db);
    });
    expect(read).toEqual({ code: "journal_forked", exit: 9 });
    expect(audit).toEqual(["forked null"]);
  });

  test("with its own hash made right the entry no longer fits its neighbours", () => {
    const base = written(6);
    const { read, audit } = outcome(base, (db) => {
      const row = rowOf(db);
      set(db, "ts", "2020-01-01T00:00:00.000Z");
      rechain(db);
      for (const seq of [SEQ + 1, SEQ + 2, SEQ + 3, SEQ + 4]) set(db, "prev", `${seq}`, seq);
      expect(rowOf(db).entry_hash).not.toBe(row.entry_hash);
    });
    expect(read.exit).toBe(9);
    expect(audit[0]).toBe(`flipped ${SEQ + 1}`);
  });
});

describe("a forger who holds every file but not the keys", () => {
  const cases: [string, string, unknown, string][] = [
    ["a time", "ts", "2020-01-01T00:00:00.000Z", "ciphertext"],
    ["a step", "step", 9, "ciphertext"],
    ["a key commitment", "kc", "A".repeat(43), "key_commitment"],
    ["a nonce", "nonce", "A".repeat(16), "ciphertext"],
    ["a version", "v", 2, "header"],
    ["an encryption", "enc", "none", "header"],
    ["a key id", "kid", OTHER, "header"],
  ];
  for (const [what, column, value, code] of cases)
    test(`${what} put in, with hashes, links, tree and mark all made to fit, does not open`, () => {
      const dir = written(6);
      reforge(dir, (db) => set(db, column, value, LAST));
      expect(verifyJournal(dir).problems.filter((problem) => problem.code !== "version")).toEqual([]);
      expect(failure(() => open(dir).read(OP))).toEqual({ code, exit: 9 });
      expect(open(dir).read(OTHER)).toHaveLength(2);
    });
});

describe("a forger who holds the keys too", () => {
  /** Two histories of one journal, both well sealed and chained, that part at entry 5. The mark of the first can lag. */
  function parted(op: string, markAt: number) {
    const [dir, other] = [written(3), written(3)];
    const lag = readFileSync(join(dir, "mark"), "utf8");
    for (const [folder, text] of [
      [dir, "what was"],
      [other, "what they say was"],
    ] as const) {
      const journal = open(folder);
      journal.append(op, [note(text)]);
      journal.append(op === OP ? OTHER : OP, [note("the same")]);
      journal.close();
    }
    if (markAt === 5) writeFileSync(join(dir, "mark"), lag);
    const theirs = rawly(other, (db) => rowOf(db, 5));
    const reader = open(dir, { readOnly: true });
    expect(reader.read(OP).length + reader.read(OTHER).length).toBe(7);
    rawly(dir, (db) => {
      for (const column of COLUMNS) set(db, column, theirs[column], 5);
    });
    return { dir, reader };
  }

  test("an entry in another one's place did not stand there when the mark was written", () => {
    const { dir, reader } = parted(OP, 7);
    rawly(dir, (db) => set(db, "prev", rowOf(db, 5).entry_hash, 6));
    expect(failure(() => reader.read(OP))).toEqual({ code: "journal_forked", exit: 9 });
  });

  test("beyond the mark, the entry after it tells, and so does the entry before", () => {
    expect(failure(() => parted(OP, 5).reader.read(OP))).toEqual({ code: "chain", exit: 9 });
    expect(failure(() => parted(OTHER, 5).reader.read(OP))).toEqual({ code: "chain", exit: 9 });
  });
});

describe("a journal whose order or length was changed", () => {
  const move = (db: Database, from: number, to: number) =>
    db.prepare("UPDATE entry SET seq = ? WHERE seq = ?").run(to, from);
  const cases: [string, (db: Database) => void, string][] = [
    ["a deleted entry is missing", (db) => db.exec(`DELETE FROM entry WHERE seq = ${SEQ}`), `missing ${SEQ}`],
    ["a deleted first entry is missing", (db) => db.exec("DELETE FROM entry WHERE seq = 0"), "missing 0"],
    ["a deleted last entry was cut off", (db) => db.exec("DELETE FROM entry WHERE seq = 7"), "truncated 7"],
    ["all entries deleted were cut off", (db) => db.exec("DELETE FROM entry"), "truncated 0"],
    [
      "two entries that changed places are out of order",
      (db) => {
        move(db, 2, 99);
        move(db, 3, 2);
        move(db, 99, 3);
      },
      "reordered 2",
    ],
    ["an entry moved to another place is out of order", (db) => void move(db, 7, 9), "reordered 9"],
    [
      "an entry replaced by a REPLACE without triggers does not verify",
      (db) => {
        const { entry_hash } = rowOf(db);
        db.exec(
          `INSERT OR REPLACE INTO entry SELECT v, jid, seq, prev, ts, op, 9, kind, enc, kid, kc, nonce, ct, '${entry_hash}' FROM entry WHERE seq = ${SEQ}`,
        );
      },
      `flipped ${SEQ}`,
    ],
    [
      "another genesis is not what the first entry follows",
      (db) => db.exec("UPDATE genesis SET vkey = vkey || 'x'"),
      "genesis 0",
    ],
    ["another journal id is another journal", (db) => db.exec("UPDATE genesis SET jid = 'jrn_other'"), "replaced 0"],
    ["a genesis that is gone is named", (db) => db.exec("DELETE FROM genesis"), "genesis null"],
  ];
  for (const [name, change, problem] of cases)
    test(name, () => {
      const { read, audit } = outcome(written(6), change);
      expect(read.exit).toBe(9);
      expect(audit).toContain(problem);
    });

  test("a gap in an operation's own numbering is a missing entry, whatever the index says", () => {
    const dir = written(6);
    const count = (by: number) =>
      rawly(dir, (db) => db.exec(`UPDATE operation SET count = count + ${by} WHERE first_seq = 0`));
    count(1);
    const journal = open(dir);
    journal.append(OP, [note("numbered 8, after 6")]);
    count(-1);
    expect(verifyJournal(dir).ok).toBe(true);
    expect(failure(() => journal.read(OP))).toEqual({ code: "missing_entry", exit: 9 });
  });

  test("a first entry that follows another genesis is refused before anything is read", () => {
    const dir = written(6);
    rawly(dir, (db) => db.exec("UPDATE genesis SET created = 'x'"));
    expect(failure(() => open(dir))).toEqual({ code: "genesis", exit: 9 });
  });

  test("an operation whose entries the index leaves out is refused", () => {
    const base = written(6);
    const cut = "UPDATE operation SET count = 1, last_seq = 0 WHERE first_seq = 0";
    expect(outcome(base, (db) => db.exec(cut)).read.code).toBe("missing_entry");
    expect(outcome(base, (db) => db.exec("UPDATE operation SET count = 9")).read.code).toBe("missing_entry");
    expect(outcome(base, (db) => db.exec("DELETE FROM operation WHERE first_seq = 0")).read.code).toBe("missing_entry");
  });

  test("a journal written anew from its first entry, with the keys at hand, is not the one that was marked", () => {
    const base = written(4);
    const { read, audit } = outcome(base, (db) => {
      db.exec("DELETE FROM entry WHERE seq > 2");
      set(db, "ts", "2020-01-01T00:00:00.000Z", 0);
      rechain(db);
      db.exec("UPDATE operation SET last_seq = 2, count = 2 WHERE first_seq = 0");
      db.exec("UPDATE operation SET last_seq = 1, count = 1 WHERE first_seq = 1");
    });
    expect(read.code).toBe("journal_shorter");
    expect(audit).toEqual(["truncated 3"]);
  });
});

describe("the database's own defences", () => {
  test("entries are neither changed nor deleted, nor put anywhere but at the end, by plain SQL", () => {
    const journal = written(4);
    const db = rawly(journal, (raw) => raw.name);
    const insert = (seq: string, hash: string) =>
      `INSERT OR REPLACE INTO entry SELECT v, jid, ${seq}, prev, ts, op, step, kind, enc, kid, kc, nonce, ct, ${hash} FROM entry WHERE seq = 2`;
    const attempts = [
      "UPDATE entry SET ts = 'x' WHERE seq = 2",
      "DELETE FROM entry WHERE seq = 2",
      insert("2", "'aa'"),
      insert("9", "'aa'"),
      insert("NULL", "entry_hash"),
      insert("6", "entry_hash"),
      "UPDATE genesis SET jid = 'x'",
      "DELETE FROM genesis",
      "INSERT OR REPLACE INTO genesis VALUES (1, 'x', 'x', 'x', 'x')",
    ];
    for (const sql of attempts)
      expect(() => plainly(db, sql), sql).toThrow(/entry must follow|only appended|of this hash|genesis/);
    expect(verifyJournal(journal).ok).toBe(true);
    expect(() => plainly(db, insert("6", "'aa'"))).not.toThrow();
  });
});

function plainly(path: string, sql: string): void {
  const db = new Sqlite(path);
  try {
    db.exec(sql);
  } finally {
    db.close();
  }
}
