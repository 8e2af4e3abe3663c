import type { Envelope } from "../../../src/model/entry.ts";
import { canonical, digest } from "../../../src/model/json.ts";
import { envelopeOf, type Statement } from "../../../src/model/statement.ts";
import type { RosterEntry } from "../../../src/runtime/approvals/roster.ts";
import { type ApprovalContext, verifyApproval } from "../../../src/runtime/approvals/verify.ts";
import { ed25519, forge, type Oddities, type SoftKey, skEd25519 } from "./forge.ts";

export const hash = (text: string) => `sha256:${digest("test", text)}`;
export const root = (size: number) => Buffer.from(digest("root", String(size)), "hex").toString("base64");
export const cardHash = (steps: number[]) => hash(`cards ${steps}`);

export const [bob, stranger] = [ed25519(), ed25519()];
export const touchKey = skEd25519();

export function entry(principal: string, { keyType, blob }: SoftKey, more: Partial<RosterEntry> = {}): RosterEntry {
  return { principal, keyType, blob, validAfter: null, validBefore: null, line: 1, ...more };
}

/** One good approval; tests change one thing of it. */
export const statement: Statement = {
  type: "provision.approval/v1",
  decision: "approve",
  phase: "apply",
  operation_id: "prov_2026_07_24_k3v9q2mz",
  plan_hash: hash("plan"),
  card_hash: cardHash([1, 3]),
  policy_hash: hash("policy"),
  tenant: "acme-production",
  steps: [1, 3],
  requester: "os:ana",
  subject_id: "usr_1938",
  approver: "bob@example.test",
  assurance: "software",
  nonce: Buffer.alloc(16, 7).toString("base64url"),
  not_before: "2026-07-24T10:00:00.000Z",
  not_after: "2026-07-24T11:00:00.000Z",
  journal: { origin: "provision.example/jrn_7f3a", size: 12, root: root(12) },
};

/** What is known here, and agrees with it. */
export const ctx: ApprovalContext = {
  operationId: statement.operation_id,
  planHash: statement.plan_hash,
  tenant: "acme-production",
  policyHash: statement.policy_hash,
  phase: "apply",
  steps: [1, 3, 4],
  cardHash,
  requester: "os:ana",
  subjectKeys: ["priya@example.test"],
  subjectId: "usr_1938",
  identities: { "os:ana": "ana@example.test" },
  roster: [entry("ana@example.test", stranger, { blob: ed25519().blob }), entry("bob@example.test", bob)],
  revoked: { isRevoked: () => false },
  now: "2026-07-24T10:30:00.000Z",
  window: () => ({ maxMs: 3_600_000, until: null }),
  minAssurance: "software",
  journal: { origin: "provision.example/jrn_7f3a", rootAt: (size) => (size <= 20 ? root(size) : undefined) },
  sandbox: false,
};

export function signed(change: object = {}, key: SoftKey = bob, odd: Oddities = {}): Envelope {
  const bytes = Buffer.from(canonical({ ...statement, ...change }));
  return envelopeOf(bytes, forge(key, bytes, odd));
}

export function verdict(envelope: unknown, change: Partial<ApprovalContext> = {}): string {
  const result = verifyApproval(envelope, { ...ctx, ...change });
  return result.ok ? "accepted" : `${result.code} ${result.exit}`;
}
