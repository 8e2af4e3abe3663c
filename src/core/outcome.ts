import type { Payload } from "../model/entry.ts";
import { bug } from "../model/errors.ts";
import type { WriteStep } from "../model/plan.ts";
import type { Receipt, Result } from "../model/receipt.ts";
import { expectsText, type Proof, resultWord, valueText } from "./kinds.ts";
import { versionOf } from "./move.ts";
import type { Judgement, Outcome } from "./settle.ts";
import type { Work } from "./state.ts";

export function receiptEntry(step: number, receipt: Receipt): Payload {
  return { kind: "step.receipt", step, receipt };
}

export const nothing = { compensation: null, attribution: null, status: null, provider_request_id: null } as const;

/** What already holds: nothing was sent, nothing is owned, nothing will be taken back. */
export function already(plan: WriteStep, reading: Proof): Receipt {
  const result = resultWord(plan, reading, false);
  const version = versionOf(reading);
  return {
    ...nothing,
    result,
    ours: false,
    before: reading,
    after: reading,
    remote_version_after: version,
    code: null,
    detail: "it was so before",
  };
}

export function notAsExpected(plan: WriteStep, reading: Proof): Receipt {
  const expected = "expects" in plan ? expectsText(plan.expects) : "something to revoke";
  const planned = plan.gate === "none" ? "it held already when this was planned" : `the plan expects ${expected}`;
  const detail = `${planned}, and a read shows ${valueText(reading)}; nothing was sent`;
  return {
    ...nothing,
    result: "conflict",
    ours: false,
    before: reading,
    after: reading,
    remote_version_after: null,
    code: "not_as_expected",
    detail,
  };
}

/** The time that the plan gives for accepting had passed before anything was sent. */
export function tooLate(plan: WriteStep, reading: Proof): Receipt {
  const detail = "the time to accept it by had passed before it was sent; nothing was sent";
  return { ...notAsExpected(plan, reading), result: "expired", code: "too_late", detail };
}

const notChanged = { ours: false, attribution: null, compensation: null } as const;

/** The receipt of a write that was sent. */
export function concluded(plan: WriteStep, work: Work, verdict: Extract<Judgement, { do: "conclude" }>): Receipt {
  const after = work.seen.at(-1)?.reading ?? null;
  const last = work.attempts.at(-1);
  const { code, detail } = verdict;
  const common = {
    before: work.intent?.before ?? null,
    after,
    code,
    detail,
    status: last?.transport.status ?? null,
    provider_request_id: last?.transport.provider_request_id ?? null,
  };
  if (verdict.outcome === "done" && after && after.kind !== "unreadable") {
    const replied = work.attempts
      .map(({ reply }) => (reply.kind === "accepted" ? (reply.version ?? null) : null))
      .filter((v) => v !== null);
    const result = resultWord(plan, after, true);
    // Whoever accepted was faster: what we asked for did not happen.
    if (result === "already_accepted")
      return { ...common, ...notChanged, result, remote_version_after: versionOf(after) };
    // What was accepted or ended since is no longer there to be withdrawn.
    const compensation = plan.kind === "invite" && result !== "pending" ? null : plan.undo;
    return {
      ...common,
      result,
      ours: true,
      attribution: verdict.attribution,
      remote_version_after: replied.at(-1) ?? versionOf(after),
      compensation,
    };
  }
  if (verdict.outcome === "already" && after && after.kind !== "unreadable")
    return {
      ...common,
      ...notChanged,
      result: resultWord(plan, after, false),
      remote_version_after: versionOf(after),
    };
  return { ...common, ...notChanged, result: failureWord(verdict.outcome), remote_version_after: null };
}

function failureWord(outcome: Outcome): Result {
  if (outcome === "done" || outcome === "already") throw bug(`a step concluded as ${outcome} without a reading`);
  return outcome;
}
