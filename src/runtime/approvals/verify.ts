import type { Phase, RecordedApproval } from "../../model/entry.ts";
import type { Instant } from "../../model/reading.ts";
import {
  ASSURANCES,
  type Assurance,
  approvalId,
  type Decision,
  parseEnvelope,
  parseStatement,
  type Statement,
  signedBytes,
} from "../../model/statement.ts";
import { type Identities, isAgent, isSamePerson, isSubject } from "./person.ts";
import { type Refusal, type RefusalCode, refusal, refusalOf } from "./refusals.ts";
import type { Revoked } from "./revocation.ts";
import type { RosterEntry } from "./roster.ts";
import { assuranceOf, NAMESPACE, type Verified, verifySshsig } from "./sshsig.ts";

/** How long an approval may be valid: for so many milliseconds, or up to `until` where that is given and later. */
export interface Window {
  maxMs: number;
  until: Instant | null;
}

/** What the executor knows and an approval must agree with. Nothing of it comes from the approval. */
export interface ApprovalContext {
  operationId: string;
  planHash: string;
  tenant: string;
  policyHash: string;
  phase: Phase;
  /** `approve` unless another word is wanted, as for `resolve`. */
  decision?: Decision;
  /** Steps that may be decided now. */
  steps: readonly number[];
  /** Over the cards as rendered here for these steps. */
  cardHash(steps: number[], statement: Statement): string;
  requester: string;
  /** Folded by the provider's rule; the bound id among them. */
  subjectKeys: readonly string[];
  /** Null until bound; for an approval recorded before that, as it was then. */
  subjectId: string | null;
  identities: Identities;
  roster: readonly RosterEntry[];
  /** Null where no list is configured. */
  revoked: Pick<Revoked, "isRevoked"> | null;
  /** The executor's clock; the signer's word is never taken for the time. */
  now: Instant;
  /** When the window of time must have been open, where that is not now: what an undo is covered by has no expiry. */
  windowAt?: Instant;
  /** Milliseconds and instants by the gates of the steps. */
  window(steps: number[]): Window;
  minAssurance: Assurance | ((steps: number[]) => Assurance);
  /** `rootAt` gives the base64 root over the first entries, or undefined beyond the last one. */
  journal: { origin: string; rootAt(size: number): string | undefined };
  sandbox: boolean;
  /** Public keys whose private halves lie in the project's own folder. They count for sandbox tenants alone. */
  sandboxKeys?: readonly Uint8Array[];
}

export interface Accepted {
  ok: true;
  approval: RecordedApproval;
  /** As the signature shows, which may be more than the statement claims. */
  assurance: Assurance;
  statement: Statement;
  /** For a quorum, which takes distinct people with distinct keys. */
  key: { principal: string; blob: Buffer };
}

/**
 * Decides whether a signed statement counts, now, for this operation. The one gate for approvals that come in and for
 * those recorded before. Pure over its inputs; the nonce is taken once by the journal, in the same commit as the entry.
 */
export function verifyApproval(envelope: unknown, ctx: ApprovalContext): Accepted | Refusal {
  try {
    const read = parseEnvelope(envelope);
    const bytes = signedBytes(read);
    const statement = parseStatement(bytes);
    const wrong = firstOf(ABOUT_THE_STATEMENT, statement, ctx);
    if (wrong !== null) return wrong;
    const verified = verifySshsig(read.sig, bytes);
    const signer = signerOf(verified, statement, ctx);
    if ("ok" in signer) return signer;
    const assurance = assuranceOf(verified);
    const unfit = firstOf(ABOUT_THE_ASSURANCE, { ...statement, shown: assurance }, ctx);
    if (unfit !== null) return unfit;
    const approval = { approval_id: approvalId(read), envelope: read, ...facts(statement) };
    return { ok: true, approval, assurance, statement, key: { principal: signer.principal, blob: signer.blob } };
  } catch (fault) {
    return refusalOf(fault);
  }
}

function facts(statement: Statement): Omit<RecordedApproval, "approval_id" | "envelope"> {
  const { approver, phase, steps, nonce, card_hash, subject_id, not_before, not_after } = statement;
  return { approver, phase, steps, nonce, card_hash, subject_id, not_before, not_after };
}

/** Null where nothing speaks against it, else a detail, which may be empty. */
type Check<T> = readonly [RefusalCode, (about: T, ctx: ApprovalContext) => string | null];

function firstOf<T>(checks: readonly Check<T>[], about: T, ctx: ApprovalContext): Refusal | null {
  for (const [code, against] of checks) {
    const detail = against(about, ctx);
    if (detail !== null) return refusal(code, detail);
  }
  return null;
}

function unless(holds: boolean, detail = ""): string | null {
  return holds ? null : detail;
}

function differs(found: string | null, wanted: string | null): string | null {
  return unless(found === wanted, `it says ${found ?? "none"}, and here it is ${wanted ?? "none"}`);
}

const ABOUT_THE_STATEMENT: readonly Check<Statement>[] = [
  ["decision", (said, ctx) => differs(said.decision, ctx.decision ?? "approve")],
  ["phase", (said, ctx) => differs(said.phase, ctx.phase)],
  ["other_operation", (said, ctx) => differs(said.operation_id, ctx.operationId)],
  ["other_plan", (said, ctx) => differs(said.plan_hash, ctx.planHash)],
  ["other_tenant", (said, ctx) => differs(said.tenant, ctx.tenant)],
  ["policy_changed", (said, ctx) => unless(said.policy_hash === ctx.policyHash)],
  ["steps", (said, ctx) => strangeStep(said.steps, ctx.steps)],
  ["other_card", (said, ctx) => unless(said.card_hash === ctx.cardHash([...said.steps], said))],
  ["requester", (said, ctx) => differs(said.requester, ctx.requester)],
  ["subject_id", (said, ctx) => differs(said.subject_id, ctx.subjectId)],
  [
    "not_yet_valid",
    (said, ctx) => unless(at(said.not_before) <= at(ctx.windowAt ?? ctx.now), `it begins at ${said.not_before}`),
  ],
  ["lapsed", (said, ctx) => unless(at(ctx.windowAt ?? ctx.now) < at(said.not_after), `it ended at ${said.not_after}`)],
  ["window_too_long", (said, ctx) => tooLong(said, ctx.window([...said.steps]))],
];

function strangeStep(steps: readonly number[], allowed: readonly number[]): string | null {
  const strange = steps.filter((step) => !allowed.includes(step));
  return unless(strange.length === 0, `step ${strange.join(", ")}`);
}

function tooLong(said: Statement, window: Window): string | null {
  const until = window.until === null ? Number.NEGATIVE_INFINITY : at(window.until);
  return unless(at(said.not_after) <= Math.max(at(said.not_before) + window.maxMs, until), `until ${said.not_after}`);
}

/** A point in time that does not parse would make every comparison false; it stops the check instead. */
function at(instant: Instant): number {
  const time = Date.parse(instant);
  if (Number.isNaN(time)) throw new TypeError("a point in time is malformed");
  return time;
}

interface Signer extends RosterEntry {
  namespace: string;
  approver: string;
}

function signerOf(verified: Verified, statement: Statement, ctx: ApprovalContext): Signer | Refusal {
  if (verified.namespace !== NAMESPACE) return refusal("wrong_namespace", `it was made for ${verified.namespace}`);
  const entry = ctx.roster.find(({ blob }) => blob.equals(verified.publicKeyBlob));
  if (entry === undefined) return refusal("unknown_key");
  const signer = { ...entry, namespace: verified.namespace, approver: statement.approver };
  return firstOf(ABOUT_THE_SIGNER, signer, ctx) ?? signer;
}

const ABOUT_THE_SIGNER: readonly Check<Signer>[] = [
  [
    "principal_mismatch",
    (signer) => unless(signer.principal === signer.approver, `${signer.principal}, not ${signer.approver}`),
  ],
  ["key_expired", (signer, ctx) => unless(isCurrent(signer, at(ctx.now)))],
  ["revoked_key", (signer, ctx) => unless(ctx.revoked === null || !ctx.revoked.isRevoked(signer.blob))],
  [
    "sandbox_key",
    (signer, ctx) => unless(ctx.sandbox || !(ctx.sandboxKeys ?? []).some((key) => signer.blob.equals(key))),
  ],
  ["own_request", (signer, ctx) => unless(!isSamePerson(signer.principal, ctx.requester, ctx.identities))],
  ["own_access", (signer, ctx) => unless(!isSubject(signer.principal, keysOf(ctx), ctx.identities))],
  ["agent_approver", (signer, ctx) => unless(!isAgent(signer.principal, ctx.identities), signer.principal)],
];

/** Both ends belong to it, as with OpenSSH. */
function isCurrent({ validAfter, validBefore }: RosterEntry, now: number): boolean {
  return (validAfter === null || now >= validAfter) && (validBefore === null || now <= validBefore);
}

function keysOf(ctx: ApprovalContext): string[] {
  return ctx.subjectId === null ? [...ctx.subjectKeys] : [...ctx.subjectKeys, ctx.subjectId];
}

const ABOUT_THE_ASSURANCE: readonly Check<Statement & { shown: Assurance }>[] = [
  ["assurance", ({ shown, assurance }) => atLeast(shown, assurance)],
  ["assurance", ({ shown, steps }, ctx) => atLeast(shown, required(ctx, [...steps]))],
  ["journal_fork", ({ journal }, ctx) => differs(journal.origin, ctx.journal.origin)],
  [
    "journal_fork",
    ({ journal }, ctx) => unless(ctx.journal.rootAt(journal.size) === journal.root, `at entry ${journal.size}`),
  ],
];

function atLeast(shown: Assurance, wanted: Assurance): string | null {
  return unless(ASSURANCES.indexOf(shown) >= ASSURANCES.indexOf(wanted), `${shown}, where ${wanted} is needed`);
}

function required({ minAssurance }: ApprovalContext, steps: number[]): Assurance {
  return typeof minAssurance === "function" ? minAssurance(steps) : minAssurance;
}
