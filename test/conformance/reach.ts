import { isElevated } from "../../src/core/gates.ts";
import { guardedRoles, guardStep } from "../../src/core/guards.ts";
import type { WriteStep } from "../../src/model/plan.ts";
import type { CredentialClass, ReadIo, Session } from "../../src/model/provider.ts";
import type { Transport } from "../../src/model/reply.ts";
import { openHttp } from "../../src/runtime/http.ts";
import type { Guard, Reach } from "../../src/runtime/perform.ts";
import { Secret } from "../../src/runtime/secret.ts";
import type { Double, World } from "./double.ts";

/** How often each write crosses the wire. Twice: the network delivers it two times at once, and one answer comes back. */
export type Wire = "once" | "twice";

/** A tenant within reach as a run has it: real sessions over the real client, and the guards that no approval lifts. */
export function reachOf(
  double: Double,
  world: World,
  requestMs: number,
  wire: Wire,
): Reach & { close(): Promise<void> } {
  const held = new Map<CredentialClass, Opened>();
  const open = (credential: CredentialClass, onTransport: (transport: Transport) => void): Session => {
    const known = held.get(credential) ?? begin(double, world, credential, requestMs, wire);
    held.set(credential, known);
    known.listen.to = onTransport;
    return known.session;
  };
  return {
    open,
    load: async () => undefined,
    refresh: async () => undefined,
    classFor: (step) => step.credential,
    guard: guardFor(double, () => open("read", () => undefined)),
    now: Date.now,
    leaseHolds: () => true,
    close: async () => {
      await Promise.all([...held.values()].map((one) => one.close()));
    },
  };
}

interface Opened {
  session: Session;
  listen: { to: (transport: Transport) => void };
  close(): Promise<void>;
}

function begin(
  { provider, tenant }: Double,
  { baseUrl, tokens }: World,
  credential: CredentialClass,
  requestMs: number,
  wire: Wire,
): Opened {
  const listen = { to: (_transport: Transport) => {} };
  const token = async () => new Secret(tokens[credential]);
  const io = openHttp({
    baseUrl,
    load: token,
    refresh: token,
    requestMs,
    mode: credential === "read" ? "read" : "write",
    readOnlyRoutes: provider.readOnlyRoutes,
    now: () => new Date().toISOString(),
    monotonic: () => performance.now(),
    fingerprintKey: new Uint8Array(32),
    onTransport: (transport) => listen.to(transport),
    env: {},
    backoffMs: 5,
  });
  const session = provider.open({ ...tenant, baseUrl }, wire === "twice" ? doubling(io) : io);
  return { session, listen, close: io.close };
}

function doubling<T extends ReadIo>(io: T): T {
  return {
    ...io,
    async fetch(request) {
      if (request.method === "GET") return io.fetch(request);
      const [, second] = await Promise.all([io.fetch(request), io.fetch(request)]);
      return second;
    },
  };
}

/** The role that the subject holds when the step's turn comes, where the step says so. */
export function roleExpected(step: WriteStep): string | null {
  return "expects" in step && "role" in step.expects ? step.expects.role : null;
}

function guardFor({ catalog, provider, tenant }: Double, reader: () => Session): Guard {
  return async (step, subject, writer) => {
    const role = roleExpected(step);
    const heldRole = role !== null && isElevated(catalog, role) ? role : null;
    const roles = guardedRoles(step, { catalog, heldRole });
    const refusal = guardStep(step, {
      tenant: tenant.name,
      subject,
      account: null,
      catalog,
      fold: provider.fold,
      self: await writer.self(),
      ownAccounts: [],
      heldRole,
      holders: roles.length === 0 ? null : await reader().holders(roles),
    });
    return refusal && { code: refusal.code, detail: refusal.message };
  };
}
