import { cpSync, existsSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { verifyJournal } from "../../../src/runtime/journal/audit.ts";
import { failure, note, OP, open, written } from "./support.ts";

describe("a file that is taken from under an open journal", () => {
  const FILES = [
    "journal.db",
    "journal.db-wal",
    "journal.db-shm",
    "keys.db",
    "keys.db-wal",
    "keys.db-shm",
    "master.key",
  ];

  test.each(FILES)("%s deleted: the next append says so, since what it wrote is nowhere", (file) => {
    const dir = written(3);
    const journal = open(dir);
    journal.append(OP, [note("before")]);
    expect(existsSync(join(dir, file))).toBe(true);
    rmSync(join(dir, file));
    expect(failure(() => journal.append(OP, [note("x")]))).toEqual({ code: "journal_missing", exit: 9 });
  });

  test.each(FILES)("%s exchanged for a file of the same bytes: the next append says so", (file) => {
    const dir = written(3);
    const journal = open(dir);
    journal.append(OP, [note("before")]);
    cpSync(join(dir, file), join(dir, "copy"));
    renameSync(join(dir, "copy"), join(dir, file));
    expect(failure(() => journal.append(OP, [note("x")]))).toEqual({ code: "journal_replaced", exit: 9 });
  });

  test("the folder moved away: the next append says so", () => {
    const dir = written(3);
    const journal = open(dir);
    renameSync(dir, `${dir}-elsewhere`);
    expect(failure(() => journal.append(OP, [note("x")])).exit).toBe(9);
    renameSync(`${dir}-elsewhere`, dir);
    expect(journal.append(OP, [note("y")]).ok).toBe(true);
  });

  test("a sign of life and the end of a lease are worth no failure, and fail quietly", async () => {
    const dir = written(3);
    const journal = open(dir);
    const holder = { host: "h", boot_id: "b", pid_namespace: "n", pid: 1, start_time: "1", user: "u" };
    const terms = { leaseMs: 1_000, holder, now: () => 0, alive: () => "alive" as const, sleep: async () => {} };
    const lease = await journal.takeLease(OP, [], terms);
    rmSync(join(dir, "journal.db"));
    expect(lease.beat()).toBe(false);
    expect(() => lease.release()).not.toThrow();
  });
});

describe("a page of the journal that was torn", () => {
  /** One page of the file as something else left it. */
  const TEARS: [string, (page: Buffer) => void][] = [
    ["noise", (page) => page.set(page.map((_, at) => (at * 31 + 7) & 0xff))],
    ["zeros", (page) => page.fill(0)],
    ["half of it zeros", (page) => page.fill(0, page.length >> 1)],
  ];

  test.each(TEARS)(
    "(%s), whichever page it is: it reads as before, or is refused with 9, and is never begun anew",
    (_what, tear) => {
      const whole = written(40);
      const bytes = readFileSync(join(whole, "journal.db"));
      const before = open(whole).read(OP);
      const pages = bytes.length / 4096;
      let refused = 0;
      for (let page = 0; page < pages; page++) {
        const dir = written(40);
        const torn = Buffer.from(bytes);
        tear(torn.subarray(page * 4096, (page + 1) * 4096));
        writeFileSync(join(dir, "journal.db"), torn);
        try {
          const journal = open(dir);
          expect(journal.read(OP)).toEqual(before);
          journal.close();
        } catch (error) {
          expect([page, (error as { exit?: number }).exit, String(error)]).toEqual([page, 9, expect.any(String)]);
          refused += 1;
        }
        expect(statSync(join(dir, "journal.db")).size).toBeGreaterThan(0);
      }
      expect(refused).toBeGreaterThan(pages / 3);
    },
  );

  test("and the file cut at any page: refused with 9, by whoever writes, reads or audits", () => {
    const pages = statSync(join(written(20), "journal.db")).size / 4096;
    for (let page = 0; page < pages; page++) {
      const dir = written(20);
      truncateSync(join(dir, "journal.db"), page * 4096);
      expect([page, failure(() => open(dir).read(OP)).exit]).toEqual([page, 9]);
      expect([page, failure(() => open(dir, { readOnly: true }).read(OP)).exit]).toEqual([page, 9]);
      expect([page, verifyJournal(dir).ok]).toEqual([page, false]);
    }
  });
});
