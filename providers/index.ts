import type { Provider } from "../src/model/provider.ts";

/** All names that a configuration may use. Those that are not there yet are refused by name. */
export const KNOWN_PROVIDERS = ["sandbox", "github", "scim", "entra", "google", "slack", "okta"] as const;

const LOADERS: Readonly<Record<string, () => Promise<{ provider: Provider }>>> = {
  sandbox: () => import("./sandbox/index.ts"),
};

/** Loads a provider when it is named. Undefined: it is not there yet, or nobody knows the name. */
export async function loadProvider(name: string): Promise<Provider | undefined> {
  if (!Object.hasOwn(LOADERS, name)) return undefined;
  return (await LOADERS[name]?.())?.provider;
}
