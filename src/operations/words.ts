import { type Refusal, refusalIn } from "../core/approval.ts";
import { fold } from "../core/fold.ts";
import { resolveCardHash } from "../core/resolve.ts";
import { begin, type OperationState, type Word } from "../core/state.ts";
import type { Envelope } from "../model/entry.ts";
import type { Instant } from "../model/reading.ts";
import { parseStatement, signedBytes } from "../model/statement.ts";
import { verifyApproval } from "../runtime/approvals/verify.ts";
import { approvalContext } from "./context.ts";
import type { Desk, TenantDesk } from "./desk.ts";

/** How long a signed word may be taken in, in milliseconds. */
export const WORD_MS = 3_600_000;

/**
 * The first signed word of this operation that does not verify now; null where all do. Each is held against what could
 * be said when it was given, at that time: a key that was retired since keeps its word, a revoked one does not.
 */
export function unverifiedWord(desk: Desk, tenant: TenantDesk, state: OperationState): Refusal | null {
  if (state.words.length === 0) return null;
  const entries = desk.journal().read(state.plan.operation_id);
  const nonces = new Set<string>();
  for (const word of state.words) {
    if (nonces.has(word.nonce)) return otherWord(word, "it was given once and counts twice");
    nonces.add(word.nonce);
    const before = entries.filter(({ seq }) => seq < word.seq).reduce(fold, begin(state.plan, state.planHash));
    const found = refusalIn(() => verifyWord(desk, tenant, before, word));
    if (found) return { ...found, message: `The word on step ${word.step} does not count. ${found.message}` };
  }
  return null;
}

/** Null where the word is what was signed, by somebody who may say so, about the step as it then was. */
export function verifyWord(
  desk: Desk,
  tenant: TenantDesk,
  before: OperationState,
  word: Omit<Word, "seq">,
): Refusal | null {
  const { step, as, envelope, approver, nonce, at } = word;
  const card = resolveCardHash(before, step, as);
  const context = approvalContext(desk, tenant, before, as === "left" ? "rollback" : "apply", {
    steps: [step],
    subjectId: before.subjectId,
    readings: {},
    cards: () => card,
  });
  const found = verifyApproval(envelope, {
    ...context,
    decision: `resolve:${as}`,
    ...signedUnder(envelope),
    now: at,
    window: () => ({ maxMs: WORD_MS, until: null }),
  });
  if (!found.ok) return found;
  const said = found.approval;
  return said.approver === approver && said.nonce === nonce && said.steps.join() === `${step}`
    ? null
    : otherWord(word, "what is recorded beside it is not what was signed");
}

/** A word says what is, and not what may be done: rules and hours that came later change nothing in it. */
function signedUnder(envelope: Envelope): { policyHash?: string; windowAt?: Instant } {
  try {
    const { policy_hash: policyHash, not_before: windowAt } = parseStatement(signedBytes(envelope));
    return { policyHash, windowAt };
  } catch {
    // Whoever verifies it says what is wrong with it.
    return {};
  }
}

function otherWord({ step }: Pick<Word, "step">, why: string): Refusal {
  return {
    code: "other_statement",
    exit: 9,
    message: `The word on step ${step} is not the one that was given: ${why}.`,
  };
}
