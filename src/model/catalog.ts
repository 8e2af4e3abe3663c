import { z } from "zod";
import { type Finding, invalid } from "./errors.ts";
import { findingsOf } from "./findings.ts";
import { ID } from "./ids.ts";
import { nearest } from "./nearest.ts";
import { forbiddenCharacters, mixedScript } from "./text.ts";

/** Longer names are refused before anything is compared with them. */
export const LONGEST_NAME = 128;

const id = z.string().regex(ID);
/** Nearly every name, told without looking at each of its characters. */
const PLAIN = /^[!-~]([ -~]*[!-~])?$/;
const name = z
  .string()
  .min(1)
  .max(LONGEST_NAME)
  .refine((text) => PLAIN.test(text) || isShown(text), {
    params: { code: "malformed_name", allowed: "visible characters of one script, without space around them" },
  });
const note = z.string().max(2000).optional();
/** Higher is more; groups are added from low to high. */
const privilege = z.int().min(0).max(1_000_000);

const role = z.strictObject({
  name,
  id,
  privilege,
  /** Setting or taking it is decided per call and uses the privileged credential. */
  elevated: z.boolean().default(false),
  labels: z.array(name).default([]),
  owner: note,
  description: note,
});

const group = z.strictObject({
  name,
  id,
  /** Only `direct` is written to; the others are refused with `instead`. */
  membership: z.enum(["direct", "nested", "dynamic", "synced"]),
  managed_by: z.enum(["direct", "terraform", "idp", "rules"]).default("direct"),
  /** Where a membership is changed that cannot be changed here. */
  instead: note,
  sensitive: z.boolean().default(false),
  privilege: privilege.default(0),
  labels: z.array(name).default([]),
  owner: note,
  description: note,
});

const license = z.strictObject({
  name,
  id,
  /** Names of groups or licences that are given first. */
  requires: z.array(name).default([]),
  labels: z.array(name).default([]),
  owner: note,
  description: note,
});

/** The allowed roles, groups and licences of one tenant, kept by people outside any prompt. */
export const catalogSchema = z.strictObject({
  schema: z.literal("provision.catalog/v1").optional(),
  roles: z.array(role).default([]),
  groups: z.array(group).default([]),
  licenses: z.array(license).default([]),
  /** Addresses, logins or ids that no plan may touch. */
  protected: z.array(z.string().min(1).max(256)).default([]),
});

export type Catalog = z.infer<typeof catalogSchema>;
export type CatalogRole = Catalog["roles"][number];
export type CatalogGroup = Catalog["groups"][number];
export type CatalogLicense = Catalog["licenses"][number];
export type Shelf = "roles" | "groups" | "licenses";

/**
 * The catalogue in a file, by its shape. Doubled names are for `catalogFindings`, which a request is told together with
 * its own faults.
 * @throws exit 2 `invalid_catalog` with everything that is wrong.
 */
export function parseCatalog(input: unknown, file: string): Catalog {
  const { error, data } = catalogSchema.safeParse(input);
  if (error) throw invalid("invalid_catalog", `${file} is no catalogue.`, findingsOf(error, input, catalogSchema));
  return data;
}

export type Lookup<T> =
  | { kind: "one"; entry: T }
  | { kind: "doubled"; ids: string[] }
  | { kind: "unknown"; nearest: string[] };

function isShown(text: string): boolean {
  return text === text.trim() && forbiddenCharacters(text).length === 0 && mixedScript(text).length === 0;
}

/** By exact name. The first of two would be a guess, and so would the nearest. */
export function lookUp<S extends Shelf>(catalog: Catalog, shelf: S, wanted: string): Lookup<Catalog[S][number]> {
  const entries: readonly Catalog[S][number][] = catalog[shelf];
  const found = entries.filter((entry) => entry.name === wanted);
  const [entry] = found;
  if (!entry) {
    const known = entries.map((one) => one.name);
    return { kind: "unknown", nearest: nearest(wanted, known) };
  }
  return found.length === 1 ? { kind: "one", entry } : { kind: "doubled", ids: found.map((one) => one.id) };
}

export function roleById(catalog: Catalog, wanted: string): CatalogRole | undefined {
  return catalog.roles.find((entry) => entry.id === wanted);
}

export function groupById(catalog: Catalog, wanted: string): CatalogGroup | undefined {
  return catalog.groups.find((entry) => entry.id === wanted);
}

/** What the shape alone does not show: names and ids that stand twice, and licences that require what is not there. */
export function catalogFindings(catalog: Catalog): Finding[] {
  const shelves: readonly Shelf[] = ["roles", "groups", "licenses"];
  return [
    ...shelves.flatMap((shelf) => [...doubled(catalog, shelf, "name"), ...doubled(catalog, shelf, "id")]),
    ...catalog.licenses.flatMap((entry, at) => requirementFindings(catalog, entry, `licenses[${at}]`)),
  ];
}

function doubled(catalog: Catalog, shelf: Shelf, field: "name" | "id"): Finding[] {
  const values = catalog[shelf].map((entry) => entry[field]);
  return values.flatMap((found, at): Finding[] => {
    if (values.indexOf(found) === at) return [];
    const ids = catalog[shelf].filter((entry) => entry[field] === found).map((entry) => `${entry.name} (${entry.id})`);
    const message = `The ${field} ${found} stands ${ids.length} times: ${ids.join(", ")}.`;
    return [{ path: `${shelf}[${at}].${field}`, code: "doubled_name", found, message }];
  });
}

function requirementFindings(catalog: Catalog, entry: CatalogLicense, path: string): Finding[] {
  const names = [...catalog.groups, ...catalog.licenses].map(({ name }) => name);
  const unknown = entry.requires.flatMap((found, at): Finding[] => {
    if (names.filter((name) => name === found).length === 1) return [];
    const code = names.includes(found) ? "doubled_name" : "unknown_name";
    return [{ path: `${path}.requires[${at}]`, code, found, allowed: nearest(found, names) }];
  });
  if (unknown.length > 0 || !requiresItself(catalog, entry.name, entry.requires, new Set())) return unknown;
  const message = `The licence ${entry.name} requires itself, through what it requires.`;
  return [{ path: `${path}.requires`, code: "circular_requirement", found: entry.requires, message }];
}

function requiresItself(catalog: Catalog, name: string, requires: readonly string[], seen: Set<string>): boolean {
  return requires.some((required) => {
    if (required === name) return true;
    if (seen.has(required)) return false;
    seen.add(required);
    const next = catalog.licenses.find((entry) => entry.name === required);
    return next !== undefined && requiresItself(catalog, name, next.requires, seen);
  });
}
