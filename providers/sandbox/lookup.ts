import type { SubjectKey } from "../../src/model/plan.ts";
import type { Account } from "../../src/model/provider.ts";
import type { Reading } from "../../src/model/reading.ts";
import type { User } from "./answers.ts";
import type { Api } from "./api.ts";

export type Unreadable = Extract<Reading<never>, { kind: "unreadable" }>;

export function unreadable(reason: Unreadable["reason"], detail: string): Unreadable {
  return { kind: "unreadable", reason, detail };
}

/** Of several accounts that ever held the address, the one that holds it now; else the one deleted last. */
export function pick(users: readonly User[]): User | undefined | "several" {
  const live = users.filter((user) => user.status !== "deleted");
  if (live.length > 1) return "several";
  return live[0] ?? users[0];
}

export function several(email: string): Unreadable {
  return unreadable("malformed", `More than one account holds the address ${email}.`);
}

export function ignoredFilter(name: string): Unreadable {
  return unreadable("filter_ignored", `The tenant listed what was not asked for by ${name}.`);
}

export function same(a: string | null, b: string): boolean {
  return a?.toLowerCase() === b.toLowerCase();
}

export type Found = Reading<Account & { restore_until: string | null }>;

export async function byEmail(api: Api, email: string): Promise<Found> {
  const users = await api.users([["email", email]]);
  if (users.kind === "unreadable") return users;
  if (!users.items.every((user) => same(user.email, email))) return ignoredFilter("email");
  const user = pick(users.items);
  if (user === "several") return several(email);
  if (user === undefined) return { kind: "absent", proof: "complete_scan" };
  const { id, status, restore_until, etag } = user;
  return { kind: "found", value: { id, email: user.email, login: null, status, restore_until }, version: etag };
}

export async function byId(api: Api, id: string): Promise<Found> {
  const got = await api.user(id);
  if (got.kind === "unreadable") return got;
  if (got.kind === "missing") {
    // `user_not_found` is exact, once another read of users shows that this token may see them.
    if (got.code !== "user_not_found") return masked(`the account ${id}`, got.code);
    const control = await api.users([["status", "active"]]);
    return control.kind === "unreadable" ? control : { kind: "absent", proof: "exact" };
  }
  const { email, status, restore_until } = got.value;
  if (got.value.id !== id) return unreadable("malformed", `The tenant answered with another account than ${id}.`);
  const value = { id, email, login: null, status, restore_until };
  return { kind: "found", value, ...versionOf(got) };
}

export function versionOf(got: { version?: string }): { version?: string } {
  return got.version === undefined ? {} : { version: got.version };
}

/** A 404 that is not the documented one, or one whose control failed, may hide a missing permission. */
export function masked(what: string, code: string): Unreadable {
  return unreadable("forbidden", `A 404 (${code || "no code"}) for ${what} proves no absence.`);
}

/** Finds the account by its id, else by its address. */
export async function findSubject(api: Api, by: SubjectKey): Promise<Reading<Account>> {
  if (by.id === undefined && by.email === undefined)
    return unreadable("malformed", "A sandbox tenant knows accounts by id and address only.");
  const found = by.id !== undefined ? await byId(api, by.id) : await byEmail(api, by.email ?? "");
  if (found.kind !== "found") return found;
  const { restore_until: _, ...value } = found.value;
  return { ...found, value };
}

export async function self(api: Api): Promise<Reading<Account>> {
  const got = await api.me();
  if (got.kind === "unreadable") return got;
  if (got.kind === "missing")
    return got.code === "no_account"
      ? { kind: "absent", proof: "exact" }
      : masked("the account of this token", got.code);
  const { id, email, status } = got.value;
  return { kind: "found", value: { id, email, login: null, status }, ...versionOf(got) };
}

export async function holders(api: Api, roles: readonly string[]): Promise<Reading<string[]>> {
  const users = await api.users([["status", "active"], ...roles.map((role): [string, string] => ["role", role])]);
  if (users.kind === "unreadable") return users;
  if (!users.items.every((user) => user.status === "active" && roles.includes(user.role))) return ignoredFilter("role");
  return { kind: "found", value: users.items.map((user) => user.id) };
}
