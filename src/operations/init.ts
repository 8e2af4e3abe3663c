import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bug, invalid } from "../model/errors.ts";
import { INIT_POLICY_YAML } from "../model/policy.ts";
import { generateKey } from "../runtime/approvals/sshkey.ts";
import { NAMESPACE } from "../runtime/approvals/sshsig.ts";
import { trust } from "../runtime/trust.ts";
import { CATALOG, CONFIG, IGNORED } from "./scaffold.ts";
import type { Shell } from "./shell.ts";

const TENANT = "acme-sandbox";
const APPROVER = "approver@acme-sandbox.test";

interface Written {
  path: string;
  text: string;
  mode: number;
}

/** Writes a folder in which the next commands work as they stand. Refuses to overwrite; then nothing is written. */
export function initFolder(shell: Shell, provider: string): { folder: string; files: string[] } {
  if (provider !== "sandbox") {
    const message = `A folder for the provider ${provider} cannot be written by this version.`;
    throw invalid("provider_not_available", message, [
      { path: "--provider", code: "provider_not_available", found: provider, allowed: ["sandbox"] },
    ]);
  }
  const key = generateKey(APPROVER);
  const files: Written[] = [
    { path: "provision.yaml", text: CONFIG, mode: 0o644 },
    { path: `catalog/${TENANT}.yaml`, text: CATALOG, mode: 0o644 },
    { path: "policy.yaml", text: INIT_POLICY_YAML(TENANT, APPROVER), mode: 0o644 },
    { path: "approvers", text: rosterText(key.publicLine), mode: 0o644 },
    ...["joiner", "change", "leaver"].map((name) => ({ path: `plans/${name}.yaml`, text: example(name), mode: 0o644 })),
    { path: ".provision/keys/approver", text: key.privateText, mode: 0o600 },
    { path: ".provision/keys/approver.pub", text: `${key.publicLine.trimEnd()}\n`, mode: 0o600 },
  ];
  // Inside the folder, so that it holds beside any .gitignore that is there already.
  files.push({ path: ".provision/.gitignore", text: IGNORED, mode: 0o600 });
  const there = files.map(({ path }) => path).filter((path) => existsSync(join(shell.cwd, path)));
  if (there.length > 0)
    throw invalid(
      "already_there",
      `Nothing was written: ${there.join(", ")} stand${there.length === 1 ? "s" : ""} in ${shell.cwd} already.`,
      there.map((path) => ({ path, code: "already_there" })),
      "Use an empty folder, or -C DIR.",
    );
  for (const file of files) put(shell.cwd, file);
  trust(join(shell.cwd, "provision.yaml"), shell.env);
  return { folder: shell.cwd, files: files.map(({ path }) => path) };
}

function put(folder: string, { path, text, mode }: Written): void {
  const target = join(folder, path);
  const hidden = path.startsWith(".provision/");
  mkdirSync(dirname(target), { recursive: true, ...(hidden && { mode: 0o700 }) });
  writeFileSync(target, text, { flag: "wx", mode });
  // The umask may have taken or left more than was meant.
  chmodSync(target, mode);
  if (hidden) chmodSync(dirname(target), 0o700);
}

function rosterText(publicLine: string): string {
  const [type, blob] = publicLine.trim().split(" ");
  return `# Who may approve, one a line, in OpenSSH's allowed_signers form. Nobody here: nobody can approve.
# This key lies in .provision/keys and counts for sandbox tenants alone.
${APPROVER} namespaces="${NAMESPACE}" ${type} ${blob}
`;
}

/** The example requests are shipped beside the code. */
function example(name: string): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); folder !== dirname(folder); folder = dirname(folder)) {
    const path = join(folder, "plans", `${name}.yaml`);
    if (existsSync(join(folder, "package.json")) && existsSync(path)) return readFileSync(path, "utf8");
  }
  throw bug(`the example plans/${name}.yaml is missing`);
}
