import { createHash } from "node:crypto";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterAll, afterEach, expect } from "vitest";
import type { Holder, Payload, RecordedApproval } from "../../../src/model/entry.ts";
import { ProvisionError } from "../../../src/model/errors.ts";
import { entryHash, type Row } from "../../../src/runtime/journal/chain.ts";
import { type Journal, type OpenOptions, openJournal } from "../../../src/runtime/journal/journal.ts";
import { EMPTY_FRONTIER, type Frontier, leafHash, push, rootOf } from "../../../src/runtime/journal/tree.ts";

export const OP = "prov_2026_07_24_k3v9q2mz";
export const OTHER = "prov_2026_07_24_aaaa2222";
export const MAIL = "priya@example.test";
export const TENANT = "acme-production";
export const SUBJECTS = [`${TENANT} email:${MAIL}`];
export const INTENT = "sha256:1111";

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const clean of cleanups.splice(0).reverse()) clean();
});

export function tempFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), "journal-"));
  cleanups.push(() => rmSync(dir, { recursive: true, force: true }));
  return join(dir, "state");
}

/** A clock that moves one second at each look, and bytes that look random and are the same in every run. */
export function means(seed = "journal") {
  let ticks = 0;
  let draws = 0;
  return {
    now: () => new Date(Date.UTC(2026, 6, 24, 10, 0, ticks++)).toISOString(),
    random: (bytes: number) => createHash("sha256").update(`${seed}/${draws++}`).digest().subarray(0, bytes),
  };
}

let opened = 0;
export function open(dir: string, more: Partial<OpenOptions> = {}): Journal {
  const journal = openJournal({ dir, ...means(`handle ${opened++}`), busyMs: 500, ...more });
  cleanups.push(() => journal.close());
  return journal;
}

export const frozen = {
  kind: "plan.frozen",
  plan: `{"subject":"${MAIL}","tenant":"${TENANT}"}`,
  plan_hash: "sha256:00",
} as const;

/** A folder whose journal holds one operation of `count` entries, and another one of two in their midst. */
export function written(count = 5): string {
  const made = bases.get(count) ?? write(count);
  bases.set(count, made);
  const dir = tempFolder();
  cpSync(made, dir, { recursive: true });
  return dir;
}

const bases = new Map<number, string>();
afterAll(() => {
  for (const dir of bases.values()) rmSync(dirname(dir), { recursive: true, force: true });
});

function write(count: number): string {
  const dir = join(mkdtempSync(join(tmpdir(), "journal-")), "state");
  const journal = openJournal({ dir, ...means("written") });
  journal.create(OP, frozen, { intent: INTENT, subjects: SUBJECTS });
  journal.create(OTHER, frozen, { intent: "sha256:2222", subjects: [`${TENANT} email:lee@example.test`] });
  for (let i = 1; i < count; i++) {
    journal.append(OP, [note(`entry ${i} about ${MAIL}`)]);
    if (i === 2) journal.append(OTHER, [note("between")]);
  }
  journal.close();
  return dir;
}

export function note(reason: string): Payload {
  return { kind: "op.stopped", by: "os:ana", reason };
}

export function intent(step = 1): Payload {
  return {
    kind: "step.requested",
    step,
    phase: "apply",
    try: 1,
    attempt: 1,
    epoch: 1,
    key: "key",
    action: "role.set",
    credential: "ordinary",
    requested: { step, kind: "wait_for_acceptance", on_deadline: "stop", gate: "none", reversibility: "read_only" },
    before: { kind: "found", value: { of: "role", role: "guest" } },
    guard: "read_compare",
    if_version: null,
    approvals: [],
  };
}

export function observed(step = 1): Payload {
  return {
    kind: "step.observed",
    step,
    phase: "apply",
    epoch: 1,
    purpose: "before",
    reading: { kind: "found", value: { of: "role", role: "billing-admin-role" } },
    read_at: "2026-07-24T10:00:00.000Z",
    reads: [],
  };
}

export function approval(nonce: string): Payload {
  const recorded: RecordedApproval = {
    approval_id: "apr_1",
    envelope: { stmt: "e30", alg: "sshsig", sig: "sig" },
    approver: "ana@example.test",
    phase: "apply",
    steps: [1],
    nonce,
    card_hash: "sha256:00",
    subject_id: null,
    not_before: "2026-07-24T10:00:00.000Z",
    not_after: "2026-07-25T10:00:00.000Z",
  };
  return { kind: "approval.recorded", approval: recorded };
}

export const HOLDER: Holder = {
  host: "host-a",
  boot_id: "boot",
  pid_namespace: "pid:[1]",
  pid: 4711,
  start_time: "99",
  user: "ana",
};

/** Reaches past the journal into a file, as someone with an editor would: without triggers. */
export function rawly<T>(dir: string, work: (db: Sqlite.Database) => T, file = "journal.db"): T {
  const db = new Sqlite(join(dir, file));
  try {
    const triggers = db.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").all() as {
      name: string;
      sql: string;
    }[];
    for (const { name } of triggers) db.exec(`DROP TRIGGER ${name}`);
    const result = work(db);
    for (const { sql } of triggers) db.exec(sql);
    return result;
  } finally {
    db.close();
  }
}

/** Makes every hash and link right again after a change, as a careful forger would. */
export function rechain(db: Sqlite.Database): void {
  const rows = db.prepare("SELECT * FROM entry ORDER BY seq").all() as Row[];
  let prev = rows[0]?.prev ?? "";
  for (const row of rows) {
    const changed = { ...row, prev };
    const hash = entryHash(changed);
    db.prepare("UPDATE entry SET prev = ?, entry_hash = ? WHERE seq = ?").run(prev, hash, row.seq);
    prev = hash;
  }
}

/** Changes entries and makes hashes, links, tree and mark fit: all that can be forged without a key. */
export function reforge(dir: string, change: (db: Sqlite.Database) => void): void {
  rawly(dir, (db) => {
    change(db);
    rechain(db);
    db.exec("DELETE FROM node");
    const put = db.prepare("INSERT INTO node (level, idx, hash) VALUES (?, ?, ?)");
    const hashes = db.prepare("SELECT entry_hash FROM entry ORDER BY seq").pluck().all() as string[];
    const grow = (frontier: Frontier, hash: string) =>
      push(frontier, leafHash(hash), (level, index, node) => put.run(level, index, node));
    const root = Buffer.from(rootOf(hashes.reduce(grow, EMPTY_FRONTIER))).toString("base64");
    setMark(dir, (mark) => ({ ...mark, size: hashes.length, root }));
  });
}

/** All bytes of the databases, their write-ahead logs and the mark. */
export function allBytes(dir: string): string {
  return readdirSync(dir)
    .map((file) => readFileSync(join(dir, file), "latin1"))
    .join("\n");
}

export function setMark(dir: string, change: (mark: { jid: string; size: number; root: string }) => object): void {
  const path = join(dir, "mark");
  writeFileSync(path, `${JSON.stringify(change(JSON.parse(readFileSync(path, "utf8"))))}\n`);
}

/** The code and exit of what `work` throws. */
export function failure(work: () => unknown): { code: string; exit: number } {
  try {
    work();
  } catch (error) {
    if (!(error instanceof ProvisionError)) throw error;
    return { code: error.code, exit: error.exit };
  }
  return expect.fail("nothing was thrown");
}
