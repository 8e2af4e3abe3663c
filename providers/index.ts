import { type Conformance, type SourceFile, sourceHash, unprovenKinds } from "../src/model/proof.ts";
import type { Provider } from "../src/model/provider.ts";

/** All names that a configuration may use. Those that are not there yet are refused by name. */
export const KNOWN_PROVIDERS = ["sandbox", "github", "scim", "entra", "google", "slack", "okta"] as const;

interface Loader {
  provider(): Promise<{ provider: Provider }>;
  /** What the conformance suite found of it. */
  proof(): Promise<{ conformance: Conformance }>;
  folder: string;
}

const LOADERS: Readonly<Record<string, Loader>> = {
  sandbox: {
    provider: () => import("./sandbox/index.ts"),
    proof: () => import("./sandbox/conformance.ts"),
    folder: "./sandbox/",
  },
};

/** Reads the sources that a folder was made of; undefined where it cannot tell. */
export type SourcesIn = (folder: URL) => readonly SourceFile[] | undefined;

/**
 * Loads a provider when it is named, and says of which steps nothing shows that they hold under faults: those that are
 * not green, and all where the sources are others than the ones that were tried. Undefined: the provider is not there
 * yet, or nobody knows the name.
 */
export async function loadProvider(name: string, sourcesIn: SourcesIn): Promise<Provider | undefined> {
  const loader = Object.hasOwn(LOADERS, name) ? LOADERS[name] : undefined;
  if (loader === undefined) return undefined;
  const [{ provider }, { conformance }] = await Promise.all([loader.provider(), loader.proof()]);
  const sources = sourcesIn(new URL(loader.folder, import.meta.url));
  const source = sources && sourceHash(sources);
  return { ...provider, unproven: unprovenKinds(provider.capabilities.stepKinds, conformance, source) };
}
