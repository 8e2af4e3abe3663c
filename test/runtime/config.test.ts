import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { ProvisionError } from "../../src/model/errors.ts";
import { loadConfig, parseConfig } from "../../src/runtime/config.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "provision-config-")));
afterAll(() => rmSync(root, { recursive: true }));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(root, "case-"));
});

const TENANT = `
    base_url: https://graph.example.test
    allowed_email_domains: [example.test]
    landing: { role: guest, groups: [] }
    credentials: { read: { env: READ } }`;
const YAML = `schema: provision.config/v1
version: 1
timing: { request: 10s, settle: 1s }
tenants:
  acme-production:
    provider: entra${TENANT}
  acme-slow:
    provider: entra
    timing: { settle: 30s }${TENANT}
  acme-sandbox:
    provider: sandbox${TENANT}
  own-sandbox:
    provider: sandbox
    timing: { lease: 9s }${TENANT}
`;

function write(text = YAML, mode = 0o644): string {
  const path = join(folder, "provision.yaml");
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

const env = { XDG_CONFIG_HOME: join(root, "settings") };
const load = (more: { named?: string; cwd?: string; env?: NodeJS.ProcessEnv } = {}) =>
  loadConfig({ cwd: folder, env, ...more });

function refusal(act: () => unknown): ProvisionError {
  try {
    act();
  } catch (error) {
    if (error instanceof ProvisionError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("the configuration is found", () => {
  test("by walking up from the current folder, the nearest first", () => {
    write();
    const deep = join(folder, "a", "b");
    mkdirSync(deep, { recursive: true });
    expect(load({ cwd: deep })).toMatchObject({
      path: join(folder, "provision.yaml"),
      dir: folder,
      stateDir: join(folder, ".provision"),
      named: false,
      trusted: false,
    });
    writeFileSync(join(deep, "provision.yaml"), YAML);
    expect(load({ cwd: deep }).dir).toBe(deep);
  });

  test("by name before all, then by PROVISION_CONFIG, both relative to the current folder", () => {
    write();
    for (const name of ["one.yaml", "two.yaml"]) writeFileSync(join(folder, name), YAML);
    const both = { ...env, PROVISION_CONFIG: "two.yaml" };
    expect(load({ named: "one.yaml", env: both })).toMatchObject({
      path: join(folder, "one.yaml"),
      named: true,
      trusted: true,
    });
    expect(load({ env: both }).path).toBe(join(folder, "two.yaml"));
    expect(load({ env: { ...env, PROVISION_CONFIG: "" } }).named).toBe(false);
  });

  test("nowhere: exit 2 with how to begin", () => {
    expect(refusal(load)).toMatchObject({
      code: "config_not_found",
      exit: 2,
      hint: expect.stringContaining("provision init"),
    });
    expect(refusal(() => load({ named: "no.yaml" }))).toMatchObject({ code: "file_not_found", exit: 2 });
  });

  test("through a link: its paths start where the file truly lies", () => {
    const path = write();
    const elsewhere = mkdtempSync(join(root, "case-"));
    symlinkSync(path, join(elsewhere, "provision.yaml"));
    expect(load({ cwd: elsewhere }).dir).toBe(folder);
  });
});

describe("in other hands", () => {
  test.each([0o664, 0o646])("a file of mode %o is refused unless it was named", (mode) => {
    const path = write(YAML, mode);
    expect(refusal(load)).toMatchObject({ code: "config_writable", exit: 2 });
    expect(load({ named: path }).named).toBe(true);
  });

  test.runIf(process.getuid?.() === 0)("a file of another user is refused unless it was named", () => {
    const path = write();
    chownSync(path, 65_534, 65_534);
    expect(refusal(load)).toMatchObject({ code: "config_owner", exit: 2 });
    expect(load({ named: path }).named).toBe(true);
  });
});

describe("a tenant", () => {
  test("is an exact name; an unknown one is told with the nearest", () => {
    write();
    const error = refusal(() => load().tenant("acme-prodution"));
    expect(error).toMatchObject({ code: "unknown_tenant", exit: 2 });
    expect(error.details[0]?.allowed).toHaveLength(3);
    expect(error.hint).toMatch(/: acme-production, /);
    expect(refusal(() => load().tenant("constructor")).code).toBe("unknown_tenant");
    expect(refusal(() => load().timing("__proto__")).code).toBe("unknown_tenant");
  });

  test("has its catalogue beside the configuration and its own landing", () => {
    write();
    expect(load().tenant("acme-production")).toMatchObject({
      name: "acme-production",
      provider: "entra",
      catalog: join(folder, "catalog", "acme-production.yaml"),
      landing: { role: "guest", groups: [] },
      allowedEmailDomains: ["example.test"],
    });
  });

  test("has its own timing before the one of the file, and that before the usual one", () => {
    write();
    const loaded = load();
    expect(loaded.timing("acme-production")).toEqual({ requestMs: 10_000, settleMs: 1_000, leaseMs: 60_000 });
    expect(loaded.timing("acme-slow")).toEqual({ requestMs: 10_000, settleMs: 30_000, leaseMs: 60_000 });
  });

  test("of the sandbox is quick, and settles as slowly as the sandbox says", () => {
    write();
    expect(load().timing("acme-sandbox")).toEqual({ requestMs: 500, settleMs: 0, leaseMs: 2_000 });
    mkdirSync(join(folder, ".provision", "sandbox"), { recursive: true });
    writeFileSync(join(folder, ".provision", "sandbox", "lag"), "250\n");
    expect(load().timing("acme-sandbox").settleMs).toBe(250);
    expect(load().timing("own-sandbox")).toEqual({ requestMs: 500, settleMs: 250, leaseMs: 9_000 });
    writeFileSync(join(folder, ".provision", "sandbox", "lag"), "soon");
    expect(refusal(() => load().timing("acme-sandbox")).code).toBe("sandbox_lag");
  });
});

describe("a configuration with faults", () => {
  test("is refused with all of them at once", () => {
    write("version: 3\ntenants: { acme: { provider: nope } }\ntenant: x\n");
    const error = refusal(load);
    expect([error.code, error.exit]).toEqual(["invalid_config", 2]);
    expect(error.details.map(({ path }) => path).sort()).toEqual([
      "tenant",
      ...["allowed_email_domains", "base_url", "landing", "provider"].map((key) => `tenants.acme.${key}`),
      "version",
    ]);
  });

  test("never repeats what stands where a token was pasted", () => {
    const canary = "canary-7Zq9-token";
    const places = [
      `credentials: { read: ${canary} }`,
      `credentials: { read: { env: "${canary}" } }`,
      `credentials: { read: { token: ${canary} } }`,
      `credentials: { read: { command: ["${canary}"] } }`,
      `credentials: [${canary}]`,
    ];
    for (const place of places) {
      const text = `version: 1\ntenants:\n  acme:\n    provider: entra${TENANT.replace(/credentials:.*/, place)}\n`;
      const error = refusal(() => parseConfig(text, "provision.yaml"));
      expect(error.details.length).toBeGreaterThan(0);
      expect(`${error.message} ${error.hint} ${JSON.stringify(error.details)}`).not.toContain(canary);
    }
  });

  test("of another schema is refused", () => {
    expect(refusal(() => parseConfig(YAML.replace("config/v1", "request/v1"), "f")).code).toBe("wrong_schema");
    expect(parseConfig(YAML.replace(/^.*\n/, ""), "f").version).toBe(1);
  });
});
