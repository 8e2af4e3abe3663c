import { hash } from "node:crypto";

/**
 * The Merkle tree of RFC 6962 over the entry hashes: leaf H(0x00 ‖ entry_hash), node H(0x01 ‖ left ‖ right). A subtree
 * is named by its level and its place on that level; leaves are level 0. Complete subtrees never change again, so the
 * root of any past size follows from a few stored ones.
 */
export type NodeSource = (level: number, index: number) => Uint8Array;

export const EMPTY_ROOT: Uint8Array = hash("sha256", new Uint8Array(0), "buffer");

export function leafHash(entryHash: string): Uint8Array {
  return hash("sha256", Buffer.from(`00${entryHash}`, "hex"), "buffer");
}

export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  const bytes = Buffer.allocUnsafe(1 + left.length + right.length);
  bytes[0] = 1;
  bytes.set(left, 1);
  bytes.set(right, 1 + left.length);
  return hash("sha256", bytes, "buffer");
}

/** The complete subtrees that make up a tree, largest first: one for each set bit of its size. */
export interface Frontier {
  size: number;
  peaks: readonly { level: number; hash: Uint8Array }[];
}

export const EMPTY_FRONTIER: Frontier = { size: 0, peaks: [] };

export function frontierOf(size: number, node: NodeSource): Frontier {
  const peaks: { level: number; hash: Uint8Array }[] = [];
  let start = 0;
  for (let level = heightOf(size); level >= 0; level--) {
    const width = 2 ** level;
    if (start + width > size) continue;
    peaks.push({ level, hash: node(level, start / width) });
    start += width;
  }
  return { size, peaks };
}

/** Adds one leaf. `completed` is told of every subtree of level 1 and up that this leaf completes. */
export function push(
  frontier: Frontier,
  leaf: Uint8Array,
  completed: (level: number, index: number, hash: Uint8Array) => void,
): Frontier {
  const peaks = [...frontier.peaks];
  const size = frontier.size + 1;
  let grown = { level: 0, hash: leaf };
  for (let last = peaks.at(-1); last?.level === grown.level; last = peaks.at(-1)) {
    peaks.pop();
    grown = { level: grown.level + 1, hash: nodeHash(last.hash, grown.hash) };
    completed(grown.level, size / 2 ** grown.level - 1, grown.hash);
  }
  peaks.push(grown);
  return { size, peaks };
}

export function rootOf(frontier: Frontier): Uint8Array {
  const [smallest, ...larger] = [...frontier.peaks].reverse();
  if (smallest === undefined) return EMPTY_ROOT;
  return larger.reduce((right, peak) => nodeHash(peak.hash, right), smallest.hash);
}

/**
 * The root of the tree of `size` leaves if `leaf` stood at `index`, all else taken from `node`. Where the result is
 * the root that was known before, the leaf is the one that was there, whatever `node` says: no other path folds to it.
 */
export function rootWith(index: number, leaf: Uint8Array, size: number, node: NodeSource): Uint8Array {
  const height = heightOf(size);
  let at = index;
  let result = leaf;
  for (let level = 0; level < height; level++) {
    if (at % 2 === 1) result = nodeHash(node(level, at - 1), result);
    else if ((at + 1) * 2 ** level < size) result = nodeHash(result, subtree(level, at + 1, size, node));
    at = Math.floor(at / 2);
  }
  return result;
}

/** The root of a subtree, cut off at `size` where it is not complete. */
function subtree(level: number, index: number, size: number, node: NodeSource): Uint8Array {
  if ((index + 1) * 2 ** level <= size) return node(level, index);
  const left = subtree(level - 1, 2 * index, size, node);
  if ((2 * index + 1) * 2 ** (level - 1) >= size) return left;
  return nodeHash(left, subtree(level - 1, 2 * index + 1, size, node));
}

/** The lowest level whose one subtree holds `size` leaves. */
function heightOf(size: number): number {
  let level = 0;
  while (2 ** level < size) level++;
  return level;
}
