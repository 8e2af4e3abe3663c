import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { checkRequest } from "../../src/core/validate.ts";
import { catalogFindings, parseCatalog } from "../../src/model/catalog.ts";
import { ProvisionError } from "../../src/model/errors.ts";
import { parsePolicy } from "../../src/model/policy.ts";
import { initFolder } from "../../src/operations/init.ts";
import type { Shell } from "../../src/operations/shell.ts";
import { loadConfig } from "../../src/runtime/config.ts";
import { readYamlFile } from "../../src/runtime/yaml.ts";
import { acme } from "../core/acme.ts";
import { shellIn } from "./shell.double.ts";

const root = mkdtempSync(join(tmpdir(), "provision-init-"));
afterAll(() => rmSync(root, { recursive: true }));

let shell: Shell;
beforeEach(() => {
  shell = shellIn(mkdtempSync(join(root, "folder-")));
});

const at = (path: string) => join(shell.cwd, path);
const text = (path: string) => readFileSync(at(path), "utf8");
const mode = (path: string) => (statSync(at(path)).mode & 0o777).toString(8);

function refusal(provider = "sandbox"): ProvisionError {
  try {
    initFolder(shell, provider);
  } catch (error) {
    if (error instanceof ProvisionError) return error;
    throw error;
  }
  throw new Error("it was written");
}

describe("the folder that init writes", () => {
  test("holds everything that the next commands need, and says what was written", () => {
    const { folder, files } = initFolder(shell, "sandbox");
    expect(folder).toBe(shell.cwd);
    expect(files.filter((path) => !existsSync(at(path)))).toEqual([]);
    expect(files).toEqual(
      expect.arrayContaining([
        ...["provision.yaml", "catalog/acme-sandbox.yaml", "policy.yaml", "approvers"],
        ...["plans/joiner.yaml", "plans/change.yaml", "plans/leaver.yaml", ".provision/keys/approver"],
      ]),
    );
  });

  test("has a configuration that is valid and trusted, and a tenant with the least to land on", () => {
    initFolder(shell, "sandbox");
    const loaded = loadConfig({ cwd: shell.cwd, env: shell.env });
    expect(loaded.trusted).toBe(true);
    const tenant = loaded.tenant("acme-sandbox");
    expect(tenant).toMatchObject({ provider: "sandbox", landing: { role: "guest", groups: [] } });
    expect(tenant.allowedEmailDomains).toEqual(["example.test"]);
  });

  test("has the privileged credential written out, and commented", () => {
    initFolder(shell, "sandbox");
    const tenant = loadConfig({ cwd: shell.cwd, env: shell.env }).tenant("acme-sandbox");
    expect(Object.keys(tenant.credentials).sort()).toEqual(["ordinary", "read"]);
    const uncommented = text("provision.yaml").replace("# privileged:", "privileged:");
    writeFileSync(at("provision.yaml"), uncommented);
    const more = loadConfig({ cwd: shell.cwd, env: shell.env, named: at("provision.yaml") }).tenant("acme-sandbox");
    expect(Object.keys(more.credentials).sort()).toEqual(["ordinary", "privileged", "read"]);
  });

  test("has the catalogue of the sandbox tenant, sound and complete", () => {
    initFolder(shell, "sandbox");
    const catalog = parseCatalog(readYamlFile(at("catalog/acme-sandbox.yaml"), "the catalogue"), "catalog");
    expect(catalogFindings(catalog)).toEqual([]);
    expect(catalog.roles.map(({ name }) => name)).toEqual(["guest", "member", "billing", "admin", "owner"]);
    expect(catalog.groups.map(({ name, id, membership, sensitive }) => [name, id, membership, sensitive])).toEqual([
      ["engineering", "grp_77", "direct", false],
      ["on-call-readers", "grp_81", "direct", true],
      ["everyone", "grp_1", "dynamic", false],
      ["contractors", "grp_90", "synced", false],
      ["platform", "grp_78", "nested", false],
    ]);
    expect(catalog.licenses.map(({ name }) => name)).toEqual(["pro"]);
    const tenant = acme({ catalog });
    const joiner = readYamlFile(at("plans/joiner.yaml"), "the request");
    expect(checkRequest(joiner, { tenants: ["acme-sandbox"], tenant })).toMatchObject({ ok: true });
  });

  test("has a policy of which every part is enforced, and a key that the roster names", () => {
    initFolder(shell, "sandbox");
    expect(() => parsePolicy(readYamlFile(at("policy.yaml"), "the policy"), "policy.yaml")).not.toThrow();
    const [type, blob, comment] = text(".provision/keys/approver.pub").trim().split(" ");
    expect(comment).toBe("approver@acme-sandbox.test");
    const line = text("approvers")
      .split("\n")
      .find((one) => one.startsWith("approver@acme-sandbox.test "));
    expect(line).toBe(`approver@acme-sandbox.test namespaces="provision-approval" ${type} ${blob}`);
  });

  test("keeps its secrets to its owner", () => {
    initFolder(shell, "sandbox");
    const modes = [".provision", ".provision/keys", ".provision/keys/approver"].map(mode);
    expect(modes).toEqual(["700", "700", "600"]);
  });

  test("keeps its secrets away from git, whatever a .gitignore that is there already says", () => {
    writeFileSync(at(".gitignore"), "node_modules/\n");
    initFolder(shell, "sandbox");
    expect(text(".gitignore")).toBe("node_modules/\n");
    execFileSync("git", ["init", "--quiet"], { cwd: shell.cwd });
    const seen = execFileSync("git", ["status", "--porcelain", "--untracked-files=all"], { cwd: shell.cwd }).toString();
    expect(seen).toContain("provision.yaml");
    expect(seen).not.toContain(".provision/");
  });

  test("holds another key in every folder", () => {
    initFolder(shell, "sandbox");
    const first = text(".provision/keys/approver.pub");
    shell = { ...shell, cwd: mkdtempSync(join(root, "folder-")) };
    initFolder(shell, "sandbox");
    expect(text(".provision/keys/approver.pub")).not.toBe(first);
  });
});

describe("init refuses", () => {
  test("to overwrite anything, and then writes nothing at all", () => {
    mkdirSync(at("plans"));
    writeFileSync(at("plans/leaver.yaml"), "mine\n");
    writeFileSync(at("policy.yaml"), "mine too\n");
    expect(refusal()).toMatchObject({
      ...{ code: "already_there", exit: 2 },
      details: [{ path: "policy.yaml" }, { path: "plans/leaver.yaml" }],
    });
    expect(text("plans/leaver.yaml")).toBe("mine\n");
    expect(readdirSync(shell.cwd).sort()).toEqual(["plans", "policy.yaml"]);
  });

  test("a second time, and leaves the first as it is", () => {
    initFolder(shell, "sandbox");
    const before = text(".provision/keys/approver");
    expect(refusal().code).toBe("already_there");
    expect(text(".provision/keys/approver")).toBe(before);
  });

  test("a provider that it cannot write for, by name", () => {
    expect(refusal("entra")).toMatchObject({ exit: 2, details: [{ found: "entra", allowed: ["sandbox"] }] });
    expect(readdirSync(shell.cwd)).toEqual([]);
  });
});
