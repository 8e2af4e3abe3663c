import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Desk } from "./desk.ts";

/** One request of the command under test, on its way to the tenant. */
export interface Passing {
  method: string;
  path: string;
  /** The class whose token it carries; null where it is none of the tenant's. */
  token: string | null;
  /** How many came before it since the hooks were set. */
  n: number;
}

export interface Given {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}

/** Somebody between the command and the tenant, who can do things at exactly these moments. */
export interface Between {
  /** Asked as a request comes in; what it gives is answered in place of the tenant. */
  ahead: (request: Passing) => Given | undefined;
  /** Called once the tenant has answered, before anybody hears of it. */
  behind: (request: Passing) => void;
  seen: Passing[];
  calm(): void;
  close(): Promise<void>;
}

/** Sets the folder's tenant behind a server of the test's own. */
export async function between(desk: Desk): Promise<Between> {
  const server = createServer((request, response) => {
    pass(desk, it, request, response).catch((error) => response.destroy(error));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  desk.edit("provision.yaml", (yaml) => yaml.replace(/base_url: .*/, `base_url: http://127.0.0.1:${port}`));
  const it: Between = { ahead: () => undefined, behind: () => {}, seen: [], calm, close: () => closed(server) };
  function calm(): void {
    Object.assign(it, { ahead: () => undefined, behind: () => {}, seen: [] });
  }
  return it;
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((done) => server.close(() => done()));
}

async function pass(desk: Desk, it: Between, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { method = "", url = "", headers } = request;
  const passing = { method, path: url, token: classOf(desk, headers.authorization ?? ""), n: it.seen.length };
  it.seen.push(passing);
  const given = it.ahead(passing);
  if (given !== undefined) {
    response.writeHead(given.status, { "content-type": "application/json", ...given.headers });
    response.end(given.body ?? '{"code":"given","message":"By the test."}');
    return;
  }
  const { host: _host, connection: _connection, "content-length": _length, ...kept } = headers;
  const body = chunks.length === 0 ? {} : { body: Buffer.concat(chunks) };
  const answer = await fetch(read(desk, "url") + url, { method, headers: kept as Record<string, string>, ...body });
  const bytes = Buffer.from(await answer.arrayBuffer());
  it.behind(passing);
  const { "content-encoding": _encoding, "transfer-encoding": _transfer, ...back } = Object.fromEntries(answer.headers);
  response.writeHead(answer.status, { ...back, connection: "close" });
  response.end(bytes);
}

function read(desk: Desk, name: string): string {
  return readFileSync(desk.file(`.provision/sandbox/${name}`), "utf8").trim();
}

function classOf(desk: Desk, authorization: string): string | null {
  const names = ["read", "ordinary", "privileged"];
  return names.find((name) => authorization === `Bearer ${read(desk, `${name}.token`)}`) ?? null;
}
