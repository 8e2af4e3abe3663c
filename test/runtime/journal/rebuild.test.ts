import { describe, expect, test } from "vitest";
import { approval, failure, INTENT, note, OP, OTHER, open, rawly, SUBJECTS, TENANT, written } from "./support.ts";

const TABLES = ["node", "operation", "nonce", "subject", "lease", "lease_key"];

function index(dir: string): Record<string, unknown[]> {
  return rawly(dir, (db) =>
    Object.fromEntries(TABLES.map((table) => [table, db.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).all()])),
  );
}

/** A journal with something in every table of the index. */
function full(): string {
  const dir = written(6);
  const journal = open(dir);
  journal.append(OP, [approval("n1"), note("x")], undefined, { bind: [`${TENANT} id:usr_1`], state: "waiting" });
  journal.append(OTHER, [approval("n2")]);
  journal.appendGlobal({ kind: "roster.loaded", hash: "sha256:1" });
  journal.close();
  return dir;
}

describe("the index", () => {
  test("made again from the entries alone it is what it was", () => {
    const dir = full();
    const before = index(dir);
    for (const table of TABLES.slice(0, 4)) expect(before[table]?.length, table).toBeGreaterThan(0);
    open(dir).rebuild();
    expect(index(dir)).toEqual(before);
  });

  test("lost, it comes back but for the listed states, and those by whoever can fold", () => {
    const dir = full();
    const before = index(dir);
    const head = open(dir).head();
    rawly(dir, (db) => {
      for (const table of ["operation", "nonce", "subject"]) db.exec(`DELETE FROM ${table}`);
    });
    const journal = open(dir);
    expect(failure(() => journal.read(OP)).code).toBe("missing_entry");
    journal.rebuild((entries) => `${entries.length} entries`);
    expect(journal.list().map(({ op, state }) => [op, state])).toEqual([
      [OP, "8 entries"],
      [OTHER, "3 entries"],
    ]);
    expect([journal.byIntent(INTENT), journal.bySubject(SUBJECTS), journal.head()]).toEqual([[OP], [OP], head]);
    expect(failure(() => journal.append(OP, [approval("n2")])).code).toBe("nonce_used");
    expect({ ...index(dir), operation: [] }).toEqual({ ...before, operation: [] });
    expect(journal.verify().ok).toBe(true);
  });

  test("damaged tree nodes are told from a forked journal: who writes mends them, who reads says so", () => {
    const dir = full();
    const before = index(dir);
    for (const damage of ["DELETE FROM node", "UPDATE node SET hash = zeroblob(32)"]) {
      rawly(dir, (db) => db.exec(damage));
      expect(failure(() => open(dir, { readOnly: true }))).toEqual({ code: "index_damaged", exit: 9 });
      expect(open(dir).read(OP)).toHaveLength(8);
      expect(index(dir)).toEqual(before);
    }
  });

  test("of an operation whose key was deleted what stands in clear comes back", () => {
    const dir = full();
    rawly(dir, (db) => db.prepare("DELETE FROM dek WHERE op = ?").run(OP), "keys.db");
    const journal = open(dir);
    const listed = journal.list();
    journal.rebuild();
    expect(journal.list()).toEqual(listed);
    expect([journal.bySubject(SUBJECTS), journal.byIntent(INTENT)]).toEqual([[], []]);
    expect(journal.read(OTHER)).toHaveLength(3);
  });

  test("every question that grows with the journal is answered by an index", () => {
    const plans = rawly(written(2), (db) =>
      [
        "SELECT op FROM operation WHERE ending >= 'a' AND ending < 'a~' ORDER BY first_seq",
        "SELECT op FROM operation ORDER BY first_seq DESC LIMIT 1",
        "SELECT op FROM operation WHERE intent_mac = x'00' ORDER BY first_seq",
        "SELECT o.op FROM subject AS s JOIN operation AS o ON o.op = s.op WHERE s.mac = x'00'",
        "SELECT * FROM entry WHERE op = 'x' ORDER BY seq",
        "SELECT seq, entry_hash FROM entry ORDER BY seq DESC LIMIT 1",
        "SELECT op FROM lease_key WHERE mac = x'00'",
      ].map((sql) =>
        (db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[]).map(({ detail }) => detail),
      ),
    ).flat();
    expect(plans.filter((detail) => /^SCAN (?!operation USING|entry$)/.test(detail))).toEqual([]);
    expect(plans.length).toBeGreaterThan(6);
  });
});
