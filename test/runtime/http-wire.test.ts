import { createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { HttpRequest } from "../../src/model/provider.ts";
import type { Transport } from "../../src/model/reply.ts";
import { type HttpOptions, openHttp } from "../../src/runtime/http.ts";
import { Secret } from "../../src/runtime/secret.ts";

/** A server of bytes: it tells what arrived on which connection, and answers as the test says. */
let server: Server;
let arrived: { connection: number; head: string }[];
let sockets: Set<Socket>;
let transports: Transport[];
let base: string;
let answer: (socket: Socket, head: string) => void;

beforeEach(async () => {
  arrived = [];
  transports = [];
  sockets = new Set();
  let connections = 0;
  server = createServer((socket) => {
    const connection = ++connections;
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => {
      const head = bytes.toString("latin1");
      arrived.push({ connection, head });
      answer(socket, head);
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = server.address();
  base = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
});

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await new Promise((done) => server.close(done));
});

function open<Mode extends "read" | "write">(mode: Mode, more: Partial<HttpOptions<Mode>> = {}) {
  return openHttp<Mode>({
    baseUrl: base,
    load: async () => new Secret("token"),
    refresh: async () => new Secret("token"),
    requestMs: 400,
    mode,
    now: () => "2026-07-24T10:00:00.000Z",
    monotonic: () => performance.now(),
    fingerprintKey: new Uint8Array(32),
    onTransport: (transport) => transports.push(transport),
    env: {},
    backoffMs: 1,
    ...more,
  });
}

const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
const get = (): HttpRequest => ({ method: "GET", url: `${base}/users`, route: "/users" });
const write = (method: HttpRequest["method"] = "PUT"): HttpRequest => ({
  method,
  url: `${base}/role`,
  route: "/role",
  ...(method !== "DELETE" && { body: { role: "member" } }),
});
const WRITES = ["POST", "PUT", "PATCH", "DELETE"] as const;

describe("on the wire, a write", () => {
  test.each(WRITES)("by %s whose connection breaks after it arrived is lost, and arrived once", async (method) => {
    answer = (socket) => socket.resetAndDestroy();
    expect(await open("write").fetch(write(method))).toMatchObject({ kind: "lost" });
    expect([arrived.length, transports.length]).toEqual([1, 1]);
    expect(transports[0]).toMatchObject({ status: null, response: null });
  });

  test.each(WRITES)(
    "by %s never travels on a connection that was used before, so a dead one cannot lose it",
    async (method) => {
      answer = (socket, head) => {
        if (head.startsWith("GET")) socket.write(OK);
        else socket.end();
      };
      const io = open("write");
      await io.fetch(get());
      await new Promise((done) => setTimeout(done, 10));
      await io.fetch(get());
      expect(await io.fetch(write(method))).toMatchObject({ kind: "lost" });
      expect(arrived.map(({ connection, head }) => `${connection} ${head.split(" ")[0]}`)).toEqual([
        "1 GET",
        "1 GET",
        `2 ${method}`,
      ]);
    },
  );

  test.each(WRITES)("by %s is not repeated where the service wants another connection", async (method) => {
    answer = (socket) => socket.write("HTTP/1.1 421 Misdirected Request\r\ncontent-length: 2\r\n\r\n{}");
    expect(await open("write").fetch(write(method))).toMatchObject({ kind: "lost", status: 421 });
    expect(arrived).toHaveLength(1);
    expect(transports.map(({ status }) => status)).toEqual([421]);
  });

  test("whose answer is cut off is lost, and its status is kept", async () => {
    answer = (socket) => socket.end("HTTP/1.1 201 Created\r\nx-request-id: r1\r\ncontent-length: 100\r\n\r\n{");
    expect(await open("write").fetch(write())).toMatchObject({ kind: "lost", status: 201 });
    expect(transports[0]).toMatchObject({ status: 201, provider_request_id: "r1", response: null });
  });

  test("that nobody answers in time is lost", async () => {
    answer = () => undefined;
    const io = open("write", { requestMs: 60 });
    expect(await io.fetch(write())).toEqual({ kind: "lost", detail: "No whole answer came within 60 ms." });
    answer = (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{");
    expect(await io.fetch(write())).toMatchObject({
      kind: "lost",
      status: 200,
      detail: expect.stringContaining("60 ms"),
    });
    expect(transports[1]?.duration_ms).toBeGreaterThanOrEqual(50);
  });

  test("that a signal meets in the air is lost", async () => {
    const stop = new AbortController();
    answer = () => stop.abort();
    const result = await open("write", { signal: stop.signal, requestMs: 900 }).fetch(write());
    expect(result).toMatchObject({ kind: "lost", detail: expect.stringContaining("Interrupted") });
    expect(transports[0]?.duration_ms).toBeLessThan(600);
    expect(transports).toHaveLength(1);
  });

  test("that finds nobody was not sent, and is told as an attempt", async () => {
    const closed = base;
    await new Promise((done) => server.close(done));
    expect(await open("write", { baseUrl: closed }).fetch(write())).toMatchObject({
      kind: "not_sent",
      detail: expect.stringContaining("ECONNREFUSED"),
    });
    expect(transports).toHaveLength(1);
    server = createServer().listen(0, "127.0.0.1");
  });
});

describe("on the wire, a read", () => {
  test("that is cut off is tried again", async () => {
    answer = (socket) => (arrived.length < 3 ? socket.destroy() : socket.write(OK));
    expect(await open("read").fetch(get())).toMatchObject({ kind: "answer", status: 200 });
    expect(transports.map(({ status }) => status)).toEqual([null, null, 200]);
  });

  test("stops between its attempts at a signal", async () => {
    const stop = new AbortController();
    answer = (socket) => {
      socket.write("HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n");
      setTimeout(() => stop.abort(), 20);
    };
    const result = await open("read", { signal: stop.signal, backoffMs: 900 }).fetch(get());
    expect(result).toMatchObject({ kind: "answer", status: 500 });
    expect(arrived).toHaveLength(1);
  });
});

describe("a proxy", () => {
  const PROXIES = (port: string): NodeJS.ProcessEnv => ({ HTTP_PROXY: port, HTTPS_PROXY: port });

  test("gets no token and is followed for other machines", async () => {
    answer = (socket, head) => {
      if (head.startsWith("CONNECT")) socket.write("HTTP/1.1 200 OK\r\n\r\n");
      else socket.write(OK);
    };
    const baseUrl = "http://tenant.example.test";
    const io = open("write", { baseUrl, env: PROXIES(base) });
    expect(await io.fetch({ ...write(), url: `${baseUrl}/role` })).toMatchObject({ status: 200 });
    expect(arrived[0]?.head).toMatch(/^CONNECT tenant\.example\.test:80 /);
    expect(arrived[0]?.head).not.toContain("Bearer");
    expect(arrived[1]?.head).toMatch(/^PUT \/role .*authorization: Bearer token/is);
    await io.close();
  });

  test("is not asked for this machine", async () => {
    answer = (socket) => socket.write(OK);
    expect(await open("write", { env: PROXIES("http://127.0.0.1:1") }).fetch(write())).toMatchObject({ status: 200 });
  });

  test("is not asked for what NO_PROXY names", async () => {
    answer = (socket) => socket.write("HTTP/1.1 200 OK\r\n\r\n");
    const baseUrl = "http://tenant.invalid";
    const io = open("write", { baseUrl, env: { ...PROXIES(base), NO_PROXY: ".invalid" } });
    expect(await io.fetch({ ...write(), url: `${baseUrl}/role` })).not.toMatchObject({ kind: "answer" });
    expect(arrived).toHaveLength(0);
  });
});
