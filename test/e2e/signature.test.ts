import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadProvider } from "../../providers/index.ts";
import { cardHash } from "../../src/core/card.ts";
import type { Envelope, RecordedApproval } from "../../src/model/entry.ts";
import { ProvisionError } from "../../src/model/errors.ts";
import { canonical } from "../../src/model/json.ts";
import { envelopeOf, parseStatement, signedBytes } from "../../src/model/statement.ts";
import { approvalContext, onCards } from "../../src/operations/context.ts";
import { openDesk as openProduct } from "../../src/operations/desk.ts";
import { openHere } from "../../src/operations/open.ts";
import type { Shell } from "../../src/operations/shell.ts";
import { type ApprovalContext, verifyApproval } from "../../src/runtime/approvals/verify.ts";
import { openJournal } from "../../src/runtime/journal/journal.ts";
import { sourcesIn } from "../../src/runtime/sources.ts";
import { ed25519, forge, type SoftKey } from "../runtime/approvals/forge.ts";
import { type Desk, endDesk, openDesk } from "./desk.ts";
import { accepted, approve, plan, run } from "./path.ts";
import { flipped } from "./raw.ts";

const io = { now: () => new Date().toISOString(), random: (bytes: number) => randomBytes(bytes) };

let desk: Desk;
let key: SoftKey;
/** Approved and not run. */
let fresh: string;
/** Stands before its last step, which was decided per call. */
let late: string;
beforeAll(async () => {
  desk = await openDesk();
  late = await accepted(desk, "late@example.test", (yaml) => yaml);
  expect((await run(desk, late)).code).toBe(3);
  expect(await approve(desk, late)).toEqual([5]);
  fresh = await plan(desk, "fresh@example.test");
  await approve(desk, fresh);
  key = ed25519();
});
afterAll(() => endDesk(desk));

interface Recorded {
  approval: RecordedApproval;
  context: ApprovalContext;
}

/** The newest approval of the operation, and what the executor holds it against. */
async function recorded(op: string): Promise<Recorded> {
  const shell: Shell = {
    cwd: desk.dir,
    config: undefined,
    env: desk.env,
    provider: (name) => loadProvider(name, sourcesIn),
    now: Date.now,
    random: io.random,
    sleep: async () => {},
    interrupted: () => false,
    progress: () => {},
  };
  const product = openProduct(shell);
  const { state, tenant } = await openHere(product, op);
  const approval = state.decisions.at(-1);
  if (!approval) throw new Error("nothing was approved");
  const readings = approval.request?.readings ?? {};
  const context = approvalContext(product, tenant, state, "apply", {
    steps: approval.steps,
    subjectId: approval.subject_id,
    readings,
    cards: (steps) => cardHash(state, "apply", steps, onCards(readings, steps)),
  });
  const { origin, rootAt } = context.journal;
  const roots = new Map(Array.from({ length: 200 }, (_, size) => [size, rootAt(size)]));
  product.close();
  return { approval, context: { ...context, journal: { origin, rootAt: (size) => roots.get(size) } } };
}

function verdict(envelope: Envelope, context: ApprovalContext): string {
  const found = verifyApproval(envelope, context);
  return found.ok ? "accepted" : `${found.exit} ${found.code}`;
}

for (const which of ["plan", "call"])
  test(`no byte of a signed statement or its signature can be another, for what is decided with the ${which}`, async () => {
    const { approval, context } = await recorded(which === "plan" ? fresh : late);
    const { envelope } = approval;
    expect(verdict(envelope, context)).toBe("accepted");
    const bytes = Buffer.from(signedBytes(envelope));
    const verdicts: string[] = [];
    for (let at = 0; at < bytes.length; at++) {
      const spoilt = Buffer.from(bytes);
      spoilt.writeUInt8(spoilt.readUInt8(at) ^ 1, at);
      verdicts.push(verdict(envelopeOf(spoilt, envelope.sig), context));
    }
    for (const field of ["stmt", "sig"] as const)
      for (let at = 0; at < envelope[field].length; at++)
        verdicts.push(verdict({ ...envelope, [field]: flipped(envelope[field], at) }, context));
    expect(verdicts.length).toBeGreaterThan(2000);
    expect(verdicts.filter((word) => !/^(9|13) /.test(word))).toEqual([]);
    expect(verdict(envelope, context)).toBe("accepted");
  });

test("an approval that was taken before is taken no second time", async () => {
  const { approval } = await recorded(fresh);
  const journal = openJournal({ dir: desk.file(".provision"), ...io });
  const size = journal.head().size;
  const again = () => journal.append(fresh, [{ kind: "approval.recorded", approval }]);
  expect(again).toThrow(expect.objectContaining({ code: "nonce_used", exit: 13 }));
  expect(again).toThrow(ProvisionError);
  expect(journal.head().size).toBe(size);
  journal.close();
});

test("a signature that was made for another purpose does not count, even by the approver's own key", async () => {
  const plain = readFileSync(desk.file("approvers"), "utf8");
  const line = `approver@acme-sandbox.test namespaces="provision-approval" ${key.keyType} ${key.blob.toString("base64")}`;
  writeFileSync(desk.file("approvers"), `${line}\n`);
  const { approval, context } = await recorded(fresh);
  const bytes = signedBytes(approval.envelope);
  expect(verdict(envelopeOf(bytes, forge(key, bytes)), context)).toBe("accepted");
  expect(verdict(envelopeOf(bytes, forge(key, bytes, { namespace: "git" })), context)).toBe("13 wrong_namespace");

  const statement = { ...parseStatement(bytes), nonce: randomBytes(16).toString("base64url") };
  const fresher = Buffer.from(canonical(statement));
  const journal = openJournal({ dir: desk.file(".provision"), ...io });
  const wrong = envelopeOf(fresher, forge(key, fresher, { namespace: "git" }));
  const taken = { ...approval, envelope: wrong, nonce: statement.nonce, approval_id: "apr_00000000000000000000" };
  journal.append(fresh, [{ kind: "approval.recorded", approval: taken }]);
  journal.close();
  const { code, left } = await run(desk, fresh);
  expect([code, left.error?.code]).toEqual([13, "wrong_namespace"]);
  writeFileSync(desk.file("approvers"), plain);
});

test("with the true approval beside it, the run goes on", async () => {
  expect((await run(desk, fresh)).code).toBe(4);
  expect((await run(desk, late)).code).toBe(5);
});
