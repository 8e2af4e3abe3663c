import { expect, test } from "vitest";
import { catalogFindings, catalogSchema, lookUp, parseCatalog } from "../../src/model/catalog.ts";
import type { ProvisionError } from "../../src/model/errors.ts";
import { catalogOf } from "../core/acme.ts";

function shapeFindings(input: unknown) {
  try {
    parseCatalog(input, "catalog/acme.yaml");
    return [];
  } catch (error) {
    expect(error).toMatchObject({ code: "invalid_catalog", exit: 2 });
    return (error as ProvisionError).details;
  }
}

test("the catalogue of the sandbox has nothing against it", () => {
  expect(catalogFindings(catalogOf())).toEqual([]);
});

test("what a catalogue does not say has the cautious reading: not elevated is stated, never guessed from the name", () => {
  const catalog = catalogSchema.parse({ roles: [{ name: "admin", id: "admin", privilege: 90 }] });
  expect(catalog.roles[0]).toMatchObject({ elevated: false, labels: [] });
  expect(catalog).toMatchObject({ groups: [], licenses: [], protected: [] });
});

test.each([
  ["a role without privilege", { roles: [{ name: "a", id: "a" }] }, "roles[0].privilege", "missing"],
  ["a group without membership", { groups: [{ name: "a", id: "a" }] }, "groups[0].membership", "missing"],
  [
    "a membership of another kind",
    { groups: [{ name: "a", id: "a", membership: "owned" }] },
    "groups[0].membership",
    "not_allowed",
  ],
  [
    "an unknown key",
    { groups: [{ name: "a", id: "a", membership: "direct", sensitiv: true }] },
    "groups[0].sensitiv",
    "unknown_key",
  ],
  ["an id outside the allow-list", { roles: [{ name: "a", id: "a b", privilege: 0 }] }, "roles[0].id", "malformed"],
  [
    "a name with a zero-width space",
    { roles: [{ name: "ad\u200bmin", id: "a", privilege: 0 }] },
    "roles[0].name",
    "malformed_name",
  ],
  [
    "a name with a Cyrillic letter among Latin",
    { roles: [{ name: "\u0430dmin", id: "a", privilege: 0 }] },
    "roles[0].name",
    "malformed_name",
  ],
  ["a name with space around it", { licenses: [{ name: " pro", id: "a" }] }, "licenses[0].name", "malformed_name"],
  [
    "a privilege that is no whole number",
    { roles: [{ name: "a", id: "a", privilege: 0.5 }] },
    "roles[0].privilege",
    "wrong_type",
  ],
])("refused: %s", (_what, input, path, code) => {
  expect(shapeFindings(input)).toContainEqual(expect.objectContaining({ path, code }));
});

test("a name or an id that stands twice is refused, with both entries", () => {
  const names = catalogOf({
    roles: [
      { name: "x", id: "x1", privilege: 1 },
      { name: "x", id: "x2", privilege: 2 },
    ],
  });
  const ids = catalogOf({
    groups: [
      { name: "y1", id: "y", membership: "direct" },
      { name: "y2", id: "y", membership: "direct" },
    ],
  });
  expect(catalogFindings(names)).toMatchObject([
    { path: "roles[6].name", code: "doubled_name", message: expect.stringMatching(/x1.*x2/) },
  ]);
  expect(catalogFindings(ids)).toMatchObject([{ path: "groups[8].id", code: "doubled_name", found: "y" }]);
});

test("a licence that requires what is not there, or itself, is refused", () => {
  const catalog = catalogOf({
    licenses: [
      { name: "a", id: "a", requires: ["b"] },
      { name: "b", id: "b", requires: ["a"] },
      { name: "c", id: "c", requires: ["enginering"] },
    ],
  });
  expect(catalogFindings(catalog).map(({ path, code }) => [path, code])).toEqual([
    ["licenses[2].requires", "circular_requirement"],
    ["licenses[3].requires", "circular_requirement"],
    ["licenses[4].requires[0]", "unknown_name"],
  ]);
});

test("a name is looked up exactly, and neither the first of two nor the nearest is taken", () => {
  const catalog = catalogOf({
    groups: [
      { name: "twin", id: "t1", membership: "direct" },
      { name: "twin", id: "t2", membership: "direct" },
    ],
  });
  expect(lookUp(catalog, "groups", "engineering")).toMatchObject({ kind: "one", entry: { id: "grp_77" } });
  expect(lookUp(catalog, "groups", "twin")).toEqual({ kind: "doubled", ids: ["t1", "t2"] });
  const unknown = lookUp(catalog, "groups", "Engineering");
  expect(unknown).toMatchObject({ kind: "unknown", nearest: ["engineering", expect.anything(), expect.anything()] });
});
