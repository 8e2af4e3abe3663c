import { createHash, randomBytes } from "node:crypto";
import { canonical } from "../../../src/model/json.ts";
import type { KeyRing } from "./keys.ts";
import type { Answer, Change, Outcome } from "./outcome.ts";
import { answer, problem } from "./outcome.ts";
import { hasItems, shortened } from "./pages.ts";
import type { Found, Work } from "./routes.ts";
import { labels, route } from "./routes.ts";
import type { Store } from "./store.ts";
import type { RequestRow } from "./views.ts";
import type { FaultBox, Weather } from "./weather.ts";
import { FAILED_THOUGH_APPLIED } from "./weather.ts";
import type { TokenClass } from "./world.ts";

/** One request of a tenant client, read to its end. */
export interface Incoming {
  method: string;
  pathname: string;
  query: URLSearchParams;
  /** Parsed JSON; undefined where there was none. */
  body: unknown;
  /** The body was not JSON. */
  garbled: boolean;
  token: TokenClass | null;
  key: string | null;
  ifMatch: string | null;
  ifNoneMatch: string | null;
}

/** What goes over the wire: an answer, whole or spoilt; or none, and the connection is cut. */
export type Delivery = { answer: Answer; body: "whole" | "cut" | "garbled" } | "cut_off";

export interface Floor {
  store: Store;
  faults: FaultBox;
  keys(): KeyRing;
  url(): string;
}

/** Answers one request of a tenant client, and fills in its line of the record. */
export async function exchange(floor: Floor, request: Incoming, row: RequestRow): Promise<Delivery> {
  const found = route(request.method, request.pathname);
  row.action = found.kind === "write" ? found.route.action : null;
  if (request.token === null) return plain(row, problem(401, "unknown_token", "This token is none of this tenant's."));
  if (found.kind === "none") return plain(row, found.answer);
  if (found.kind === "read") return reading(floor, request, found, row, request.token);
  if (request.token === "read") return plain(row, problem(403, "read_only_token", "This token may only read."));
  const work = request.garbled
    ? problem(400, "invalid_body", "The body is not JSON.")
    : found.route.prepare(found.params, request.body);
  if (typeof work !== "function") return plain(row, work);
  return writing(floor, request, found, row, work);
}

function plain(row: RequestRow, given: Answer): Delivery {
  row.status = given.status;
  return { answer: given, body: "whole" };
}

function spoilt(row: RequestRow, given: Answer, weather: Weather): Delivery {
  row.status = given.status;
  return { answer: given, body: weather.body ?? "whole" };
}

async function reading(
  floor: Floor,
  request: Incoming,
  found: Extract<Found, { kind: "read" }>,
  row: RequestRow,
  token: TokenClass,
): Promise<Delivery> {
  const { store, faults } = floor;
  const { replica } = found.route;
  const struck = { write: false, replica, action: null, labels: [], guarded: false };
  const weather = faults.weather(struck);
  if (weather.delayMs > 0) await store.pause(weather.delayMs);
  if (weather.instead !== null) return spoilt(row, weather.instead, weather);
  const picture = replica ? faults.picture() : undefined;
  const current = replica ? store.replica() : store.current();
  const world = weather.stale ? store.previous() : (picture ?? current);
  const given = found.route.run({ world, token, audit: store.audit(), params: found.params, query: request.query });
  const short = hasItems(given) && faults.shortens(struck);
  return spoilt(row, short ? shortened(given) : given, weather);
}

async function writing(
  floor: Floor,
  request: Incoming,
  found: Extract<Found, { kind: "write" }>,
  row: RequestRow,
  work: Work,
): Promise<Delivery> {
  const { store, faults } = floor;
  const weather = faults.weather({
    write: true,
    replica: false,
    action: found.route.action,
    labels: labels(store.current(), found),
    guarded: request.ifMatch !== null || request.ifNoneMatch !== null,
  });
  faults.remember(store.current(), weather.staleReads);
  const claim = await claimed(floor.keys(), request);
  if (claim === "another_request")
    return spoilt(row, problem(422, "key_of_another_request", "This key was used for another request."), weather);
  if (weather.delayMs > 0) await store.pause(weather.delayMs);
  const release = (): void => {
    if (claim === "mine" && request.key !== null) floor.keys().release(request.key);
  };
  if (weather.lost === "before") {
    release();
    return "cut_off";
  }
  if (weather.instead !== null) {
    release();
    return weather.lost === null ? spoilt(row, weather.instead, weather) : cutOff(row, weather.instead);
  }
  if (claim !== "mine") {
    const again = { ...claim, headers: { ...claim.headers, "idempotency-replayed": "true" } };
    return weather.lost !== null || weather.lateMs !== null ? cutOff(row, again) : spoilt(row, again, weather);
  }
  return decide(floor, request, row, weather, work);
}

/** The server meant this answer, and nobody got it. */
function cutOff(row: RequestRow, meant: Answer): Delivery {
  row.status = meant.status;
  return "cut_off";
}

/** Waits for whoever holds the key now, then takes it or what was answered under it. */
async function claimed(keys: KeyRing, request: Incoming): Promise<"mine" | "another_request" | Answer> {
  if (request.key === null) return "mine";
  const fingerprint = createHash("sha256")
    .update(canonical([request.method, request.pathname, request.body ?? null]))
    .digest("hex");
  for (;;) {
    const claim = keys.claim(request.key, fingerprint);
    if (claim.kind === "replay") return claim.answer;
    if (claim.kind !== "in_flight") return claim.kind;
    await claim.over;
  }
}

/** Does the work, now or later, and says what is answered. */
function decide(floor: Floor, request: Incoming, row: RequestRow, weather: Weather, work: Work): Delivery {
  const { store } = floor;
  const settle = (given: Answer): void => {
    // Authority is judged ahead of the keys: a refusal for lack of it is not remembered.
    if (request.key !== null && given.status === 403) floor.keys().release(request.key);
    else if (request.key !== null) floor.keys().settle(request.key, given);
    row.status = given.status;
    store.touched();
  };
  const commit = (): Outcome => {
    const outcome = store.commit((draft) => work(draft, terms(floor, request, weather)), author(request, row));
    row.applied = outcome.changed;
    return outcome;
  };
  const apply = (): void => {
    commit();
    store.touched();
  };
  const rehearse = (): Outcome => store.rehearse((draft) => work(draft, terms(floor, request, weather)));

  if (weather.lateMs !== null) {
    store.later(weather.lateMs, () => settle(weather.withoutEffect ? rehearse().answer : commit().answer));
    return "cut_off";
  }
  let outcome: Outcome;
  if (weather.asyncMs !== null) {
    outcome = rehearse();
    if (outcome.answer.status < 300) {
      if (!weather.withoutEffect) store.later(weather.asyncMs, apply);
      outcome = { ...outcome, answer: answer(202, { status: "accepted" }) };
    }
  } else outcome = weather.withoutEffect ? rehearse() : commit();
  const failed = weather.errorThough && outcome.answer.status < 300;
  const given = failed ? FAILED_THOUGH_APPLIED : outcome.answer;
  settle(given);
  return weather.lost === null ? spoilt(row, given, weather) : "cut_off";
}

function terms(floor: Floor, request: Incoming, weather: Weather): Change {
  return {
    ...floor.store.mint,
    now: new Date().toISOString(),
    token: request.token,
    ifMatch: weather.unguarded ? null : request.ifMatch,
    ifNoneMatch: weather.unguarded ? null : request.ifNoneMatch,
    redeemUrl: () => `${floor.url()}/redeem/${randomBytes(24).toString("base64url")}`,
  };
}

function author(request: Incoming, row: RequestRow) {
  return {
    token: request.token,
    actor: `app_${request.token}`,
    action: row.action ?? "",
    idempotency_key: request.key,
    request_id: row.request_id,
  };
}
