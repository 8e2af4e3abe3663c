import type { CredentialClass, Session } from "../model/provider.ts";
import type { Transport } from "../model/reply.ts";
import type { Credentials } from "../runtime/credentials.ts";
import { openHttp } from "../runtime/http.ts";
import { reach } from "../runtime/reach.ts";
import type { Desk, TenantDesk } from "./desk.ts";
import { instantOf } from "./shell.ts";

/** Sessions of one tenant, one for each credential class, opened when first asked for. */
export interface Sessions {
  credentials: Credentials;
  /** `onTransport` hears of every attempt until the next call names another listener. */
  open(credential: CredentialClass, onTransport: (transport: Transport) => void): Session;
  close(): Promise<void>;
}

export function openSessions(desk: Desk, tenant: TenantDesk, fingerprintKey: Uint8Array): Sessions {
  const { resolved, provider } = tenant;
  const { baseUrl, credentials } = reach(desk.loaded, resolved, provider.vendorHosts, desk.shell.now);
  const held = new Map<
    CredentialClass,
    { session: Session; listen: { to: (transport: Transport) => void }; close(): Promise<void> }
  >();
  const begin = (credential: CredentialClass) => {
    const listen = { to: (_transport: Transport) => {} };
    const io = openHttp({
      baseUrl,
      load: () => credentials.load(credential),
      refresh: () => credentials.refresh(credential),
      requestMs: resolved.timing.requestMs,
      mode: credential === "read" ? "read" : "write",
      readOnlyRoutes: provider.readOnlyRoutes,
      now: () => instantOf(desk.shell),
      monotonic: () => performance.now(),
      fingerprintKey,
      onTransport: (transport) => listen.to(transport),
      env: desk.shell.env,
    });
    const described = { name: resolved.name, baseUrl, landing: resolved.landing };
    return { session: provider.open(described, io), listen, close: io.close };
  };
  return {
    credentials,
    open(credential, onTransport) {
      const known = held.get(credential) ?? begin(credential);
      held.set(credential, known);
      known.listen.to = onTransport;
      return known.session;
    },
    close: async () => {
      await Promise.all([...held.values()].map((one) => one.close()));
    },
  };
}
