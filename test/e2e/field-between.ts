import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "vitest";
import { type Desk, endDesk, openDesk, until } from "./desk.ts";
import { approve, ordinaryOnly, plan, run } from "./path.ts";

/** One request as it came from a client of the tenant. */
export interface Asked {
  method: string;
  /** With the query. */
  path: string;
}

export interface Told {
  status: number;
  headers: Record<string, string>;
  /** As it goes over the wire. */
  body: string;
}

/**
 * Somebody between the client and its tenant, who can change any answer: the tenant itself lists what it was asked
 * for, and knows one `Retry-After`; others do not.
 */
export interface Between {
  /** Answers in the tenant's place; `undefined` passes the request on. */
  instead: (asked: Asked) => Told | undefined;
  /** What the client gets in place of the tenant's answer. */
  after: (asked: Asked, told: Told) => Told | Promise<Told>;
  /** Every request that came, whether it was passed on or not. */
  asked: Asked[];
  calm(): void;
  close(): Promise<void>;
}

export function told(status: number, body: unknown, headers: Record<string, string> = {}): Told {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return { status, headers: { "content-type": "application/json", ...headers }, body: text };
}

/** The answer with another body, for lists of items and single things alike. */
export function altered(answer: Told, change: (body: never) => unknown): Told {
  return { ...answer, body: JSON.stringify(change(JSON.parse(answer.body) as never)) };
}

/** Puts itself between the desk's commands and their tenant. */
export async function standBetween(desk: Desk, tenantUrl: string): Promise<Between> {
  const server = createServer((request, response) => {
    void (async () => {
      const asked = { method: request.method ?? "", path: request.url ?? "" };
      between.asked.push(asked);
      const body = await read(request);
      const answer = between.instead(asked) ?? (await between.after(asked, await passOn(tenantUrl, request, body)));
      response.writeHead(answer.status, answer.headers).end(answer.body);
    })().catch(() => response.destroy());
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const between: Between = {
    instead: () => undefined,
    after: (_, answer) => answer,
    asked: [],
    calm() {
      between.instead = () => undefined;
      between.after = (_, answer) => answer;
      between.asked = [];
    },
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
  writeFileSync(desk.file("between.url"), `http://127.0.0.1:${(server.address() as AddressInfo).port}\n`, {
    mode: 0o600,
  });
  desk.edit("provision.yaml", (yaml) => yaml.replace("{ file: .provision/sandbox/url }", "{ file: between.url }"));
  return between;
}

async function read(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
}

const PASSED = ["authorization", "content-type", "idempotency-key", "if-match", "if-none-match"];

async function passOn(tenantUrl: string, request: IncomingMessage, body: string): Promise<Told> {
  const headers = PASSED.flatMap((name): [string, string][] => {
    const value = request.headers[name];
    return typeof value === "string" ? [[name, value]] : [];
  });
  const answer = await fetch(tenantUrl + request.url, {
    method: request.method ?? "GET",
    headers: [...headers, ["connection", "close"]],
    ...(body === "" ? {} : { body }),
  });
  const kept = ["content-type", "etag", "retry-after", "x-request-id"];
  const given = kept.flatMap((name): [string, string][] => {
    const value = answer.headers.get(name);
    return value === null ? [] : [[name, value]];
  });
  return { status: answer.status, headers: Object.fromEntries(given), body: await answer.text() };
}

/** A desk whose commands reach their tenant through somebody who can change the answers. */
export async function openField(timing = "request: 1s, lease: 10s"): Promise<{ desk: Desk; between: Between }> {
  const desk = await openDesk();
  desk.edit("provision.yaml", (yaml) =>
    yaml.replace("provider: sandbox", `provider: sandbox\n    timing: { ${timing} }`),
  );
  return { desk, between: await standBetween(desk, readFileSync(desk.file(".provision/sandbox/url"), "utf8").trim()) };
}

export async function closeField({ desk, between }: { desk: Desk; between: Between }): Promise<void> {
  await between.close();
  await endDesk(desk);
}

/** What a colleague does with a client of their own: invites, makes accounts, cancels. Sends no key. */
export async function colleague(desk: Desk, method: string, path: string, body?: unknown): Promise<{ id: string }> {
  const read = (name: string) => readFileSync(desk.file(`.provision/sandbox/${name}`), "utf8").trim();
  const answer = await fetch(read("url") + path, {
    method,
    headers: {
      authorization: `Bearer ${read("privileged.token")}`,
      "content-type": "application/json",
      connection: "close",
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as { id: string };
}

/** What this product sent, as opposed to a colleague: each in a word, oldest first, from the `from`-th on. */
export async function sent(desk: Desk, from = 0): Promise<string[]> {
  const rows = (await desk.tenant.writes()).filter((row) => row.idempotency_key !== null);
  return rows.slice(from).map((row) => `${row.action} ${row.status ?? "none"}${row.applied ? " applied" : ""}`);
}

export async function invitationsOf(desk: Desk, email: string): Promise<string[]> {
  const { invitations } = await desk.tenant.state();
  return invitations.filter((one) => one.email === email).map(({ role, state }) => `${role} ${state}`);
}

/** The request of the story without its sensitive group, and without the word that nobody has an account yet. */
export const perhapsThere = (yaml: string) => ordinaryOnly(yaml).replace(/^preconditions: .*\n/m, "");

/** Holds our write at the door of the tenant, lets somebody else in first, and gives what the command comes to. */
export async function overtaken<T>(desk: Desk, action: string, go: () => Promise<T>, first: () => Promise<unknown>) {
  await desk.tenant.fault("delay:300", { action });
  const count = (await desk.tenant.writes(action)).length;
  const going = go();
  await until(async () => (await desk.tenant.writes(action)).length > count, `${action} is asked for`);
  await desk.tenant.clearFaults();
  await first();
  return going;
}

/** Planned, approved and invited; and the id of the invitation. */
export async function invited(desk: Desk, email: string): Promise<{ op: string; id: string }> {
  const op = await plan(desk, email);
  await approve(desk, op);
  expect((await run(desk, op)).code).toBe(4);
  const made = (await desk.tenant.state()).invitations.find((one) => one.email === email && one.state === "pending");
  return { op, id: made?.id ?? "" };
}
