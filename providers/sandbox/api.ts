import { z } from "zod";
import { unreadableOf } from "../../src/model/classify.ts";
import type { HttpRequest, ReadIo } from "../../src/model/provider.ts";
import type { Reading } from "../../src/model/reading.ts";
import {
  account,
  assignment,
  auditEvent,
  group,
  invitation,
  membership,
  ofUser,
  page,
  role,
  tenantRole,
  user,
} from "./answers.ts";

type Unreadable = Extract<Reading<never>, { kind: "unreadable" }>;

/** One exact read: the value with its version, the code of a 404, or why nothing was learned. */
export type Got<T> = { kind: "got"; value: T; version?: string } | { kind: "missing"; code: string } | Unreadable;
/** A list is whole or it is nothing. */
export type Listed<T> = { kind: "whole"; items: T[] } | Unreadable;

const PAGE = 100;
/** More pages than any list of a sandbox has; a server that never ends is not followed for ever. */
const MAX_PAGES = 1000;

/** Fills a template such as `/users/{id}/role`, in order. Values are encoded, so that none can name another path. */
export function path(route: string, values: readonly string[]): string {
  let at = 0;
  return route.replaceAll(/\{\w+\}/g, () => encodeURIComponent(values[at++] ?? ""));
}

export function request(
  base: string,
  method: HttpRequest["method"],
  route: string,
  values: readonly string[],
): HttpRequest {
  return { method, url: base + path(route, values), route };
}

/** The reading side of a sandbox tenant, one function an endpoint. */
export function api(base: string, io: ReadIo) {
  const get = async <T>(route: string, values: string[], schema: z.ZodType<T>): Promise<Got<T>> => {
    const result = await io.fetch(request(base, "GET", route, values));
    if (result.kind === "answer" && result.status === 404) {
      const { data } = z.object({ code: z.string() }).safeParse(result.body);
      return { kind: "missing", code: data?.code ?? "" };
    }
    const unreadable = unreadableOf(result);
    if (unreadable !== undefined) return unreadable;
    const answer = result.kind === "answer" ? result : undefined;
    const parsed = schema.safeParse(answer?.body);
    if (!parsed.success) return misfit(route, parsed.error);
    const version = answer?.headers.etag;
    return { kind: "got", value: parsed.data, ...(version === undefined ? {} : { version }) };
  };

  const list = async <T>(
    route: string,
    values: string[],
    query: readonly [string, string][],
    schema: z.ZodType<T>,
    keyOf: (item: T) => string,
  ): Promise<Listed<T>> => {
    const items: T[] = [];
    let cursor: string | undefined;
    for (let pages = 0; pages < MAX_PAGES; pages++) {
      const search = new URLSearchParams([...query, ["limit", `${PAGE}`]]);
      if (cursor !== undefined) search.set("cursor", cursor);
      const result = await io.fetch({ method: "GET", url: `${base}${path(route, values)}?${search}`, route });
      const unreadable = unreadableOf(result);
      if (unreadable !== undefined) return unreadable;
      const parsed = page.safeParse(result.kind === "answer" ? result.body : undefined);
      if (!parsed.success) return misfit(route, parsed.error);
      const rows = z.array(schema).safeParse(parsed.data.items);
      if (!rows.success) return misfit(route, rows.error);
      items.push(...rows.data);
      const { next, total } = parsed.data;
      if (typeof next !== "string")
        return next === null ? whole(route, items, total, keyOf) : truncated(route, "no end");
      cursor = next;
    }
    return truncated(route, `more than ${MAX_PAGES} pages`);
  };

  const byId = (item: { id: string }) => item.id;
  return {
    me: () => get("/me", [], account),
    user: (id: string) => get("/users/{id}", [id], account),
    role: (id: string) => get("/users/{id}/role", [id], role),
    membership: (groupId: string, id: string) => get("/groups/{group}/members/{id}", [groupId, id], membership),
    assignment: (licenseId: string, id: string) =>
      get("/licenses/{license}/assignments/{id}", [licenseId, id], assignment),
    users: (query: readonly [string, string][]) => list("/users", [], query, user, byId),
    invitations: (email: string) => list("/invitations", [], [["email", email]], invitation, byId),
    sessions: (id: string) => list("/users/{id}/sessions", [id], [], ofUser, byId),
    credentials: (id: string) => list("/users/{id}/credentials", [id], [], ofUser, byId),
    groups: () => list("/groups", [], [], group, byId),
    roles: () => list("/roles", [], [], tenantRole, byId),
    audit: (target: string) => list("/audit", [], [["target", target]], auditEvent, byId),
  };
}
export type Api = ReturnType<typeof api>;

function whole<T>(route: string, items: T[], total: number, keyOf: (item: T) => string): Listed<T> {
  if (items.length !== total) return truncated(route, `${items.length} of ${total} items came`);
  if (new Set(items.map(keyOf)).size !== items.length) return truncated(route, "an item came twice");
  return { kind: "whole", items };
}

function truncated(route: string, detail: string): Unreadable {
  return { kind: "unreadable", reason: "truncated", detail: `GET ${route}: ${detail}` };
}

function misfit(route: string, error: z.ZodError): Unreadable {
  const where = error.issues[0]?.path.map(String).join(".") || "the top";
  return { kind: "unreadable", reason: "malformed", detail: `GET ${route}: the answer does not fit at ${where}` };
}
