import { randomBytes } from "node:crypto";
import type { AddressInfo } from "node:net";
import { keyRing } from "./keys.ts";
import { keeper, loadSaved } from "./saved.ts";
import type { Tokens } from "./server.ts";
import { serve } from "./server.ts";
import { openStore } from "./store.ts";
import type { StateDocument } from "./views.ts";
import { stateDocument } from "./views.ts";
import { faultBox } from "./weather.ts";

export type { Tokens } from "./server.ts";
export type { RequestRow, StateDocument } from "./views.ts";

export interface TenantOptions {
  /** Zero or absent: any free port. */
  port?: number;
  /** What the tenant starts with, as `seedSchema` has it; absent: a few people of acme-sandbox.test. */
  seed?: unknown;
  /** Loaded at the start where it exists, and rewritten after each change. */
  stateFile?: string;
  /** How far reads are behind writes, in milliseconds. */
  lagMs?: number;
  /** Fixed tokens; what is not given is drawn at random. */
  tokens?: Partial<Tokens>;
}

export interface StartedTenant {
  /** `http://127.0.0.1:PORT` */
  url: string;
  tokens: Tokens;
  /** Ends at once, also with requests in the air; changes still to come never come. */
  close(): Promise<void>;
  state(): StateDocument;
}

/**
 * Starts one sandbox tenant on 127.0.0.1.
 * @throws ProvisionError `sandbox_seed` or `sandbox_state` (exit 2) where the seed or the state file does not fit;
 *   the error of the operating system where the port cannot be had
 */
export async function startTenant(options: TenantOptions = {}): Promise<StartedTenant> {
  const tokens = {
    read: token("read"),
    ordinary: token("ordinary"),
    privileged: token("privileged"),
    control: token("control"),
    ...options.tokens,
  };
  const file = options.stateFile === undefined ? undefined : keeper(options.stateFile);
  const store = openStore({
    seed: options.seed,
    lagMs: options.lagMs ?? 0,
    saved: options.stateFile === undefined ? undefined : loadSaved(options.stateFile),
    onChange: (saved) => file?.save(saved),
  });
  const faults = faultBox();
  let keys = keyRing(store.keys());
  let url = "";
  const reset = (): void => {
    store.reset();
    faults.clear();
    keys = keyRing(store.keys());
  };
  const server = serve({ store, faults, keys: () => keys, url: () => url, reset }, tokens);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  store.touched();
  return {
    url,
    tokens,
    state: () => stateDocument(store.current(), store.requests()),
    close: async () => {
      store.end();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
      file?.close();
    },
  };
}

function token(kind: string): string {
  return `sbx_${kind}_${randomBytes(18).toString("base64url")}`;
}
