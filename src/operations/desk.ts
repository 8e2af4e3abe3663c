import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Catalog, catalogFindings, catalogSchema } from "../model/catalog.ts";
import { invalid } from "../model/errors.ts";
import { findingsOf } from "../model/findings.ts";
import { type Policy, policySchema, supportedPolicy } from "../model/policy.ts";
import type { Provider } from "../model/provider.ts";
import { type PublicKey, parsePublicLine } from "../runtime/approvals/pubkey.ts";
import { loadRevoked, type Revoked } from "../runtime/approvals/revocation.ts";
import { loadRoster, type RosterEntry } from "../runtime/approvals/roster.ts";
import { type LoadedConfig, loadConfig, type ResolvedTenant } from "../runtime/config.ts";
import { type Journal, openJournal } from "../runtime/journal/journal.ts";
import { pathOf } from "../runtime/trust.ts";
import { readYamlFile, withoutSchema } from "../runtime/yaml.ts";
import { instantOf, type Shell } from "./shell.ts";

/** The folder that a use case works in, and its parts, each opened when it is asked for. */
export interface Desk {
  shell: Shell;
  loaded: LoadedConfig;
  policy(): Policy;
  /** @throws exit 13 where nobody can approve. */
  roster(): RosterEntry[];
  revoked(): Revoked | null;
  /** Changes whenever a file that approvals rest on does. */
  stamps(): string;
  /** Public halves of the keys in the project's own folder. */
  sandboxKeys(): Buffer[];
  tenant(name: string): Promise<TenantDesk>;
  journal(): Journal;
  close(): void;
}

export interface TenantDesk {
  resolved: ResolvedTenant;
  provider: Provider;
  catalog: Catalog;
}

export function openDesk(shell: Shell): Desk {
  const loaded = loadConfig({ cwd: shell.cwd, named: shell.config, env: shell.env });
  let journal: Journal | undefined;
  return {
    shell,
    loaded,
    policy: () => readPolicy(loaded),
    roster: () => loadRoster(pathOf(loaded, loaded.config.approvers ?? "approvers", "the approvers file")),
    revoked: () =>
      loaded.config.revoked === undefined
        ? null
        : loadRevoked(pathOf(loaded, loaded.config.revoked, "the revocation list")),
    stamps: () => stamps(loaded),
    sandboxKeys: () => sandboxKeys(join(loaded.stateDir, "keys")),
    tenant: (name) => openTenant(shell, loaded, name),
    journal: () => {
      journal ??= openJournal({ dir: loaded.stateDir, now: () => instantOf(shell), random: shell.random });
      return journal;
    },
    close: () => journal?.close(),
  };
}

async function openTenant(shell: Shell, loaded: LoadedConfig, name: string): Promise<TenantDesk> {
  const resolved = loaded.tenant(name);
  const provider = await shell.provider(resolved.provider);
  if (!provider) {
    const message = `The tenant ${name} uses the provider ${resolved.provider}, which this version does not have.`;
    throw invalid("provider_not_available", message, [
      { path: `tenants.${name}.provider`, code: "provider_not_available", found: resolved.provider },
    ]);
  }
  return { resolved, provider, catalog: readCatalog(resolved.catalog, name) };
}

function readCatalog(path: string, tenant: string): Catalog {
  const input = withoutSchema(readYamlFile(path, `the catalogue of ${tenant}`), "provision.catalog/v1", path);
  const parsed = catalogSchema.safeParse(input);
  const findings = parsed.error ? findingsOf(parsed.error, input, catalogSchema) : catalogFindings(parsed.data);
  if (parsed.error || findings.some(({ code }) => code !== "doubled_name"))
    throw invalid("invalid_catalog", `${path} is no valid catalogue.`, findings, "Correct what the details name.");
  return parsed.data;
}

function readPolicy(loaded: LoadedConfig): Policy {
  const path = pathOf(loaded, loaded.config.policy ?? "policy.yaml", "the policy");
  const input = withoutSchema(readYamlFile(path, "the policy"), "provision.policy/v1", path);
  const parsed = policySchema.safeParse(input);
  if (parsed.error)
    throw invalid(
      "invalid_policy",
      `${path} is no valid policy.`,
      findingsOf(parsed.error, input, policySchema),
      "Correct what the details name.",
    );
  const unsupported = supportedPolicy(parsed.data);
  if (unsupported) throw unsupported;
  return parsed.data;
}

function stamps(loaded: LoadedConfig): string {
  const { approvers = "approvers", policy = "policy.yaml", revoked } = loaded.config;
  const files = [approvers, policy, ...(revoked === undefined ? [] : [revoked])];
  const stamp = (file: string) => {
    const found = statSync(resolve(loaded.dir, file), { throwIfNoEntry: false, bigint: true });
    return found ? `${found.ino}:${found.size}:${found.mtimeNs}:${found.ctimeNs}` : "missing";
  };
  return files.map(stamp).join(" ");
}

function sandboxKeys(folder: string): Buffer[] {
  if (!existsSync(folder)) return [];
  const lines = readdirSync(folder).filter((name) => name.endsWith(".pub"));
  return lines
    .map((name): PublicKey => parsePublicLine(readFileSync(join(folder, name), "utf8").trim()))
    .map(({ blob }) => blob);
}
