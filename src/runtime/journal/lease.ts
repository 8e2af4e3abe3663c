import type { Holder } from "../../model/entry.ts";
import { bug, ProvisionError } from "../../model/errors.ts";
import type { Liveness } from "../process.ts";
import { appendEntries } from "./append.ts";
import { addKeys, drop, heldBy, heldError, leaseRow, putKey, type Rival, rivalsFor } from "./held.ts";
import { read, type Store, write } from "./store.ts";

export interface LeaseTerms {
  /** How long a holder counts as alive after its last sign of life, in milliseconds. */
  leaseMs: number;
  holder: Holder;
  /** Monotonic milliseconds. Wall clocks jump, and those of two machines differ. */
  now(): number;
  alive(holder: Holder): Liveness;
  sleep(ms: number): Promise<void>;
}

/** The right to send for one operation, and for its subject under every key that is known of it. */
export interface Lease {
  /** Grows over the whole journal: the place of its entry `lease.taken`, plus one. An older one writes no intent. */
  readonly epoch: number;
  /** A sign of life. False where none was written, because the lease was taken away or the journal is not writable. */
  beat(): boolean;
  stillMine(): boolean;
  /** Whether nobody can take the lease away within `ms` from now, by our own clock. Asked just before a request. */
  aliveFor(ms: number): boolean;
  /** Holds further keys of the subject too. Exit 10 `held` where another operation holds one of them. */
  addKeys(keys: readonly string[]): void;
  /** Gives the lease up. Where that cannot be written it runs out by itself. */
  release(): void;
}

/** How often another holder may come in between before we let it be. */
const ROUNDS = 5;

/**
 * Takes the lease on `op` and the subject's `keys`. A holder that is dead is replaced at once; one that cannot be judged
 * from here only after its heartbeat stood still for `leaseMs` on our own clock. Exit 10 `held` otherwise.
 */
export async function takeLease(store: Store, op: string, keys: readonly string[], terms: LeaseTerms): Promise<Lease> {
  const macs = keys.map((key) => store.keys.mac("lease", key));
  /** Epochs that may be replaced, with the heartbeat at which they stood still; null where the process is dead. */
  const lapsed = new Map<number, number | null>();
  for (let round = 0; ; round++) {
    const asked = terms.now();
    const taken = write(store, () => tryTake(store, op, macs, terms.holder, lapsed));
    if (taken.rivals.length === 0) return leaseOver(store, op, taken.epoch, asked, terms);
    for (const rival of taken.rivals) {
      const held = heldBy(store, rival);
      if (held === undefined) continue;
      const verdict = terms.alive(held.holder);
      if (verdict === "dead") lapsed.set(rival.epoch, null);
      else if (verdict === "alive" || round >= ROUNDS || (await showsLife(store, rival, terms)))
        throw heldError(held, verdict, terms.leaseMs);
      else lapsed.set(rival.epoch, rival.beat);
    }
  }
}

function tryTake(
  store: Store,
  op: string,
  macs: readonly Uint8Array[],
  holder: Holder,
  lapsed: Map<number, number | null>,
) {
  const rivals = rivalsFor(store, op, macs);
  const standing = rivals.filter((rival) => {
    const beat = lapsed.get(rival.epoch);
    return beat === undefined || (beat !== null && beat !== rival.beat);
  });
  if (standing.length > 0) return { rivals: standing, epoch: 0 };
  for (const rival of rivals) drop(store, rival);
  const epoch = nextEpoch(store);
  const [entry] = appendEntries(store, op, [{ kind: "lease.taken", epoch, holder }]);
  if (entry?.seq !== epoch - 1) throw bug("A lease's epoch is not the place of its entry.");
  store.sql("INSERT INTO lease (op, epoch, beat) VALUES (?, ?, 0)").run(op, epoch);
  for (const mac of macs) putKey(store, mac, op);
  return { rivals: [], epoch };
}

function nextEpoch(store: Store): number {
  return (store.sql("SELECT coalesce(max(seq), -1) + 2 AS epoch FROM entry").get() as { epoch: number }).epoch;
}

/** Watches a heartbeat for one lease time. False: it stood still throughout, or the lease is gone. */
async function showsLife(store: Store, rival: Rival, terms: LeaseTerms): Promise<boolean> {
  const until = terms.now() + terms.leaseMs;
  for (;;) {
    const left = until - terms.now();
    if (left <= 0) return false;
    await terms.sleep(Math.min(left, Math.max(10, terms.leaseMs / 8)));
    const row = read(store, () => leaseRow(store, rival.op));
    if (row?.epoch !== rival.epoch) return false;
    if (row.beat !== rival.beat) return true;
  }
}

function leaseOver(store: Store, op: string, epoch: number, taken: number, terms: LeaseTerms): Lease {
  let alive = taken;
  const stillMine = () => read(store, () => leaseRow(store, op))?.epoch === epoch;
  return {
    epoch,
    stillMine,
    aliveFor: (ms) => alive + terms.leaseMs - ms > terms.now(),
    beat: () => {
      const at = terms.now();
      const written = attempt(store, "UPDATE lease SET beat = beat + 1 WHERE op = ? AND epoch = ?", op, epoch);
      if (written) alive = at;
      return written;
    },
    addKeys: (keys) => {
      const rival = write(store, () => addKeys(store, op, epoch, keys));
      const held = rival && heldBy(store, rival);
      if (held !== undefined) throw heldError(held, terms.alive(held.holder), terms.leaseMs);
    },
    release: () => {
      attempt(store, "DELETE FROM lease WHERE op = ? AND epoch = ?", op, epoch);
    },
  };
}

/**
 * Signs of life and their end are worth no failure, whatever the store has come to: without them the lease runs out,
 * which is the safe side, and what went wrong ahead of them is not covered up.
 */
function attempt(store: Store, sql: string, op: string, epoch: number): boolean {
  try {
    return write(store, () => store.sql(sql).run(op, epoch).changes === 1);
  } catch (error) {
    if (error instanceof ProvisionError) return false;
    throw error;
  }
}
