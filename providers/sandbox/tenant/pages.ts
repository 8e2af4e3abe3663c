import type { Answer } from "./outcome.ts";
import { answer, problem } from "./outcome.ts";

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;

/** One page of a list. `next` is null on the last page, `total` counts the whole list. */
export interface Page {
  items: unknown[];
  next: string | null;
  total: number;
}

/**
 * Cuts the page that `limit` and `cursor` ask for. A cursor names the last item seen, so that items which come or go
 * meanwhile shift nothing.
 */
export function page<T>(all: readonly T[], query: URLSearchParams, keyOf: (item: T) => string): Answer {
  const limit = Number(query.get("limit") ?? DEFAULT_LIMIT);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT)
    return problem(400, "invalid_limit", `limit is a whole number from 1 to ${MAX_LIMIT}.`);
  const cursor = query.get("cursor");
  const from = cursor === null ? 0 : all.findIndex((item) => cursorOf(keyOf(item)) === cursor) + 1;
  if (cursor !== null && from === 0) return problem(400, "invalid_cursor", "This cursor is none of this list.");
  const items = all.slice(from, from + limit);
  const last = items.at(-1);
  const more = last !== undefined && from + items.length < all.length;
  const body: Page = { items, next: more ? cursorOf(keyOf(last)) : null, total: all.length };
  return answer(200, body);
}

function cursorOf(key: string): string {
  return Buffer.from(key, "utf8").toString("base64url");
}

/** What a truncating server answers: half of the items, and no word of a next page. */
export function shortened(whole: Answer): Answer {
  const { items, total } = whole.body as Page;
  return { ...whole, body: { items: items.slice(0, Math.floor(items.length / 2)), next: null, total } };
}

export function hasItems(one: Answer): boolean {
  const body = one.body;
  return (
    typeof body === "object" && body !== null && "items" in body && Array.isArray(body.items) && body.items.length > 0
  );
}
