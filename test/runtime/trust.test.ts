import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { ProvisionError } from "../../src/model/errors.ts";
import { loadConfig } from "../../src/runtime/config.ts";
import { reach } from "../../src/runtime/reach.ts";
import { isTrusted, pathOf, trust } from "../../src/runtime/trust.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "provision-trust-")));
afterAll(() => rmSync(root, { recursive: true }));

let folder: string;
let env: NodeJS.ProcessEnv;
let path: string;
beforeEach(() => {
  const here = mkdtempSync(join(root, "case-"));
  folder = join(here, "work");
  mkdirSync(folder);
  path = join(folder, "provision.yaml");
  env = { XDG_CONFIG_HOME: join(here, "settings"), READ: "token" };
});

const VENDOR = ["graph.example.test", ".tenants.example.test"];

function write(tenant: { provider?: string; base_url?: unknown; read?: unknown; more?: object }): void {
  const {
    provider = "entra",
    base_url = "https://graph.example.test/v1.0",
    read = { env: "READ" },
    more = {},
  } = tenant;
  const acme = {
    provider,
    base_url,
    allowed_email_domains: [],
    landing: { role: "guest" },
    credentials: { read },
    ...more,
  };
  writeFileSync(path, JSON.stringify({ version: 1, tenants: { acme } }), { mode: 0o644 });
}

function open(options: { named?: string } = {}) {
  const loaded = loadConfig({ cwd: folder, env, ...options });
  return reach(loaded, loaded.tenant("acme"), VENDOR);
}

function codeOf(act: () => unknown): string {
  try {
    act();
    return "fine";
  } catch (error) {
    if (!(error instanceof ProvisionError)) throw error;
    expect(error.exit).toBe(2);
    if (error.code === "untrusted") expect(error.hint).toContain("provision trust");
    return error.code;
  }
}

const COMMAND = { command: ["/bin/echo", "token"] };

describe("a configuration found by walking up", () => {
  test("may use variables and files of its folder against the vendor's own address", () => {
    write({});
    expect(open().baseUrl).toBe("https://graph.example.test/v1.0");
    write({ base_url: "https://acme.tenants.example.test/", read: { file: "secrets/token" } });
    expect(open().baseUrl).toBe("https://acme.tenants.example.test");
  });

  test.each([
    ["a command", { read: COMMAND }],
    ["another address", { base_url: "https://graph.example.test.evil.test" }],
    ["a name that only ends like the vendor's", { base_url: "https://evilgraph.example.test" }],
    ["another port", { base_url: "https://graph.example.test:8443" }],
    ["a loopback address of no sandbox", { base_url: "http://127.0.0.1:9" }],
    ["a sandbox that is not on this machine", { provider: "sandbox", base_url: "https://sandbox.example.test" }],
    ["a token file outside its folder", { read: { file: "../token" } }],
    ["an absolute token file", { read: { file: "/etc/hostname" } }],
    ["a catalogue outside its folder", { more: { catalog: "../catalog.yaml" } }],
    ["an address in a file outside its folder", { base_url: { file: "../url" } }],
  ])("needs trust for %s, and has it once it was named", (_what, tenant) => {
    writeFileSync(join(folder, "..", "url"), "https://graph.example.test");
    write(tenant);
    expect(codeOf(open)).toBe("untrusted");
    expect(codeOf(() => open({ named: path }))).toBe("fine");
    trust(path, env);
    expect(codeOf(open)).toBe("fine");
  });

  test("loses trust with one changed byte", () => {
    write({ read: COMMAND });
    trust(path, env);
    expect(codeOf(open)).toBe("fine");
    writeFileSync(path, `${readFileSync(path, "utf8")} `);
    expect(codeOf(open)).toBe("untrusted");
  });

  test("needs none for a sandbox on this machine and the tokens in its folder", () => {
    for (const base_url of ["http://127.0.0.1:4100", "http://localhost:4100", "http://[::1]:4100"]) {
      write({ provider: "sandbox", base_url, read: { file: ".provision/sandbox/read.token" } });
      expect(codeOf(open)).toBe("fine");
    }
  });

  test.each([
    ["a command", COMMAND],
    ["a token file outside its folder", { file: "../token" }],
    ["an absolute token file", { file: "/etc/hostname" }],
    ["a token file behind a link out of its folder", { file: "up/token" }],
  ])("needs trust for %s of a sandbox on this machine, and again after one changed byte", (_what, read) => {
    symlinkSync(join(folder, ".."), join(folder, "up"));
    write({ provider: "sandbox", base_url: "http://127.0.0.1:4100", read });
    expect(codeOf(open)).toBe("untrusted");
    expect(codeOf(() => open({ named: path }))).toBe("fine");
    trust(path, env);
    expect(codeOf(open)).toBe("fine");
    writeFileSync(path, `${readFileSync(path, "utf8")} `);
    expect(codeOf(open)).toBe("untrusted");
  });

  test("once trusted, goes on without a new word where only a token of its own folder is added", () => {
    write({ provider: "sandbox", base_url: "http://127.0.0.1:4100" });
    trust(path, env);
    const privileged = { file: ".provision/sandbox/privileged.token" };
    write({
      provider: "sandbox",
      base_url: "http://127.0.0.1:4100",
      more: { credentials: { read: { env: "READ" }, privileged } },
    });
    expect(codeOf(open)).toBe("fine");
  });

  test("does not leave its folder by a link", () => {
    write({});
    symlinkSync(join(folder, ".."), join(folder, "up"));
    const loaded = loadConfig({ cwd: folder, env });
    expect(codeOf(() => pathOf(loaded, "up/approvers", "the roster"))).toBe("untrusted");
    expect(codeOf(() => pathOf(loaded, "..approvers", "the roster"))).toBe("fine");
    expect(pathOf(loaded, "approvers", "the roster")).toBe(join(folder, "approvers"));
  });
});

describe("the address of a tenant", () => {
  test.each([
    ["no URL", "malformed_base_url"],
    ["ftp://graph.example.test", "malformed_base_url"],
    ["https://user:pass-7Zq9@graph.example.test", "malformed_base_url"],
    ["https://graph.example.test/?key=1", "malformed_base_url"],
    ["http://graph.example.test", "insecure_base_url"],
    ["http://127.0.0.1.example.test", "insecure_base_url"],
  ])("%s is refused even where it was named", (base_url, code) => {
    write({ base_url });
    expect(codeOf(() => open({ named: path }))).toBe(code);
  });

  test("comes from a variable or a file where the configuration says so", () => {
    write({ base_url: { env: "ACME_URL" } });
    expect(codeOf(open)).toBe("base_url_unset");
    env.ACME_URL = "https://graph.example.test/";
    expect(open().baseUrl).toBe("https://graph.example.test");
    write({ provider: "sandbox", base_url: { file: ".provision/sandbox/url" } });
    expect(codeOf(open)).toBe("base_url_unset");
    mkdirSync(join(folder, ".provision", "sandbox"), { recursive: true });
    writeFileSync(join(folder, ".provision", "sandbox", "url"), "http://127.0.0.1:4100\n");
    expect(open().baseUrl).toBe("http://127.0.0.1:4100");
  });
});

describe("the list of what is trusted", () => {
  const store = () => join(env.XDG_CONFIG_HOME ?? "", "provision", "trusted.json");
  const trusted = () => isTrusted(path, readFileSync(path), env);

  test("is made where there was nothing, for its user alone", () => {
    write({});
    expect([trusted(), existsSync(store())]).toEqual([false, false]);
    trust(path, env);
    expect(trusted()).toBe(true);
    expect(statSync(store()).mode & 0o777).toBe(0o600);
  });

  test("keeps one line a file, whatever link led there", () => {
    write({});
    symlinkSync(folder, `${folder}-link`);
    trust(join(`${folder}-link`, "provision.yaml"), env);
    trust(path, env);
    expect(trusted()).toBe(true);
    expect(Object.keys(JSON.parse(readFileSync(store(), "utf8")).files)).toEqual([path]);
  });

  test("says nothing when it is broken or others may write it", () => {
    write({});
    trust(path, env);
    chmodSync(store(), 0o666);
    expect(trusted()).toBe(false);
    chmodSync(store(), 0o600);
    expect(trusted()).toBe(true);
    writeFileSync(store(), "{");
    expect(trusted()).toBe(false);
    trust(path, env);
    expect(trusted()).toBe(true);
  });
});
