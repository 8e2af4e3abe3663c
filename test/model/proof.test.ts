import { describe, expect, test } from "vitest";
import { type Conformance, sourceHash, unprovenKinds } from "../../src/model/proof.ts";

const KINDS = ["set_role", "add_group", "wait_for_acceptance"] as const;
const kept: Conformance = {
  provider: "sandbox",
  source: "sha256:1",
  rows: ["set_role", "set_role undo", "add_group", "add_group undo"],
  cells: {
    calm: "green",
    truncate_page: { add_group: "n/a: the reading is exact", others: "green" },
  },
};

function unproven(cells: Conformance["cells"], source: string | undefined = "sha256:1") {
  return unprovenKinds(KINDS, { ...kept, cells: { ...kept.cells, ...cells } }, source);
}

describe("a step kind is proven", () => {
  test("where each cell of its rows is green, or not possible by a fact", () => {
    expect(unproven({})).toEqual([]);
  });

  test.each<[string, Conformance["cells"]]>([
    ["one cell is red", { lost: { add_group: "red: says done", others: "green" } }],
    ["the way back has a red cell", { lost: { "add_group undo": "red: says done", others: "green" } }],
    ["one cell is missing", { lost: { set_role: "green", "set_role undo": "green", "add_group undo": "green" } }],
  ])("and not where %s; the others stay so", (_what, cells) => {
    expect(unproven(cells)).toEqual(["add_group"]);
  });

  test("and none is, where a fault is red for all, or nothing was tried", () => {
    expect(unproven({ lost: "red: says done" })).toEqual(["set_role", "add_group"]);
    expect(unprovenKinds(KINDS, { ...kept, cells: {} }, "sha256:1")).toEqual(["set_role", "add_group"]);
  });

  test("and not where it has no row", () => {
    expect(unprovenKinds([...KINDS, "remove_group"], kept, "sha256:1")).toEqual(["remove_group"]);
  });

  test("on the sources that were tried, and on no others and none unknown", () => {
    expect(unproven({}, "sha256:2")).toEqual(["set_role", "add_group"]);
    expect(unprovenKinds(KINDS, kept, undefined)).toEqual(["set_role", "add_group"]);
  });
});

test("the hash of sources covers paths and texts, and not the order in which they come", () => {
  const files = [
    { path: "a.ts", text: "1" },
    { path: "b.ts", text: "2" },
  ];
  expect(sourceHash(files)).toBe(sourceHash([...files].reverse()));
  expect(sourceHash(files)).not.toBe(sourceHash([{ path: "a.ts", text: "1" }]));
  expect(sourceHash(files)).not.toBe(sourceHash([files[0]!, { path: "b.ts", text: "3" }]));
  expect(sourceHash(files)).not.toBe(sourceHash([files[0]!, { path: "c.ts", text: "2" }]));
});
