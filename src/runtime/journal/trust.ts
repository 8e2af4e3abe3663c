import { unverified } from "../../model/errors.ts";
import { beginMark, HINT, type Mark, readMark } from "./mark.ts";
import { rebuild } from "./rebuild.ts";
import { encodeRoot, headOf, markOf, read, type Store, shorter, storedNodes, write } from "./store.ts";
import { EMPTY_FRONTIER, EMPTY_ROOT, leafHash, type NodeSource, push, rootOf, rootWith } from "./tree.ts";

/**
 * Compares the journal with its high-water mark at open: the genesis that the first entry follows, the length, and
 * that the last entry which the mark covers is the one that stood there. Costs a logarithm of the length.
 *
 * Exit 9: `genesis`, `mark_missing`, `mark_damaged`, `journal_replaced`, `journal_shorter`, `journal_forked`.
 */
export function checkTrust(store: Store): void {
  if (readMark(store.dir) === undefined && !store.readOnly) write(store, () => firstMark(store));
  if (!agrees(store) && !agrees(store)) judge(store);
}

/** Asked twice: a reader can meet a journal just as another process begins it. */
function agrees(store: Store): boolean {
  // The mark first: it is written after the entries that it covers, so what is read next holds at least these.
  const mark = readMark(store.dir);
  return read(store, () => {
    const head = headOf(store);
    if (head.seq < 0 && mark === undefined) return true;
    const first = store.sql("SELECT prev FROM entry WHERE seq = 0").get() as { prev: string } | undefined;
    if (head.seq >= 0 && first?.prev !== store.genesisHash)
      throw unverified("genesis", "The journal's first entry does not follow its genesis.", HINT);
    return mark !== undefined && coversMark(store, markOf(store, mark), head.seq + 1);
  });
}

/** A journal whose maker died between the first commit and the first mark has no entries, and gets its mark now. */
function firstMark(store: Store): void {
  if (headOf(store).seq >= 0 || readMark(store.dir) !== undefined) return;
  beginMark(store.dir, { jid: store.genesis.jid, size: 0, root: encodeRoot(EMPTY_ROOT) });
}

function coversMark(store: Store, mark: Mark, size: number): boolean {
  if (mark.size > size) throw shorter(mark, size);
  if (mark.size === 0) return mark.root === encodeRoot(EMPTY_ROOT);
  return standsIn(mark, mark.size - 1, hashAt(store, mark.size - 1), storedNodes(store));
}

/** Whether the entry of this hash stood at `seq` when the mark was written. Stored nodes only help to find out. */
export function standsIn(mark: Mark, seq: number, entryHash: string, nodes: NodeSource): boolean {
  return encodeRoot(rootWith(seq, leafHash(entryHash), mark.size, nodes)) === mark.root;
}

function hashAt(store: Store, seq: number): string {
  const row = store.sql("SELECT entry_hash FROM entry WHERE seq = ?").get(seq) as { entry_hash: string } | undefined;
  return row?.entry_hash ?? "";
}

/** The root did not come out. Either the entries are others, or the stored nodes are damaged, which entries can mend. */
function judge(store: Store): void {
  const mark = markOf(store);
  const root = read(store, () => {
    let frontier = EMPTY_FRONTIER;
    const hashes = store.sql("SELECT entry_hash FROM entry WHERE seq < ? ORDER BY seq").iterate(mark.size);
    for (const row of hashes) frontier = push(frontier, leafHash((row as { entry_hash: string }).entry_hash), () => {});
    return encodeRoot(rootOf(frontier));
  });
  if (root !== mark.root)
    throw unverified(
      "journal_forked",
      `The journal's first ${mark.size} entries are not the ones that its high-water mark was written for.`,
      HINT,
    );
  if (store.readOnly)
    throw unverified(
      "index_damaged",
      "The journal's entries verify, but its index does not.",
      "Any command that writes mends it.",
    );
  write(store, () => rebuild(store));
}
