import type { Holder } from "../../model/entry.ts";
import { ProvisionError, unverified } from "../../model/errors.ts";
import type { Instant } from "../../model/reading.ts";
import type { Liveness } from "../process.ts";
import type { Row } from "./chain.ts";
import { HINT } from "./mark.ts";
import { openRow, ROW_COLUMNS } from "./opened.ts";
import { read, type Store } from "./store.ts";

/** Who holds an operation's lease, as another process sees it. */
export interface Held {
  op: string;
  epoch: number;
  holder: Holder;
  since: Instant;
}

/** A lease that stands in the way, as last seen. */
export interface Rival {
  op: string;
  epoch: number;
  beat: number;
}

export function rivalsFor(store: Store, op: string, macs: readonly Uint8Array[]): Rival[] {
  const found = new Map<string, Rival>();
  const own = leaseRow(store, op);
  if (own !== undefined) found.set(op, own);
  for (const mac of macs) {
    const owner = store.sql("SELECT op FROM lease_key WHERE mac = ?").get(mac) as { op: string } | undefined;
    const row = owner && leaseRow(store, owner.op);
    if (row !== undefined) found.set(row.op, row);
  }
  return [...found.values()];
}

export function leaseRow(store: Store, op: string): Rival | undefined {
  return store.sql("SELECT op, epoch, beat FROM lease WHERE op = ?").get(op) as Rival | undefined;
}

export function drop(store: Store, { op, epoch }: Pick<Rival, "op" | "epoch">): void {
  store.sql("DELETE FROM lease WHERE op = ? AND epoch = ?").run(op, epoch);
}

export function putKey(store: Store, mac: Uint8Array, op: string): void {
  store.sql("INSERT INTO lease_key (mac, op) VALUES (?, ?) ON CONFLICT DO NOTHING").run(mac, op);
}

/**
 * Adds keys to a held lease, within the caller's transaction. The answer is another operation's lease that holds one of
 * them; then none was added.
 */
export function addKeys(store: Store, op: string, epoch: number, keys: readonly string[]): Rival | undefined {
  const own = leaseRow(store, op);
  if (own?.epoch !== epoch) return undefined;
  const macs = keys.map((key) => store.keys.mac("lease", key));
  const rival = rivalsFor(store, op, macs).find((found) => found.op !== op);
  if (rival !== undefined) return rival;
  for (const mac of macs) putKey(store, mac, op);
  return undefined;
}

/** Ends a lease from inside a transaction: its holder writes no further intent. */
export function fence(store: Store, op: string): void {
  const row = leaseRow(store, op);
  if (row !== undefined) drop(store, row);
}

/** Opens the entry that says who took a lease. Undefined where the lease is gone by now. */
export function heldBy(store: Store, { op }: Pick<Rival, "op">): Held | undefined {
  return read(store, () => {
    const lease = leaseRow(store, op);
    if (lease === undefined) return undefined;
    const row = store.sql(`SELECT ${ROW_COLUMNS} FROM entry WHERE seq = ?`).get(lease.epoch - 1) as Row | undefined;
    const entry = row && openRow(store, row).entry;
    if (entry?.kind !== "lease.taken" || entry.op !== op)
      throw unverified("lease_damaged", `The lease of ${op} names no entry that took it.`, HINT);
    return { op, epoch: lease.epoch, holder: entry.holder, since: entry.at };
  });
}

/** Why another executor stays out, and when it need not any more. */
export function heldError({ op, holder, since }: Held, verdict: Liveness, leaseMs: number): ProvisionError {
  const who = `process ${holder.pid} of ${holder.user} on ${holder.host}`;
  const until =
    verdict === "alive"
      ? "It comes free when that process ends."
      : `It comes free when that process ends, or has shown no sign of life for ${leaseMs / 1000} s.`;
  return new ProvisionError(
    "held",
    10,
    `Operation ${op} is held: ${who} has been running it since ${since}. ${until}`,
    {
      hint: "Nothing was sent. Wait for it and run again.",
    },
  );
}
