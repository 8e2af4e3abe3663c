import { afterAll, beforeAll, expect, test } from "vitest";
import { planHash } from "../../src/core/hashes.ts";
import type { Envelope, RecordedApproval } from "../../src/model/entry.ts";
import { approvalId } from "../../src/model/statement.ts";
import { type Desk, endDesk, openDesk } from "./desk.ts";
import { openForger } from "./forger.ts";
import { approve, plan, run } from "./path.ts";
import { flipped, refusedRun } from "./raw.ts";

let desk: Desk;
/** Approved and not run. */
let fresh: string;
/** Invited and accepted; only the invitation is approved. */
let half: string;
beforeAll(async () => {
  desk = await openDesk();
  fresh = await plan(desk, "fresh@example.test", (yaml) => yaml);
  await approve(desk, fresh);
  half = await plan(desk, "half@example.test");
  expect(await approve(desk, half, "--steps", "1")).toEqual([1]);
  expect((await run(desk, half)).code).toBe(4);
  await desk.tenant.accept("half@example.test");
});
afterAll(() => endDesk(desk));

/** Everything below is done by somebody who has the journal's keys: seals and chain fit, and only signatures tell. */
async function forging(
  name: string,
  work: (copy: Desk, forge: ReturnType<typeof openForger>["forge"]) => Promise<void>,
): Promise<void> {
  const copy = desk.copy(name);
  const forger = openForger(copy);
  const writes = (await desk.tenant.writes()).length;
  try {
    await work(copy, forger.forge);
    expect((await desk.tenant.writes()).length).toBe(writes);
  } finally {
    forger.close();
  }
}

test("a change in one of every sixteen characters of the plan stops the run, also where the journal was made to fit", async () => {
  await forging("plan", async (copy, forge) => {
    let length = 4;
    for (let at = 3; at < length; at += 16) {
      forge((payload, row) => {
        if (payload.kind !== "plan.frozen" || row.op !== fresh) return payload;
        length = payload.plan.length;
        return { ...payload, plan: flipped(payload.plan, at) };
      });
      await refusedRun(copy, fresh, `plan at ${at}`);
    }
    expect(length).toBeGreaterThan(2000);
  });
});

const SWAPS: [string, string, string][] = [
  ["e-mail", '"email":"fresh@example.test"', '"email":"frosh@example.test"'],
  ["group id", '"id":"grp_77"', '"id":"grp_81"'],
  ["role", '"role":"member"', '"role":"admin"'],
  ["delivery flag", '"send_email":false', '"send_email":true'],
  ["gate", '"gate":"call"', '"gate":"plan"'],
];

for (const [what, from, to] of SWAPS)
  test(`a plan with another ${what} and the hash that belongs to it is not the plan that was approved`, async () => {
    await forging(`swap-${what.replace(/\W/g, "")}`, async (copy, forge) => {
      forge((payload, row) => {
        if (payload.kind !== "plan.frozen" || row.op !== fresh) return payload;
        const changed = payload.plan.replace(from, to);
        expect(changed).not.toBe(payload.plan);
        return { ...payload, plan: changed, plan_hash: planHash(changed) };
      });
      const { code, left } = await run(copy, fresh);
      expect(code).toBe(13);
      // The catalogue behind other roles and groups is another one, too.
      expect(["other_plan", "catalog_changed"]).toContain(left.error?.code);
    });
  });

/** What stands beside the signed statement, so that a fold needs no cryptography. */
const FACTS: { says: string; op: () => string; change: (approval: RecordedApproval) => Partial<RecordedApproval> }[] = [
  { says: "more steps", op: () => half, change: () => ({ steps: [1, 3, 4] }) },
  { says: "other steps", op: () => half, change: () => ({ steps: [3] }) },
  { says: "another approver", op: () => fresh, change: () => ({ approver: "owner@acme-sandbox.test" }) },
  { says: "another nonce", op: () => fresh, change: ({ nonce }) => ({ nonce: flipped(nonce, 5) }) },
  { says: "another name", op: () => fresh, change: ({ approval_id }) => ({ approval_id: flipped(approval_id, 8) }) },
  { says: "a later end", op: () => fresh, change: () => ({ not_after: "2099-01-01T00:00:00.000Z" }) },
  { says: "an earlier start", op: () => fresh, change: () => ({ not_before: "2020-01-01T00:00:00.000Z" }) },
  { says: "another card", op: () => fresh, change: () => ({ card_hash: `sha256:${"0".repeat(64)}` }) },
  { says: "another statement", op: () => fresh, change: ({ envelope }) => renamed(envelope, "stmt", 300) },
  { says: "another signature", op: () => fresh, change: ({ envelope }) => renamed(envelope, "sig", 150) },
];

/** The envelope with one character changed, and the name that belongs to it. */
function renamed(envelope: Envelope, field: "stmt" | "sig", at: number): Partial<RecordedApproval> {
  const changed = { ...envelope, [field]: flipped(envelope[field], at) };
  return { envelope: changed, approval_id: approvalId(changed) };
}

for (const { says, op, change } of FACTS)
  test(`what is recorded beside a signature must be what was signed, and not ${says}`, async () => {
    await forging(`fact-${says.replace(/\W/g, "")}`, async (copy, forge) => {
      forge((payload, row) =>
        payload.kind === "approval.recorded" && row.op === op()
          ? { ...payload, approval: { ...payload.approval, ...change(payload.approval) } }
          : payload,
      );
      await refusedRun(copy, op(), says);
    });
  });

test("a journal that was written anew from the approval on runs: it is not the forger's hand that is noticed", async () => {
  const copy = desk.copy("twin");
  const forger = openForger(copy);
  forger.forge((payload) => (payload.kind === "approval.recorded" ? { ...payload } : payload));
  forger.close();
  expect((await copy.quick("audit", "verify")).code).toBe(0);
  expect((await run(copy, half)).code).toBe(3);
  expect((await run(copy, fresh)).code).toBe(4);
});

test("an approval is a witness of the journal before it: one that was written anew there does not count", async () => {
  await forging("witness", async (copy, forge) => {
    forge((payload) => ({ ...payload }));
    const { code, left } = await run(copy, fresh);
    expect([code, left.error?.code]).toEqual([13, "journal_fork"]);
  });
});
