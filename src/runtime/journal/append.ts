import { ENTRY_KINDS, type Entry, type Payload } from "../../model/entry.ts";
import { bug, refused } from "../../model/errors.ts";
import { base32 } from "../../model/ids.ts";
import { ENCRYPTION, ENTRY_VERSION, entryHash, NO_OPERATION } from "./chain.ts";
import { seal } from "./seal.ts";
import { frontierAtHead, headOf, type Store } from "./store.ts";
import { leafHash, push } from "./tree.ts";

/** What is sealed with an entry so that the index can be made again from the entries alone. */
export interface Indexed {
  intent?: string;
  subjects?: readonly string[];
}

/** What a ciphertext holds: the payload, its ordinal within the operation, and what it is found by. */
export type SealedPayload = Payload & { n: number; index?: Indexed };

/** Operation ids are random; anything else in a clear header might tell of a person. */
const OPERATION = /^[a-z][a-z0-9_]{3,63}$/;

const INSERT_ENTRY =
  "INSERT INTO entry (v, jid, seq, prev, ts, op, step, kind, enc, kid, kc, nonce, ct, entry_hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

/**
 * Appends entries of one operation, within the caller's transaction. The index rows that follow from the entries are
 * written with them. Exit 13 `nonce_used` where an approval was taken before.
 */
export function appendEntries(store: Store, op: string, payloads: readonly Payload[], index?: Indexed): Entry[] {
  if (!OPERATION.test(op)) throw bug(`${op} is no operation id.`);
  const row = store.sql("SELECT count FROM operation WHERE op = ?").get(op) as { count: number } | undefined;
  const count = row?.count ?? 0;
  const key = store.keys.of(op);
  const entries = payloads.map((payload, i) => {
    const sealed =
      i === 0 && index !== undefined ? { ...payload, index, n: count + 1 } : { ...payload, n: count + i + 1 };
    return appendOne(store, { op, kid: op, key, payload, sealed });
  });
  const [first, last] = [entries[0], entries.at(-1)];
  if (first === undefined || last === undefined) return [];
  if (row === undefined) insertOperation(store, op, first, last.seq, count + entries.length, index?.intent);
  else store.sql("UPDATE operation SET last_seq = ?, count = ? WHERE op = ?").run(last.seq, count + entries.length, op);
  indexSubjects(store, op, index?.subjects ?? []);
  return entries;
}

/** Appends an entry of no operation. Its key is its own, named `-:` and 80 random bits, so that it can be shredded alone. */
export function globalKeyId(store: Store): string {
  return `${NO_OPERATION}:${base32(store.random(10))}`;
}

export function appendGlobalEntry(store: Store, kid: string, payload: Payload): Entry {
  return appendOne(store, { op: NO_OPERATION, kid, key: store.keys.of(kid), payload, sealed: { ...payload, n: 1 } });
}

interface Draft {
  op: string;
  kid: string;
  key: Uint8Array;
  payload: Payload;
  sealed: SealedPayload;
}

function appendOne(store: Store, { op, kid, key, payload, sealed }: Draft): Entry {
  if (!ENTRY_KINDS.includes(payload.kind)) throw bug(`${payload.kind} is no kind of entry.`);
  const head = headOf(store);
  const frontier = frontierAtHead(store, head);
  const seq = head.seq + 1;
  const at = store.now();
  const { jid } = store.genesis;
  const base = {
    v: ENTRY_VERSION,
    jid,
    seq,
    prev: head.hash,
    ts: at,
    op,
    step: stepOf(payload),
    kind: payload.kind,
    enc: ENCRYPTION,
    kid,
  };
  const { entry: e, header } = seal(key, base, sealed, store.random);
  const hash = entryHash(e, header);
  store
    .sql(INSERT_ENTRY)
    .run(e.v, e.jid, e.seq, e.prev, e.ts, e.op, e.step, e.kind, e.enc, e.kid, e.kc, e.nonce, e.ct, hash);
  store.tail = {
    head: hash,
    frontier: push(frontier, leafHash(hash), (level, idx, node) => {
      store.sql("INSERT OR REPLACE INTO node (level, idx, hash) VALUES (?, ?, ?)").run(level, idx, node);
    }),
  };
  const nonce = nonceOf(payload);
  if (nonce !== null) takeNonce(store, nonce, seq);
  return { ...payload, seq, at, op };
}

/** What the clear header says of the step; 0 where the payload is of none. */
export function stepOf(payload: Payload): number {
  return "step" in payload ? payload.step : 0;
}

export function insertOperation(
  store: Store,
  op: string,
  first: Pick<Entry, "seq" | "at">,
  lastSeq: number,
  count: number,
  intent: string | undefined,
): void {
  const ending = [...op].reverse().join("");
  const mac = intent === undefined ? null : store.keys.mac("intent", intent);
  store
    .sql(
      "INSERT INTO operation (op, ending, created_at, first_seq, last_seq, count, intent_mac) VALUES (?, ?, ?, ?, ?, ?, ?)",
    )
    .run(op, ending, first.at, first.seq, lastSeq, count, mac);
}

export function indexSubjects(store: Store, op: string, subjects: readonly string[]): void {
  for (const subject of subjects)
    store
      .sql("INSERT INTO subject (mac, op) VALUES (?, ?) ON CONFLICT DO NOTHING")
      .run(store.keys.mac("subject", subject), op);
}

/** The nonce of the signed word that an entry holds; null where it holds none. */
export function nonceOf(payload: Payload): string | null {
  if (payload.kind === "approval.recorded") return payload.approval.nonce;
  return payload.kind === "step.resolved" ? payload.nonce : null;
}

export function takeNonce(store: Store, nonce: string, seq: number): void {
  const { changes } = store
    .sql("INSERT INTO nonce (mac, seq) VALUES (?, ?) ON CONFLICT DO NOTHING")
    .run(store.keys.mac("nonce", nonce), seq);
  if (changes === 0)
    throw refused(
      "nonce_used",
      "This approval was taken before; each counts once.",
      "Sign a new one: provision approve",
    );
}
