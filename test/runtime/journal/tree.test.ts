import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  EMPTY_FRONTIER,
  EMPTY_ROOT,
  type Frontier,
  frontierOf,
  leafHash,
  type NodeSource,
  push,
  rootOf,
  rootWith,
} from "../../../src/runtime/journal/tree.ts";
import { frozen, note, OP, open, SUBJECTS, tempFolder } from "./support.ts";

const sha = (...parts: Uint8Array[]) => createHash("sha256").update(Buffer.concat(parts)).digest();
const entryHashes = (count: number) =>
  Array.from({ length: count }, (_, i) => sha(Buffer.from(`entry ${i}`)).toString("hex"));

/** RFC 6962, section 2.1, word for word. */
function naive(hashes: readonly string[]): Buffer {
  const [only] = hashes;
  if (only === undefined) return sha();
  if (hashes.length === 1) return sha(Uint8Array.of(0), Buffer.from(only, "hex"));
  let split = 1;
  while (split * 2 < hashes.length) split *= 2;
  return sha(Uint8Array.of(1), naive(hashes.slice(0, split)), naive(hashes.slice(split)));
}

function grow(hashes: readonly string[]): { frontier: Frontier; node: NodeSource } {
  const nodes = new Map<string, Uint8Array>();
  let frontier = EMPTY_FRONTIER;
  hashes.forEach((hash, i) => {
    nodes.set(`0/${i}`, leafHash(hash));
    frontier = push(frontier, leafHash(hash), (level, index, node) => nodes.set(`${level}/${index}`, node));
  });
  const node: NodeSource = (level, index) => nodes.get(`${level}/${index}`) ?? expect.fail(`no node ${level}/${index}`);
  return { frontier, node };
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

describe("the tree over the entries", () => {
  test("the root of every size up to 70 is the one that RFC 6962 defines", () => {
    const hashes = entryHashes(70);
    const { node } = grow(hashes);
    expect(hex(EMPTY_ROOT)).toBe(hex(naive([])));
    for (let size = 0; size <= 70; size++) {
      const wanted = hex(naive(hashes.slice(0, size)));
      expect(hex(rootOf(frontierOf(size, node)))).toBe(wanted);
      expect(hex(rootOf(grow(hashes.slice(0, size)).frontier))).toBe(wanted);
    }
  });

  test("an entry folds to the root from its own place and from no other, whatever it is", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 70 }), fc.nat(), fc.nat(), (size, a, b) => {
        const hashes = entryHashes(size);
        const { node, frontier } = grow(hashes);
        const [at, other] = [a % size, b % size];
        const root = hex(rootOf(frontier));
        expect(hex(rootWith(at, leafHash(hashes[at] as string), size, node))).toBe(root);
        if (at !== other) expect(hex(rootWith(at, leafHash(hashes[other] as string), size, node))).not.toBe(root);
      }),
    );
  });

  test("false nodes make no false entry true", () => {
    const hashes = entryHashes(20);
    const { node, frontier } = grow(hashes);
    const lying: NodeSource = (level, index) => (level === 1 ? new Uint8Array(32) : node(level, index));
    expect(hex(rootWith(7, leafHash("ab".repeat(32)), 20, lying))).not.toBe(hex(rootOf(frontier)));
  });

  test("a journal tells the root of each size it ever had", () => {
    const journal = open(tempFolder());
    journal.create(OP, frozen, { intent: "i", subjects: SUBJECTS });
    const roots = [journal.head().root];
    for (let i = 0; i < 12; i++) {
      journal.append(OP, [note(`${i}`), note("and one more")].slice(0, 1 + (i % 2)));
      roots.push(journal.head().root);
    }
    const sizes = [
      ...new Set(
        roots.map((root) =>
          Array.from({ length: 20 }, (_, n) => n).find((n) => n <= journal.head().size && journal.rootAt(n) === root),
        ),
      ),
    ];
    expect(sizes).toEqual([1, 2, 4, 5, 7, 8, 10, 11, 13, 14, 16, 17, 19]);
    expect(() => journal.rootAt(20)).toThrow(/there is no root over 20/);
  });
});
