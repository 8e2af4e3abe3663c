import { describe, expect, test } from "vitest";
import type { ProofRow } from "../../src/model/proof.ts";
import type { Provider, Session } from "../../src/model/provider.ts";
import { sandbox } from "./sandbox.double.ts";
import { conform, type Double } from "./suite.ts";

/** The sandbox with one thing wrong about its provider. */
function broken(change: (session: Session) => Session, capabilities: Partial<Provider["capabilities"]> = {}): Double {
  const { provider } = sandbox;
  return {
    ...sandbox,
    provider: {
      ...provider,
      capabilities: { ...provider.capabilities, ...capabilities },
      open: (tenant, io) => change(provider.open(tenant, io)),
    },
  };
}

async function cell(double: Double, fault: string, of: ProofRow = "add_group"): Promise<string | undefined> {
  const { cells } = await conform(double, { rows: (row) => row === of, faults: (name) => name === fault });
  return cells.get(fault)?.get(of);
}

function observing(change: (reading: Reading) => Reading): (session: Session) => Session {
  return (session) => ({
    ...session,
    action(kind) {
      const action = session.action(kind);
      if (action === undefined) return undefined;
      return { ...action, observe: async (step, subject) => change(await action.observe(step, subject)) };
    },
  });
}
type Reading = Awaited<ReturnType<NonNullable<ReturnType<Session["action"]>>["observe"]>>;

describe("a cell turns red where the provider", () => {
  test("takes every 404 for an absence", async () => {
    const careless = observing((reading) =>
      reading.kind === "unreadable" && reading.reason === "forbidden" ? { kind: "absent", proof: "exact" } : reading,
    );
    const fault = "success_without_effect/masked_403_as_404";
    expect(await cell(broken(careless), fault, "remove_group")).toMatch(/^red: says done, .*not unknown$/);
  });

  test("says of a lost answer that it was a refusal", async () => {
    const hasty = (session: Session): Session => ({
      ...session,
      action(kind) {
        const action = session.action(kind);
        if (action === undefined) return undefined;
        return {
          ...action,
          async send(...asked) {
            const reply = await action.send(...asked);
            return reply.kind === "lost" ? { kind: "rejected", status: 500, code: "lost", detail: "" } : reply;
          },
        };
      },
    });
    expect(await cell(broken(hasty), "lost_before_commit")).toBe("red: says rejected, not done");
  });

  test("sends no key that is remembered", async () => {
    const keyless = (session: Session): Session => ({
      ...session,
      action(kind) {
        const action = session.action(kind);
        if (action === undefined) return undefined;
        let sent = 0;
        return {
          ...action,
          send: (step, subject, options) => {
            sent += 1;
            return action.send(step, subject, { ...options, key: `${options.key}${sent}` });
          },
        };
      },
    });
    expect(await cell(broken(keyless), "calm")).toMatch(/^red: a request changed something that no record announced/);
  });
});

test("a cell that is called impossible and is not is red, and so is one that nothing struck", async () => {
  const vain: Double = { ...sandbox, impossible: () => "it is said to be so" };
  expect(await cell(vain, "status:400")).toMatch(/^red: /);
  const deaf: Double = {
    ...sandbox,
    start: async (kind, dress) => ({ ...(await sandbox.start(kind, dress)), fault: async () => undefined }),
  };
  expect(await cell(deaf, "status:423")).toBe("red: it struck nothing, and no fact says why");
});
