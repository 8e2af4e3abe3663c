import { cpSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { verifyJournal } from "../../../src/runtime/journal/audit.ts";
import { writeMark } from "../../../src/runtime/journal/mark.ts";
import { failure, frozen, INTENT, note, OP, open, rawly, SUBJECTS, setMark, tempFolder, written } from "./support.ts";

const codes = (dir: string) => verifyJournal(dir).problems.map(({ code }) => code);

/** How a folder answers who opens it to write, who opens it to read, and the audit. */
function answers(dir: string) {
  return [failure(() => open(dir)).code, failure(() => open(dir, { readOnly: true })).code, ...codes(dir)];
}

describe("the high-water mark", () => {
  test("it follows every commit, of a length that never changes", () => {
    const dir = tempFolder();
    const path = join(dir, "mark");
    const journal = open(dir);
    const mark = () => JSON.parse(readFileSync(path, "utf8"));
    const before = mark();
    expect(before).toEqual(journal.head());
    journal.create(OP, frozen, { intent: INTENT, subjects: SUBJECTS });
    journal.append(OP, [note("a"), note("b")]);
    expect(mark()).toEqual(journal.head());
    expect(mark()).toMatchObject({ jid: before.jid, size: 3 });
    expect(statSync(path).size).toBe(192);
  });

  test("removed while there are entries, the journal is not opened and no new mark is made", () => {
    const dir = written(3);
    rmSync(join(dir, "mark"));
    expect(answers(dir)).toEqual(["mark_missing", "mark_missing", "mark_missing"]);
    expect(existsSync(join(dir, "mark"))).toBe(false);
  });

  test("removed under an open journal, the next append says so", () => {
    const dir = written(3);
    const journal = open(dir);
    rmSync(join(dir, "mark"));
    expect(failure(() => journal.append(OP, [note("x")]))).toEqual({ code: "mark_missing", exit: 9 });
  });

  test("removed before there are entries, it is made again", () => {
    const dir = tempFolder();
    open(dir).close();
    rmSync(join(dir, "mark"));
    expect(verifyJournal(dir).ok).toBe(true);
    expect(open(dir, { readOnly: true }).list()).toEqual([]);
    open(dir);
    expect(existsSync(join(dir, "mark"))).toBe(true);
  });

  test("raised, the journal counts as cut short", () => {
    const dir = written(3);
    setMark(dir, (mark) => ({ ...mark, size: mark.size + 1 }));
    expect(answers(dir)).toEqual(["journal_shorter", "journal_shorter", "truncated"]);
  });

  test("lowered without its root, or with another root, the journal counts as forked", () => {
    for (const change of [{ size: 4 }, { root: `${"A".repeat(43)}=` }, { size: 0 }]) {
      const dir = written(3);
      setMark(dir, (mark) => ({ ...mark, ...change }));
      expect(answers(dir)).toEqual(["journal_forked", "journal_forked", "forked"]);
    }
  });

  test("of another journal, the journal counts as replaced", () => {
    const [dir, other] = [written(3), tempFolder()];
    open(other).close();
    cpSync(join(other, "mark"), join(dir, "mark"));
    expect(answers(dir)).toEqual(["journal_replaced", "journal_replaced", "replaced"]);
  });

  test("of garbage, it is damaged", () => {
    for (const garbage of ["", "{}", '{"jid":"x","size":-1,"root":""}', "null", '{"jid":"x","size":1.5,"root":""}']) {
      const dir = written(3);
      writeFileSync(join(dir, "mark"), garbage);
      expect(answers(dir)).toEqual(["mark_damaged", "mark_damaged", "mark_damaged"]);
    }
  });

  test("left behind by a lost write, it is caught up with by the next append", () => {
    const dir = written(3);
    const lag = readFileSync(join(dir, "mark"), "utf8");
    open(dir).append(OP, [note("x")]);
    writeFileSync(join(dir, "mark"), lag);
    expect(verifyJournal(dir).ok).toBe(true);
    const journal = open(dir);
    expect(journal.read(OP)).toHaveLength(4);
    journal.append(OP, [note("y")]);
    expect(JSON.parse(readFileSync(join(dir, "mark"), "utf8"))).toEqual(journal.head());
  });

  test("a mark above the journal is never lowered by an append", () => {
    const dir = written(3);
    const journal = open(dir);
    const { jid, root } = journal.head();
    writeMark(dir, { jid, size: 90, root });
    expect(failure(() => journal.append(OP, [note("x")]))).toEqual({ code: "journal_shorter", exit: 9 });
    expect(JSON.parse(readFileSync(join(dir, "mark"), "utf8")).size).toBe(90);
  });
});

describe("a state folder of which a part is gone or old", () => {
  test("an older copy of the journal under the newer mark is cut short", () => {
    const dir = written(3);
    const old = readFileSync(join(dir, "journal.db"));
    const journal = open(dir);
    journal.append(OP, [note("x")]);
    journal.close();
    writeFileSync(join(dir, "journal.db"), old);
    expect(answers(dir)).toEqual(["journal_shorter", "journal_shorter", "truncated"]);
  });

  test("a fresh journal in the place of the old one is another journal", () => {
    const [dir, fresh] = [written(3), tempFolder()];
    const journal = open(fresh);
    journal.create(OP, frozen, { intent: INTENT, subjects: SUBJECTS });
    journal.close();
    for (const file of ["journal.db", "keys.db", "master.key"]) cpSync(join(fresh, file), join(dir, file));
    expect(answers(dir)).toEqual(["journal_replaced", "journal_replaced", "replaced"]);
  });

  test("nothing is begun anew while any part of the old one is there", () => {
    const gone: [string[], string, string[]][] = [
      [["journal.db"], "journal_missing", ["journal_missing"]],
      [["journal.db", "mark"], "journal_missing", ["journal_missing"]],
      [["journal.db", "keys.db"], "journal_missing", ["journal_missing"]],
      [["keys.db"], "keys_missing", []],
      [["master.key"], "master_key_missing", []],
      [["keys.db", "master.key"], "keys_missing", []],
    ];
    for (const [files, code, audit] of gone) {
      const dir = written(3);
      for (const file of files) rmSync(join(dir, file));
      expect([files, ...answers(dir)]).toEqual([files, code, code, ...audit]);
      expect(files.map((file) => existsSync(join(dir, file)))).toEqual(files.map(() => false));
    }
  });

  test("an emptied or overwritten file is no fresh start either", () => {
    const emptied = written(3);
    writeFileSync(join(emptied, "journal.db"), "");
    expect(answers(emptied)).toEqual(["journal_missing", "journal_missing", "genesis"]);
    const garbage = written(3);
    writeFileSync(join(garbage, "journal.db"), "not a database".repeat(999));
    expect(answers(garbage)).toEqual(["journal_corrupt", "journal_corrupt", "corrupt"]);
    const keyless = written(3);
    writeFileSync(join(keyless, "keys.db"), "not a database".repeat(999));
    expect(answers(keyless)).toEqual(["journal_corrupt", "journal_corrupt"]);
  });

  test("another master key, and a changed wrapped key, open nothing", () => {
    const other = written(3);
    writeFileSync(join(other, "master.key"), `${Buffer.alloc(32, 1).toString("base64url")}\n`);
    expect(answers(other)).toEqual(["key_unwrap", "key_unwrap"]);
    writeFileSync(join(other, "master.key"), "short\n");
    expect(answers(other)).toEqual(["master_key_damaged", "master_key_damaged"]);
    const swapped = written(3);
    const swap = "UPDATE dek SET wrapped = (SELECT wrapped FROM dek WHERE op = '#index') WHERE op = ?";
    rawly(swapped, (db) => db.prepare(swap).run(OP), "keys.db");
    expect(failure(() => open(swapped).read(OP))).toEqual({ code: "key_unwrap", exit: 9 });
  });

  test("an operation whose key was deleted is not readable, and everything still verifies without keys", () => {
    const dir = written(3);
    rawly(dir, (db) => db.prepare("DELETE FROM dek WHERE op = ?").run(OP), "keys.db");
    expect(failure(() => open(dir).read(OP))).toEqual({ code: "key_missing", exit: 9 });
    expect(verifyJournal(dir).ok).toBe(true);
    expect(open(dir).verify().problems).toEqual([{ code: "key_missing", seq: 0 }]);
  });

  test("a layout from a newer version is left alone", () => {
    for (const file of ["journal.db", "keys.db"]) {
      const dir = written(3);
      rawly(dir, (db) => db.exec("INSERT INTO migration VALUES (99, 'from the future', 'x')"), file);
      expect(failure(() => open(dir))).toEqual({ code: "journal_newer", exit: 11 });
      expect(failure(() => open(dir, { readOnly: true }))).toEqual({ code: "journal_newer", exit: 11 });
    }
  });
});
