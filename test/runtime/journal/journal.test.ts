import { chmodSync, existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openStore } from "../../../src/runtime/journal/open.ts";
import {
  allBytes,
  approval,
  failure,
  frozen,
  HOLDER,
  INTENT,
  intent,
  MAIL,
  means,
  note,
  OP,
  OTHER,
  observed,
  open,
  SUBJECTS,
  TENANT,
  tempFolder,
  written,
} from "./support.ts";

describe("a journal", () => {
  test("what was appended is read back by another process, in order and as it was", () => {
    const dir = tempFolder();
    const journal = open(dir);
    const first = journal.create(OP, frozen, { intent: INTENT, subjects: SUBJECTS });
    const more = journal.append(OP, [observed(2), approval("n1"), note("stop")]);
    expect(first).toMatchObject({ ...frozen, seq: 0, op: OP });
    expect(more.ok).toBe(true);
    const entries = [first, ...more.entries];
    expect(entries.map(({ seq, kind }) => [seq, kind])).toEqual([
      [0, "plan.frozen"],
      [1, "step.observed"],
      [2, "approval.recorded"],
      [3, "op.stopped"],
    ]);
    expect(journal.read(OP)).toEqual(entries);
    journal.close();
    expect(open(dir, { readOnly: true }).read(OP)).toEqual(entries);
  });

  test("operations share one chain and are read apart", () => {
    const journal = open(written(5));
    expect(journal.read(OP).map(({ seq }) => seq)).toEqual([0, 2, 3, 5, 6]);
    expect(journal.read(OTHER).map(({ seq }) => seq)).toEqual([1, 4]);
    expect(journal.head().size).toBe(7);
    expect(journal.verify()).toMatchObject({ ok: true, entries: 7, anchored: 0, problems: [] });
  });

  test("an operation is found by any ending of its id, by its intent and by each key of its subject", () => {
    const journal = open(written(3));
    expect([journal.find("k3v9q2mz"), journal.find("mz"), journal.find(OP)]).toEqual([[OP], [OP], [OP]]);
    expect(journal.find("prov_2026_07_24")).toEqual([]);
    expect([journal.find("zz"), journal.find(""), journal.find("%"), journal.find("~")]).toEqual([[], [], [], []]);
    expect(journal.last()).toBe(OTHER);
    expect([journal.byIntent(INTENT), journal.byIntent("sha256:0")]).toEqual([[OP], []]);
    expect(journal.bySubject(["nobody", ...SUBJECTS, ...SUBJECTS])).toEqual([OP]);
    journal.append(OP, [note("bound")], undefined, { bind: [`${TENANT} id:usr_1938`] });
    expect(journal.bySubject([`${TENANT} id:usr_1938`])).toEqual([OP]);
  });

  test("the listing shows the state that was set, and setting it is no entry", () => {
    const journal = open(written(2));
    expect(journal.list().map(({ op, state }) => [op, state])).toEqual([
      [OP, null],
      [OTHER, null],
    ]);
    journal.setState(OP, "waiting");
    journal.append(OTHER, [note("done")], undefined, { state: "stopped" });
    expect(journal.list().map(({ op, state, first_seq, last_seq }) => [op, state, first_seq, last_seq])).toEqual([
      [OP, "waiting", 0, 2],
      [OTHER, "stopped", 1, 3],
    ]);
    expect(failure(() => journal.setState("prov_none", "waiting"))).toEqual({ code: "unknown_operation", exit: 2 });
  });

  test("an id is taken once, and must be an id", () => {
    const journal = open(written(2));
    const index = { intent: INTENT, subjects: [] };
    expect(failure(() => journal.create(OP, frozen, index))).toEqual({ code: "operation_exists", exit: 13 });
    expect(failure(() => journal.create(MAIL, frozen, index)).exit).toBe(1);
    expect(failure(() => journal.read("prov_none"))).toEqual({ code: "unknown_operation", exit: 2 });
    expect(failure(() => journal.append("prov_none", [note("x")]))).toEqual({ code: "unknown_operation", exit: 2 });
    expect(journal.head().size).toBe(3);
  });

  test("entries of no operation have a key each and are read apart", () => {
    const journal = open(written(2));
    const hash = { kind: "policy.loaded", hash: "sha256:12" } as const;
    const refusal = { kind: "approval.refused", code: "self_approval", by: MAIL, detail: "own request" } as const;
    journal.appendGlobal(hash);
    journal.appendGlobal(refusal);
    expect(journal.read("-")).toMatchObject([
      { ...hash, op: "-", seq: 3 },
      { ...refusal, op: "-", seq: 4 },
    ]);
    expect(journal.list()).toHaveLength(2);
  });

  test("nothing that tells of a person or tenant stands in the files in clear", () => {
    const dir = tempFolder();
    const journal = open(dir);
    journal.create(OP, { ...frozen, plan: `${frozen.plan}billing-admin-role` }, { intent: INTENT, subjects: SUBJECTS });
    journal.append(OP, [observed(), note(MAIL), approval("one-time-nonce")], undefined, {
      bind: [`${TENANT} id:usr_1938`],
    });
    journal.appendGlobal({ kind: "approval.refused", code: "x", by: MAIL, detail: TENANT });
    const bytes = allBytes(dir);
    expect(bytes).toContain(OP);
    for (const secret of [
      "priya",
      "example.test",
      TENANT,
      "acme",
      "billing-admin-role",
      "usr_1938",
      "one-time-nonce",
      "host-a",
      "os:ana",
      INTENT,
    ])
      expect(bytes, secret).not.toContain(secret);
  });

  test("who holds a lease is sealed too", async () => {
    const dir = written(1);
    const journal = open(dir);
    const terms = {
      leaseMs: 1_000,
      holder: { ...HOLDER, user: "ana-the-user", host: "ana-laptop" },
      now: () => 0,
      alive: () => "dead" as const,
      sleep: async () => {},
    };
    await journal.takeLease(OP, SUBJECTS, terms);
    expect(allBytes(dir)).not.toMatch(/ana-the-user|ana-laptop|priya|4711/);
    expect(journal.leaseOf(OP)?.holder.user).toBe("ana-the-user");
  });

  test("fingerprint keys differ by operation and not by handle", () => {
    const dir = written(2);
    const [a, b] = [open(dir), open(dir)];
    expect(a.fingerprintKey(OP)).toEqual(b.fingerprintKey(OP));
    expect(a.fingerprintKey(OP)).not.toEqual(a.fingerprintKey(OTHER));
    expect(a.fingerprintKey(OP)).toHaveLength(32);
  });
});

describe("the state folder", () => {
  test("folder and files are closed to others, also where they were open before", () => {
    const dir = tempFolder();
    mkdirSync(dir, { mode: 0o755 });
    open(dir).create(OP, frozen, { intent: INTENT, subjects: SUBJECTS });
    const mode = (file: string) => statSync(join(dir, file)).mode & 0o777;
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    const files = [
      "journal.db",
      "journal.db-wal",
      "journal.db-shm",
      "keys.db",
      "keys.db-wal",
      "keys.db-shm",
      "master.key",
      "mark",
    ];
    expect(files.map((file) => [file, mode(file)])).toEqual(files.map((file) => [file, 0o600]));
    chmodSync(join(dir, "journal.db"), 0o644);
    open(dir);
    expect(mode("journal.db")).toBe(0o600);
  });

  test("a master key that others could read is refused and not quietly closed", () => {
    const dir = written(2);
    chmodSync(join(dir, "master.key"), 0o640);
    expect(failure(() => open(dir))).toEqual({ code: "key_exposed", exit: 9 });
    chmodSync(join(dir, "master.key"), 0o600);
    expect(open(dir).read(OP)).toHaveLength(2);
  });

  test("every open makes commits durable and distrusts the schema", () => {
    const dir = tempFolder();
    for (const time of ["first", "second"]) {
      const store = openStore({ dir, ...means(time) });
      const pragmas = ["journal_mode", "synchronous", "foreign_keys", "trusted_schema", "recursive_triggers"];
      expect(pragmas.map((name) => store.db.pragma(name, { simple: true }))).toEqual(["wal", 2, 1, 0, 1]);
      store.keys.close();
      store.db.close();
    }
  });

  test("looking for a journal where there is none makes nothing", () => {
    const dir = tempFolder();
    expect(failure(() => open(dir, { readOnly: true }))).toEqual({ code: "no_journal", exit: 2 });
    expect(failure(() => open(dir, { create: false }))).toEqual({ code: "no_journal", exit: 2 });
    expect(existsSync(dir)).toBe(false);
  });

  test("a beginning that died half way is begun again", () => {
    const dir = tempFolder();
    let draws = 0;
    const random = (bytes: number) => {
      if (++draws === 5) throw new Error("killed");
      return new Uint8Array(bytes).fill(draws);
    };
    expect(() => open(dir, { random })).toThrow("killed");
    expect(existsSync(join(dir, "journal.db"))).toBe(true);
    const key = readFileSync(join(dir, "master.key"), "utf8");
    const journal = open(dir);
    journal.create(OP, frozen, { intent: INTENT, subjects: SUBJECTS });
    expect(journal.read(OP)).toHaveLength(1);
    expect(readFileSync(join(dir, "master.key"), "utf8")).toBe(key);
  });

  test("an intent is refused where no lease stands behind it", () => {
    const journal = open(written(2));
    expect(failure(() => journal.append(OP, [intent()])).exit).toBe(1);
    expect(journal.read(OP)).toHaveLength(2);
  });
});
