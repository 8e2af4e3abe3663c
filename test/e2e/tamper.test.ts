import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { COLUMNS, type Row } from "../../src/runtime/journal/chain.ts";
import { openJournal } from "../../src/runtime/journal/journal.ts";
import { type Desk, endDesk, openDesk, PRIYA } from "./desk.ts";
import { accepted, approve, plan, run } from "./path.ts";
import { flipped, openRaw, type Raw, refusedRun } from "./raw.ts";

let desk: Desk;
/** Approved and not run: its next run would invite. */
let fresh: string;
/** Stands before its last step, approved: its entries are of nearly every kind. */
let late: string;
beforeAll(async () => {
  desk = await openDesk();
  fresh = await plan(desk, "fresh@example.test");
  await approve(desk, fresh);
  late = await accepted(desk, PRIYA, (yaml) => yaml);
  expect((await run(desk, late)).code).toBe(3);
  expect(await approve(desk, late)).toEqual([5]);
});
afterAll(() => endDesk(desk));

/** Spoils a copy in one place after another; neither the tenant nor the journal may hear of any of these runs. */
async function inVain(name: string, spoil: (copy: Desk, raw: Raw) => Promise<number>): Promise<void> {
  const copy = desk.copy(name);
  const raw = openRaw(copy);
  const requests = (await desk.tenant.requests()).length;
  const size = () => raw.db.prepare("SELECT count(*) FROM entry").pluck().get();
  const before = size();
  try {
    expect(await spoil(copy, raw)).toBeGreaterThan(0);
    expect(size()).toBe(before);
    expect((await desk.tenant.requests()).length).toBe(requests);
  } finally {
    raw.close();
  }
}

/** Another value of the same form. */
function other(row: Row, column: (typeof COLUMNS)[number]): unknown {
  const value = row[column];
  if (column === "kind") return value === "op.state" ? "op.stopped" : "op.state";
  if (typeof value === "number") return column === "seq" ? value + 10_000 : value + 1;
  return flipped(value, Math.floor(value.length / 2));
}

const io = { now: () => new Date().toISOString(), random: (bytes: number) => randomBytes(bytes) };

/** What a run does first, without the rest of it: the operation's entries are read, and each is verified. */
function openReader(copy: Desk): { refuses(op: string, what: string): void; close(): void } {
  const journal = openJournal({ dir: copy.file(".provision"), readOnly: true, ...io });
  return {
    refuses: (op, what) => expect(() => journal.read(op), what).toThrow(expect.objectContaining({ exit: 9 })),
    close: () => journal.close(),
  };
}

test("a change in any field of any entry's header stops the run", async () => {
  await inVain("headers", async (copy, raw) => {
    const reader = openReader(copy);
    const kinds = new Set<string>();
    let tried = 0;
    for (const op of [fresh, late])
      for (const row of raw.rows(op)) {
        const again = kinds.has(row.kind);
        kinds.add(row.kind);
        for (const column of COLUMNS) {
          const what = `${row.kind}.${column}`;
          await raw.changed(row, column, other(row, column), async () => {
            reader.refuses(op, what);
            if (!again) await refusedRun(copy, op, what);
          });
          tried += 1;
        }
      }
    reader.close();
    expect(kinds.size).toBeGreaterThanOrEqual(8);
    return tried;
  });
});

test("a change in one of every sixteen characters of plan and approval stops the run", async () => {
  await inVain("frozen", async (copy, raw) => {
    let tried = 0;
    for (const row of raw.rows(fresh))
      for (let at = row.seq % 16; at < row.ct.length; at += 16) {
        await raw.changed(row, "ct", flipped(row.ct, at), () => refusedRun(copy, fresh, `${row.kind} at ${at}`));
        tried += 1;
      }
    return tried;
  });
});

test("a change in one of every sixteen characters of what a run recorded stops the next one", async () => {
  await inVain("recorded", async (copy, raw) => {
    const reader = openReader(copy);
    let tried = 0;
    for (const row of raw.rows(late)) {
      await raw.changed(row, "ct", flipped(row.ct, row.ct.length >> 1), () => refusedRun(copy, late, row.kind));
      for (let at = row.seq % 16; at < row.ct.length; at += 16) {
        await raw.changed(row, "ct", flipped(row.ct, at), async () => reader.refuses(late, `${row.kind} at ${at}`));
        tried += 1;
      }
    }
    reader.close();
    return tried;
  });
});

test("a change in the genesis, or an entry that is gone, stops the run", async () => {
  await inVain("genesis", async (copy, raw) => {
    const genesis = raw.db.prepare("SELECT jid, created, vkey, alg FROM genesis").get() as Record<string, string>;
    for (const [column, value] of Object.entries(genesis)) {
      const set = raw.db.prepare(`UPDATE genesis SET ${column} = ?`);
      set.run(flipped(value, value.length - 2));
      await refusedRun(copy, fresh, `genesis.${column}`);
      set.run(value);
    }
    for (const row of raw.rows(late)) {
      raw.db.prepare("DELETE FROM entry WHERE seq = ?").run(row.seq);
      await refusedRun(copy, late, `without ${row.kind}`);
      const places = Object.keys(row).map((column) => `@${column}`);
      raw.db.prepare(`INSERT INTO entry (${Object.keys(row).join(", ")}) VALUES (${places.join(", ")})`).run(row);
    }
    return 1;
  });
});

function keyOf(text: string): Buffer {
  return Buffer.from(text.trim(), "base64url");
}

test("a change in the high-water mark, in a key or in the master key stops the run", async () => {
  await inVain("keys", async (copy) => {
    for (const name of ["mark", "master.key"]) {
      const path = copy.file(`.provision/${name}`);
      const bytes = readFileSync(path);
      const text = bytes.toString("latin1");
      for (let at = 0; at < text.trimEnd().length; at++) {
        const spoilt = flipped(text, at);
        // Two bits of the last letter of a key belong to no byte of it.
        if (name === "master.key" && keyOf(spoilt).equals(keyOf(text))) continue;
        writeFileSync(path, Buffer.from(spoilt, "latin1"));
        await refusedRun(copy, fresh, `${name} at ${at}`);
      }
      writeFileSync(path, bytes);
    }
    const keys = openRaw(copy, "keys.db");
    const set = keys.db.prepare("UPDATE dek SET wrapped = ? WHERE op = ?");
    for (const op of [fresh, "#index"]) {
      const wrapped = keys.db.prepare("SELECT wrapped FROM dek WHERE op = ?").pluck().get(op) as string;
      for (let at = 0; at < wrapped.length; at += 16) {
        set.run(flipped(wrapped, at), op);
        await refusedRun(copy, fresh, `the key of ${op} at ${at}`);
      }
      set.run(wrapped, op);
    }
    keys.close();
    return 1;
  });
});

test("the command itself exits 9 for a changed entry, by run, status and audit", async () => {
  const copy = desk.copy("command");
  const raw = openRaw(copy);
  const [row] = raw.rows(fresh) as [Row];
  await raw.changed(row, "ct", flipped(row.ct, 100), async () => {
    for (const command of [
      ["run", fresh],
      ["status", fresh],
      ["audit", "verify"],
    ]) {
      const ran = await copy.provision(...command, "--json");
      expect(ran.code).toBe(9);
      ran.json();
    }
  });
  raw.close();
});

test("the untouched twin runs, in a copy too", async () => {
  const copy = desk.copy("twin");
  openRaw(copy).close();
  expect((await run(copy, fresh)).code).toBe(4);
  expect((await run(desk, late)).code).toBe(5);
  expect((await desk.tenant.writes()).map(({ action }) => action).slice(-2)).toEqual([
    "invitation.create",
    "group.add",
  ]);
});
