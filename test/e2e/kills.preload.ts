import { subscribe } from "node:diagnostics_channel";
import { appendFileSync } from "node:fs";
import Sqlite from "better-sqlite3";
import type { Boundary } from "./kills.boundary.ts";

/**
 * Loaded into the command ahead of itself (`node --import`). It knows the places where a process can be lost between
 * journal and tenant, counts them as they are passed, and at the one that is wanted sends the process a signal: SIGKILL,
 * unless another one is named.
 */
const LOG = process.env.KILL_LOG ?? "";
/** Which boundary to be struck at, from 1; 0 counts them all and lets the command end. */
const AT = Number(process.env.KILL_AT ?? 0);
/** Instead of a number: the first boundary whose kind and words match. */
const ON = process.env.KILL_ON === undefined ? undefined : new RegExp(process.env.KILL_ON);
const SIGNAL = process.env.KILL_SIGNAL ?? "SIGKILL";

let passed = 0;
let struck = false;
/** The last entry that this process has made durable. */
let seq: number | null = null;
/** What the transaction that is open now has inserted. */
let pending: { seq: number; kind: string }[] = [];

function boundary(kind: Boundary["kind"], what: string): void {
  passed += 1;
  const counts = AT === 0 && ON === undefined;
  const strikes = !struck && (AT === passed || ON?.test(`${kind} ${what}`) === true);
  if (!counts && !strikes) return;
  const seqs = pending.map((entry) => entry.seq);
  appendFileSync(LOG, `${JSON.stringify({ n: passed, kind, what, seq, seqs } satisfies Boundary)}\n`);
  struck = strikes;
  if (strikes) process.kill(process.pid, SIGNAL);
}

const { prepare, transaction } = Sqlite.prototype;

Sqlite.prototype.prepare = function (this: Sqlite.Database, sql: string) {
  const statement = prepare.call(this, sql);
  if (!sql.startsWith("INSERT INTO entry ")) return statement;
  const insert = statement.run.bind(statement) as (...values: unknown[]) => Sqlite.RunResult;
  statement.run = (...values: unknown[]) => {
    pending.push({ seq: values[2] as number, kind: values[7] as string });
    return insert(...values);
  };
  return statement;
} as typeof prepare;

function kinds(): string {
  return pending.map(({ kind }) => kind).join(" ");
}

/** Just before the commit: all is inserted, and nothing of it is durable. */
function watched(work: (...values: unknown[]) => unknown) {
  return (...values: unknown[]) => {
    const result = work(...values);
    if (pending.length > 0) boundary("append:before", kinds());
    return result;
  };
}

/** Just after the commit, before the high-water mark and whatever rests on it. */
function committed(run: (...values: unknown[]) => unknown) {
  return (...values: unknown[]) => {
    pending = [];
    const result = run(...values);
    const last = pending.at(-1);
    if (last !== undefined) {
      seq = last.seq;
      boundary("append:after", kinds());
      pending = [];
    }
    return result;
  };
}

Sqlite.prototype.transaction = function (this: Sqlite.Database, work: (...values: unknown[]) => unknown) {
  const made = transaction.call(this, watched(work));
  return Object.assign(committed(made), { immediate: committed(made.immediate), deferred: committed(made.deferred) });
} as typeof transaction;

const send = globalThis.fetch;

globalThis.fetch = async (input, init) => {
  const { pathname } = new URL(String(input));
  const what = `${init?.method ?? "GET"} ${pathname}`;
  boundary("request:before", what);
  try {
    return await send(input, init);
  } finally {
    boundary("request:answered", what);
  }
};

subscribe("undici:request:bodySent", (message) => {
  const { request } = message as { request: { method: string; path: string } };
  boundary("request:sent", `${request.method} ${request.path.split("?")[0]}`);
});
