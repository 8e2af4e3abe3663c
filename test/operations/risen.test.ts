import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadProvider } from "../../providers/index.ts";
import { type StartedTenant, startTenant } from "../../providers/sandbox/tenant/index.ts";
import type { StepKind } from "../../src/model/plan.ts";
import type { Provider, Session } from "../../src/model/provider.ts";
import { askedNow, decide } from "../../src/operations/approve.ts";
import { type Desk, openDesk } from "../../src/operations/desk.ts";
import { initFolder } from "../../src/operations/init.ts";
import { planRequest } from "../../src/operations/plan.ts";
import { runOperation } from "../../src/operations/run.ts";
import { sourcesIn } from "../../src/runtime/sources.ts";
import { shellIn } from "./shell.double.ts";

let root: string;
let folder: string;
let tenant: StartedTenant;
let desks: Desk[];
beforeEach(async () => {
  desks = [];
  tenant = await startTenant();
  root = mkdtempSync(join(tmpdir(), "provision-risen-"));
  folder = join(root, "folder");
  mkdirSync(folder);
  initFolder(shellIn(folder), "sandbox");
  mkdirSync(join(folder, ".provision/sandbox"));
  const { read, ordinary } = tenant.tokens;
  for (const [name, text] of Object.entries({ url: tenant.url, "read.token": read, "ordinary.token": ordinary }))
    writeFileSync(join(folder, ".provision/sandbox", name), text, { mode: 0o600 });
});
afterEach(async () => {
  for (const desk of desks) desk.close();
  await tenant.close();
  rmSync(root, { recursive: true });
});

/** The folder with a provider of which nothing shows that these steps hold. */
function desk(unproven: readonly StepKind[], change = (provider: Provider) => provider): Desk {
  const opened = openDesk(
    shellIn(folder, {
      now: Date.now,
      random: (bytes) => randomBytes(bytes),
      sleep: (ms) => sleep(ms),
      async provider(name) {
        const provider = await loadProvider(name, sourcesIn);
        return provider && change({ ...provider, unproven });
      },
    }),
  );
  desks.push(opened);
  return opened;
}

async function control(path: string, body: unknown): Promise<void> {
  const response = await fetch(tenant.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${tenant.tokens.control}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(response.ok).toBe(true);
}

const SIGNED = { keyFile: null, windowMs: null, ask: false };
const LENA = {
  kind: "joiner",
  tenant: "acme-sandbox",
  subject: { email: "lena@example.test" },
  invitation: { send_email: false, accept_within: "7d", on_deadline: "stop" },
  role: "member",
  groups: ["engineering"],
};

test("a step that the plan decided asks per call, once nothing shows any more that it holds", async () => {
  const green = desk([]);
  const planned = await planRequest(green, LENA, { dryRun: false, fresh: false });
  const op = planned.operation_id ?? "";
  expect(planned.plan.steps.map(({ gate }) => gate)).toEqual(["plan", "none", "plan", "plan"]);
  await decide(green, await askedNow(green, op, { steps: null, phase: null }), SIGNED);
  expect((await runOperation(green, op, { waitMs: null })).name).toBe("waiting");
  await control("/_sandbox/accept", { email: "lena@example.test" });

  const red = desk(["add_group"]);
  const halted = await runOperation(red, op, { waitMs: null });
  expect([halted.name, halted.refusal]).toEqual(["awaiting_approval", null]);
  expect(halted.opened.state.steps.map(({ receipt }) => receipt?.result ?? null)).toEqual([
    "pending",
    "observed",
    "changed",
    null,
  ]);
  const question = await askedNow(red, op, { steps: null, phase: null });
  expect(question.steps).toEqual([4]);
  expect(question.cards[0]).toMatchObject({ gate: "call", text: expect.stringContaining("nothing shows that this") });
  const decided = await decide(red, question, SIGNED);
  expect(Date.parse(decided.expires_at ?? "") - Date.now()).toBeLessThanOrEqual(3_600_000);
  expect((await runOperation(red, op, { waitMs: null })).name).toBe("completed");
});

test("the first step, too, and a reduction or what is still green does not", async () => {
  const green = desk([]);
  const planned = await planRequest(green, LENA, { dryRun: false, fresh: false });
  const op = planned.operation_id ?? "";
  await decide(green, await askedNow(green, op, { steps: null, phase: null }), SIGNED);
  const red = desk(["invite", "cancel_invitation"]);
  expect((await runOperation(red, op, { waitMs: null })).name).toBe("awaiting_approval");
  expect(tenant.state().requests.filter(({ action }) => action !== null)).toEqual([]);
  await decide(red, await askedNow(red, op, { steps: null, phase: null }), SIGNED);
  expect((await runOperation(red, op, { waitMs: null })).name).toBe("waiting");
});

/** The same provider, with something that happens just ahead of each look at a group. */
function meanwhile(provider: Provider, happens: () => Promise<void>): Provider {
  return {
    ...provider,
    open(...given) {
      const session = provider.open(...given);
      const action: Session["action"] = (kind) => {
        const real = session.action(kind);
        if (!real || kind !== "add_group") return real;
        return { ...real, observe: async (...about) => happens().then(() => real.observe(...about)) };
      };
      return { ...session, action };
    },
  };
}

test("a step that the plan decided asks per call where the account holds an elevated role by then", async () => {
  const before = desk([]);
  const planned = await planRequest(before, LENA, { dryRun: false, fresh: false });
  const op = planned.operation_id ?? "";
  await decide(before, await askedNow(before, op, { steps: null, phase: null }), SIGNED);
  await runOperation(before, op, { waitMs: null });
  await control("/_sandbox/accept", { email: "lena@example.test" });

  const promoted = () => control("/_sandbox/edit/role", { email: "lena@example.test", role: "admin" });
  const here = desk([], (provider) => meanwhile(provider, promoted));
  expect((await runOperation(here, op, { waitMs: null })).name).toBe("awaiting_approval");
  const added = () => tenant.state().requests.filter(({ action }) => action === "group.add");
  expect(added()).toEqual([]);
  const question = await askedNow(here, op, { steps: null, phase: null });
  expect(question.cards.map(({ step, gate }) => [step, gate])).toEqual([[4, "call"]]);
  expect(question.cards[0]?.text).toContain("the account holds an elevated role by now");
  // The role is not what this operation left, and that is said before anything else is sent.
  await decide(here, question, SIGNED);
  expect((await runOperation(here, op, { waitMs: null })).name).toBe("diverged");
  expect(added()).toEqual([]);
});
