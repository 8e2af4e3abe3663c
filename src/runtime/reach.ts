import { invalid } from "../model/errors.ts";
import type { LoadedConfig, ResolvedTenant } from "./config.ts";
import { type Credentials, credentials } from "./credentials.ts";
import { decodeUtf8, readBounded } from "./files.ts";
import { pathOf, untrusted } from "./trust.ts";

/** What it takes to talk to a tenant. */
export interface Reach {
  /** Without a slash at its end. */
  baseUrl: string;
  credentials: Credentials;
}

const LONGEST_URL = 4_096;

/**
 * The tenant's address and its credentials, once the configuration may be believed in what it says of them.
 *
 * A configuration that was only found by walking up may have come with somebody's clone, so these wait for the user's
 * word: commands, addresses that are not the vendor's, files outside its folder. A sandbox on this machine needs none for
 * its address and for files inside the folder, so that its own tokens work as they stand; a command, or a file from
 * elsewhere, needs it there too, since a clone could call anything a sandbox. A changed file has lost the word given.
 *
 * @param nowMs - Milliseconds since 1970, to judge how long a token lives; a clock that no change of the wall clock bends.
 * @param vendorHosts - Host names, a leading dot for all below; empty for a provider that lives where it is put.
 * @throws exit 2: `untrusted`, `base_url_unset`, `malformed_base_url`, `insecure_base_url`.
 */
export function reach(
  loaded: LoadedConfig,
  tenant: ResolvedTenant,
  vendorHosts: readonly string[],
  nowMs?: () => number,
): Reach {
  const url = parseUrl(addressOf(loaded, tenant), tenant.name);
  const local = tenant.provider === "sandbox" && isLoopback(url);
  if (!loaded.trusted && !local && !isVendors(url, vendorHosts)) {
    throw untrusted(loaded, `the address of ${tenant.name} (${url.host}), which is not its vendor's`);
  }
  for (const [name, source] of Object.entries(tenant.credentials)) {
    const what = `the ${name} credential of ${tenant.name}`;
    if (source?.command !== undefined && !loaded.trusted) throw untrusted(loaded, `a command for ${what}`);
    if (source?.file !== undefined) pathOf(loaded, source.file, what);
  }
  const { dir, env } = loaded;
  return {
    baseUrl: url.href.replace(/\/+$/, ""),
    credentials: credentials(tenant, { dir, env, ...(nowMs && { nowMs }) }),
  };
}

function addressOf(loaded: LoadedConfig, tenant: ResolvedTenant): string {
  const { baseUrl, name } = tenant;
  if (typeof baseUrl === "string") return baseUrl;
  if (baseUrl.env !== undefined) {
    const value = loaded.env[baseUrl.env];
    if (value) return value.trim();
    throw invalid(
      "base_url_unset",
      `The variable ${baseUrl.env}, the address of ${name}, is not set.`,
      [],
      `Set ${baseUrl.env}.`,
    );
  }
  const what = `the address of ${name}`;
  const path = pathOf(loaded, baseUrl.file ?? "", what);
  try {
    return decodeUtf8(readBounded(path, LONGEST_URL, what).bytes, path).trim();
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "file_not_found")) throw error;
    const hint =
      tenant.provider === "sandbox" ? "Start the tenant first: provision sandbox start" : `Write it into ${path}.`;
    throw invalid("base_url_unset", error.message, [], hint);
  }
}

/** What stood there is not repeated, since an address can carry a password. */
function parseUrl(text: string, tenant: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const plain = url !== undefined && url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  if (!plain || !["http:", "https:"].includes(url.protocol)) {
    const hint = "It begins with https:// and has no user, password, query or fragment.";
    throw invalid("malformed_base_url", `The address of ${tenant} is no plain URL.`, [], hint);
  }
  if (url.protocol === "http:" && !isLoopback(url)) {
    const message = `The address of ${tenant} is plain http on ${url.host}; the token would cross the network readable.`;
    throw invalid("insecure_base_url", message, [], "Use https://; plain http is for this machine alone.");
  }
  return url;
}

/** By its literal form alone: a name that resolves to this machine today can lead elsewhere tomorrow. */
export function isLoopback(url: URL): boolean {
  return url.hostname === "localhost" || url.hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(url.hostname);
}

function isVendors(url: URL, hosts: readonly string[]): boolean {
  if (url.protocol !== "https:" || url.port !== "") return false;
  return hosts.some((host) => (host.startsWith(".") ? url.hostname.endsWith(host) : url.hostname === host));
}
