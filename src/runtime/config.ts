import { lstatSync, readFileSync, realpathSync, type Stats } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Config, type CredentialSource, type ProviderName, type TimingEntry } from "../model/config.ts";
import { type Finding, invalid } from "../model/errors.ts";
import { findingsOf } from "../model/findings.ts";
import { nearest } from "../model/nearest.ts";
import type { CredentialClass } from "../model/provider.ts";
import { decodeUtf8, LARGEST_INPUT, readBounded } from "./files.ts";
import { isTrusted, pathOf } from "./trust.ts";
import { readYaml, withoutSchema } from "./yaml.ts";

export const CONFIG_NAME = "provision.yaml";

/** In milliseconds. */
export interface Timing {
  /** How long one request may take, answer and body included. */
  requestMs: number;
  /** How long the tenant's reads may lag behind its writes. */
  settleMs: number;
  leaseMs: number;
}

/** A tenant with its paths made absolute; its address and tokens come from `reach` alone. */
export interface ResolvedTenant {
  name: string;
  provider: ProviderName;
  baseUrl: string | { env?: string | undefined; file?: string | undefined };
  allowedEmailDomains: readonly string[];
  catalog: string;
  landing: { role: string; groups: string[] };
  credentials: { [name in CredentialClass]?: CredentialSource | undefined };
  timing: Timing;
}

export interface LoadedConfig {
  /** The real path, links resolved; relative paths in the file start at its folder. */
  path: string;
  dir: string;
  config: Config;
  /** Named by `--config` or `PROVISION_CONFIG` instead of found by walking up; counts as trust. */
  named: boolean;
  trusted: boolean;
  env: NodeJS.ProcessEnv;
  stateDir: string;
  /** @throws exit 2: `unknown_tenant`, with the nearest names; `untrusted` for a catalogue outside the folder. */
  tenant(name: string): ResolvedTenant;
  /** @throws exit 2 `unknown_tenant`. */
  timing(name: string): Timing;
}

/**
 * Finds and reads the configuration: the file that `named` or `PROVISION_CONFIG` names, else the nearest
 * `provision.yaml` in `cwd` or above it.
 *
 * @throws exit 2: `config_not_found`; `config_owner` and `config_writable` where one that was not named is in other
 *   hands; `invalid_config` with everything that is wrong; what `readYaml` says.
 */
export function loadConfig(options: { cwd: string; named?: string | undefined; env: NodeJS.ProcessEnv }): LoadedConfig {
  const { cwd, env } = options;
  const name = options.named || env.PROVISION_CONFIG || undefined;
  const found = name === undefined ? search(resolve(cwd)) : resolve(cwd, name);
  const { bytes, stats } = readBounded(found, LARGEST_INPUT, "the configuration");
  if (name === undefined) refuseOthersHands(found, stats);
  const path = realpathSync(found);
  const config = parseConfig(decodeUtf8(bytes, found), found);
  const dir = dirname(path);
  const stateDir = join(dir, ".provision");

  function entry(tenant: string) {
    const known = config.tenants[tenant];
    if (known !== undefined && Object.hasOwn(config.tenants, tenant)) return known;
    throw unknownTenant(tenant, Object.keys(config.tenants), found);
  }

  function timing(tenant: string): Timing {
    const { provider, timing: own } = entry(tenant);
    return merged(provider === "sandbox" ? sandboxTiming(stateDir) : merged(DEFAULTS, config.timing), own);
  }

  const trusted = name !== undefined || isTrusted(path, bytes, env);
  return {
    path,
    dir,
    config,
    named: name !== undefined,
    trusted,
    env,
    stateDir,
    timing,
    tenant(tenant) {
      const { base_url: baseUrl, allowed_email_domains: allowedEmailDomains, catalog, ...rest } = entry(tenant);
      const file = pathOf({ path, dir, trusted }, catalog ?? `catalog/${tenant}.yaml`, `the catalogue of ${tenant}`);
      return { ...rest, name: tenant, baseUrl, allowedEmailDomains, catalog: file, timing: timing(tenant) };
    },
  };
}

/** Reads the text of a configuration. @throws exit 2 `invalid_config`, and what `readYaml` says. */
export function parseConfig(text: string, file: string): Config {
  const input = withoutSchema(readYaml(text, { file }), "provision.config/v1", file);
  const parsed = Config.safeParse(input);
  if (parsed.error === undefined) return parsed.data;
  const details = findingsOf(parsed.error, input, Config).map(withoutToken);
  const message = `${file} is no valid configuration: ${details.length} finding${details.length === 1 ? "" : "s"}.`;
  throw invalid("invalid_config", message, details, "`provision schema config` prints what is allowed.");
}

/** People paste tokens where a reference belongs; what stands in such places is never repeated. */
function withoutToken(finding: Finding): Finding {
  const isKey = finding.code === "unknown_key" || finding.code === "malformed_key";
  if (isKey || !/\.(credentials|base_url)\b/.test(finding.path)) return finding;
  const { found: _found, ...rest } = finding;
  return rest;
}

function search(cwd: string): string {
  for (let dir = cwd; ; dir = dirname(dir)) {
    const path = join(dir, CONFIG_NAME);
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return path;
    if (dir !== dirname(dir)) continue;
    const message = `There is no ${CONFIG_NAME} in ${cwd} or in any folder above it.`;
    throw invalid(
      "config_not_found",
      message,
      [],
      "`provision init` writes a folder to start from; --config names a file.",
    );
  }
}

/** Checked on the opened file, and on the link where it is one. */
function refuseOthersHands(path: string, opened: Stats): void {
  const uid = process.getuid?.();
  if (uid === undefined) return;
  if ([opened, lstatSync(path)].some((stats) => stats.uid !== uid)) {
    const hint = `If it is the right one, name it: --config ${path}`;
    throw invalid("config_owner", `${path} belongs to another user, so it is not used unasked.`, [], hint);
  }
  if ((opened.mode & 0o022) !== 0) {
    throw invalid(
      "config_writable",
      `${path} can be written by others, so it is not used unasked.`,
      [],
      `chmod go-w ${path}`,
    );
  }
}

function unknownTenant(name: string, known: string[], file: string): Error {
  const likely = nearest(name, known);
  const hint = likely.length > 0 ? `The nearest names are: ${likely.join(", ")}.` : undefined;
  const detail: Finding = { path: "tenant", code: "unknown_tenant", found: name, allowed: likely };
  return invalid("unknown_tenant", `The tenant ${name} does not stand in ${file}.`, [detail], hint);
}

const DEFAULTS: Timing = { requestMs: 15_000, settleMs: 5_000, leaseMs: 60_000 };

/** The embedded tenant answers from memory; it writes how far its reads lag into a file beside its address. */
function sandboxTiming(stateDir: string): Timing {
  return { requestMs: 500, settleMs: lag(join(stateDir, "sandbox", "lag")), leaseMs: 2_000 };
}

function lag(path: string): number {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return 0;
  const text = readFileSync(path, "utf8").trim();
  if (/^[0-9]{1,9}$/.test(text)) return Number(text);
  throw invalid(
    "sandbox_lag",
    `${path} holds no number of milliseconds.`,
    [],
    "Start the sandbox again; it writes the file.",
  );
}

function merged(base: Timing, own: TimingEntry | undefined): Timing {
  const { request, settle, lease } = own ?? {};
  return { requestMs: request ?? base.requestMs, settleMs: settle ?? base.settleMs, leaseMs: lease ?? base.leaseMs };
}
