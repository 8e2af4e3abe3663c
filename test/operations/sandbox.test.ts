import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { askSandbox, isLive, removeRunning, sandboxFolder, writeRunning } from "../../src/operations/sandbox.ts";
import type { Shell } from "../../src/operations/shell.ts";
import { shellIn } from "./shell.double.ts";

const root = mkdtempSync(join(tmpdir(), "provision-sandbox-"));
afterAll(() => rmSync(root, { recursive: true }));

const CONFIG = `version: 1
tenants:
  acme-sandbox:
    provider: sandbox
    base_url: { file: .provision/sandbox/url }
    allowed_email_domains: [example.test]
    catalog: catalog.yaml
    landing: { role: guest, groups: [] }
    credentials: { read: { file: .provision/sandbox/read.token } }
policy: policy.yaml
approvers: approvers
`;
const tokens = { read: "r", ordinary: "o", privileged: "p", control: "the-control-token" };

let shell: Shell;
let server: Server;
let url: string;
let seen: { method: string; path: string; token: string; body: string }[];
let answer: { status: number; body: string };

beforeEach(async () => {
  const cwd = mkdtempSync(join(root, "folder-"));
  writeFileSync(join(cwd, "provision.yaml"), CONFIG);
  shell = shellIn(cwd);
  seen = [];
  answer = { status: 200, body: "{}" };
  server = createServer(async (request, response) => {
    seen.push({ ...heard(request), body: await bodyOf(request) });
    response.writeHead(answer.status, { "content-type": "application/json" }).end(answer.body);
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

function heard({ method = "", url: path = "", headers }: IncomingMessage) {
  return { method, path, token: headers.authorization ?? "" };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  return body;
}

const folder = () => sandboxFolder(shell);
const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe("a running tenant", () => {
  test("leaves its tokens, its lag and its address, for its owner alone", () => {
    writeRunning(folder(), { url, tokens }, 120);
    for (const [name, text] of [
      ["read.token", "r"],
      ["ordinary.token", "o"],
      ["privileged.token", "p"],
      ["url", url],
      ["lag", "120"],
    ] as const) {
      expect(readFileSync(join(folder(), name), "utf8")).toBe(`${text}\n`);
      expect(mode(join(folder(), name))).toBe("600");
    }
    expect([mode(folder()), mode(join(folder(), ".."))]).toEqual(["700", "700"]);
  });

  test("takes its address away when it stops, and no other's", () => {
    writeRunning(folder(), { url, tokens }, 0);
    removeRunning(folder(), "http://127.0.0.1:1");
    expect(existsSync(join(folder(), "url"))).toBe(true);
    removeRunning(folder(), url);
    expect(existsSync(join(folder(), "url"))).toBe(false);
    expect(() => removeRunning(folder(), url)).not.toThrow();
  });
});

describe("whether a tenant is alive", () => {
  test("is known from its answer, not from its address alone", async () => {
    expect(await isLive(folder())).toBeNull();
    writeRunning(folder(), { url, tokens }, 0);
    expect(await isLive(folder())).toBe(url);
    expect(seen[0]).toMatchObject({ method: "GET", token: "Bearer the-control-token" });
    answer = { status: 401, body: "{}" };
    expect(await isLive(folder())).toBeNull();
    writeRunning(folder(), { url: "http://127.0.0.1:1", tokens }, 0);
    expect(await isLive(folder())).toBeNull();
  });
});

describe("what is asked of the tenant past its clients", () => {
  test("carries the control token and its body, and gives back what came", async () => {
    writeRunning(folder(), { url, tokens }, 0);
    answer = { status: 200, body: '{"accepted":true}' };
    expect(await askSandbox(shell, "POST", "accept", { email: "priya@example.test" })).toEqual({ accepted: true });
    expect(seen).toEqual([
      {
        ...{ method: "POST", path: "/_sandbox/accept", token: "Bearer the-control-token" },
        body: '{"email":"priya@example.test"}',
      },
    ]);
  });

  test("is refused with the tenant's own words", async () => {
    writeRunning(folder(), { url, tokens }, 0);
    answer = { status: 404, body: '{"code":"no_invitation","message":"There is no open invitation."}' };
    const refusal = { code: "no_invitation", exit: 2, message: "There is no open invitation." };
    await expect(askSandbox(shell, "POST", "accept", {})).rejects.toMatchObject(refusal);
    answer = { status: 500, body: "{}" };
    await expect(askSandbox(shell, "GET", "state")).rejects.toMatchObject({
      exit: 2,
      message: expect.stringContaining("500"),
    });
  });

  test("is refused by name where no tenant runs, or none answers any more", async () => {
    const refusal = { code: "sandbox_not_running", exit: 2, hint: "provision sandbox start" };
    await expect(askSandbox(shell, "GET", "state")).rejects.toMatchObject(refusal);
    writeRunning(folder(), { url: "http://127.0.0.1:1", tokens }, 0);
    await expect(askSandbox(shell, "GET", "state")).rejects.toMatchObject(refusal);
  });
});
