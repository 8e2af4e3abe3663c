import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Answer, Journal } from "../../../src/runtime/journal/journal.ts";
import { failure, OP, OTHER, open, rawly, tempFolder, written } from "./support.ts";

const DETAIL = "The service says so.";
const answer: Answer = {
  kind: "step.transport",
  ...{ step: 3, phase: "apply" as const, try: 1, attempt: 1, epoch: 1 },
  reply: { kind: "denied", status: 403, code: "forbidden", detail: DETAIL },
  transport: {
    ...{ status: 403, provider_request_id: "req_12", started_at: "2026-07-24T10:00:00.000Z", duration_ms: 7 },
    ...{ fingerprint: "f", response: null },
  },
};

const beside = (dir: string) => readdirSync(dir).filter((name) => name.startsWith("unrecorded-"));
const answers = (journal: Journal) => journal.read(OP).filter(({ kind }) => kind === "step.transport");

describe("room for an answer beside the journal", () => {
  test("is there ahead of the answer, for its user alone, and is given back where it was not needed", () => {
    const dir = written(2);
    const aside = open(dir).reserve(OP);
    expect([statSync(aside.path).mode & 0o777, readFileSync(aside.path, "utf8").trim()]).toEqual([0o600, ""]);
    expect(statSync(aside.path).size).toBeGreaterThan(8_192);
    aside.release();
    expect(beside(dir)).toEqual([]);
  });

  test("takes the answer in place, sealed, and keeps it when the run is over", () => {
    const dir = written(2);
    const aside = open(dir).reserve(OP);
    const { size, ino } = statSync(aside.path);
    expect(aside.keep(answer)).toBeUndefined();
    aside.release();
    const kept = readFileSync(aside.path, "utf8");
    expect([statSync(aside.path).size, statSync(aside.path).ino]).toEqual([size, ino]);
    for (const part of [DETAIL, "req_12", "forbidden"]) expect(kept).not.toContain(part);
  });

  test("is made anew where it was taken away, with the folder if need be", () => {
    const dir = written(2);
    const aside = open(dir).reserve(OP);
    rmSync(dir, { recursive: true });
    expect(aside.keep(answer)).toBeUndefined();
    expect([statSync(dir).mode & 0o777, statSync(aside.path).mode & 0o777]).toEqual([0o700, 0o600]);
    expect(failure(() => open(dir))).toEqual({ code: "journal_missing", exit: 9 });
    expect(beside(dir)).toHaveLength(1);
    expect(readdirSync(dir)).toHaveLength(1);
  });

  test("says why where nothing can be kept", () => {
    const dir = written(2);
    const aside = open(dir).reserve(OP);
    rmSync(dir, { recursive: true });
    writeFileSync(dir, "in the way");
    expect(aside.keep(answer)).toBe("ENOTDIR");
    rmSync(dir);
  });

  test("is refused ahead of everything where there is none", () => {
    const dir = tempFolder();
    const journal = open(dir);
    expect(failure(() => journal.reserve(OP))).toEqual({ code: "key_missing", exit: 9 });
    expect(beside(dir)).toEqual([]);
  });
});

describe("what was kept beside the journal", () => {
  function kept(dir: string): string {
    const journal = open(dir);
    const aside = journal.reserve(OP);
    expect(aside.keep(answer)).toBeUndefined();
    journal.close();
    return aside.path;
  }

  test("is appended by the next run, once, and taken away; empty room goes with it", () => {
    const dir = written(2);
    kept(dir);
    const journal = open(dir);
    const unused = journal.reserve(OP);
    const others = journal.reserve(OTHER);
    expect(journal.takeIn(OP)).toBe(1);
    expect(answers(journal)).toMatchObject([answer]);
    expect([existsSync(unused.path), beside(dir)]).toEqual([false, [others.path.slice(dir.length + 1)]]);
    expect(journal.takeIn(OP)).toBe(0);
    expect(answers(journal)).toHaveLength(1);
    expect(journal.verify().ok).toBe(true);
  });

  test("is not appended where it stands in the journal already", () => {
    const dir = written(2);
    kept(dir);
    const journal = open(dir);
    journal.append(OP, [answer]);
    expect([journal.takeIn(OP), answers(journal).length, beside(dir)]).toEqual([0, 1, []]);
  });

  test("stays where the journal still cannot take it", () => {
    const dir = written(2);
    kept(dir);
    const journal = open(dir, { busyMs: 10 });
    rawly(dir, (db) => {
      db.exec("BEGIN IMMEDIATE");
      expect(failure(() => journal.takeIn(OP))).toEqual({ code: "journal_busy", exit: 11 });
      db.exec("ROLLBACK");
    });
    expect(journal.takeIn(OP)).toBe(1);
  });

  test("is refused where it is not what was kept: changed, cut, of another operation or journal, or an entry", () => {
    const changes: [string, (text: string, dir: string) => string][] = [
      ["ciphertext", (text) => text.replace(/"ct":"(.)/, (_all, first) => `"ct":"${first === "A" ? "B" : "A"}`)],
      ["key_commitment", (text) => text.replace(/"kc":"(.)/, (_all, first) => `"kc":"${first === "A" ? "B" : "A"}`)],
      ["ciphertext", (text) => text.replace('"step":3', '"step":4')],
      ["unrecorded_damaged", (text) => text.slice(0, 200)],
      ["unrecorded_damaged", () => "null"],
      ["unrecorded_damaged", () => "{}"],
      ["unrecorded_damaged", () => "rubbish"],
      ["unrecorded_damaged", (text) => text.replaceAll(OP, OTHER)],
      ["unrecorded_damaged", (text) => text.replace(/"jid":"[^"]+"/, '"jid":"jrn_other"')],
      [
        "unrecorded_damaged",
        (_text, dir) => JSON.stringify(rawly(dir, (db) => db.prepare("SELECT * FROM entry WHERE seq = 1").get())),
      ],
    ];
    for (const [code, change] of changes) {
      const dir = written(2);
      const path = kept(dir);
      writeFileSync(path, change(readFileSync(path, "utf8"), dir));
      const journal = open(dir);
      expect([code, failure(() => journal.takeIn(OP))]).toEqual([code, { code, exit: 9 }]);
      expect([answers(journal), existsSync(path)]).toEqual([[], true]);
    }
  });

  test("cannot be opened once the operation's key is gone", () => {
    const dir = written(2);
    kept(dir);
    rawly(dir, (db) => db.prepare("DELETE FROM dek WHERE op = ?").run(OP), "keys.db");
    expect(failure(() => open(dir).takeIn(OP))).toEqual({ code: "key_missing", exit: 9 });
  });
});
