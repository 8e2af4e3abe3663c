import { ProvisionError } from "../../model/errors.ts";
import { bounded, escapeText } from "../../model/text.ts";

const AGAIN = "Have the approver look at the current cards and sign again: provision approve.";
const SOMEONE_ELSE = "Someone else who stands in the approvers file must decide.";
const AS_IT_CAME = "Take the approval file again, as it was signed; nothing in it may be edited.";

/** Every reason against an approval: the exit code it ends with, what is wrong, and what to do. */
export const REFUSALS = {
  not_canonical: { exit: 9, message: "The statement's bytes are not canonical JSON (RFC 8785)", hint: AS_IT_CAME },
  fields: { exit: 9, message: "The approval does not hold exactly the fields it should", hint: AS_IT_CAME },
  type: { exit: 13, message: "The signed statement is no approval of this version", hint: AGAIN },
  decision: { exit: 13, message: "The statement decides something else", hint: AGAIN },
  phase: {
    exit: 13,
    message: "The statement is for the other phase",
    hint: "Sign with --phase for a rollback, without for a run.",
  },
  other_operation: { exit: 13, message: "The approval is for another operation", hint: AGAIN },
  other_plan: { exit: 13, message: "The approval is for another plan", hint: AGAIN },
  other_card: { exit: 13, message: "The cards that were signed are not the cards as they are now", hint: AGAIN },
  policy_changed: { exit: 13, message: "The policy has changed since this was signed", hint: AGAIN },
  other_tenant: { exit: 13, message: "The approval is for another tenant", hint: AGAIN },
  steps: { exit: 13, message: "The approval names a step that is not to be decided now", hint: AGAIN },
  requester: { exit: 13, message: "The approval names another requester", hint: AGAIN },
  subject_id: { exit: 13, message: "The approval is for another account of the subject", hint: AGAIN },
  not_yet_valid: {
    exit: 13,
    message: "The approval is not valid yet",
    hint: "Wait for its start, or check this machine's clock.",
  },
  lapsed: { exit: 13, message: "The approval has lapsed", hint: AGAIN },
  window_too_long: {
    exit: 13,
    message: "The approval would be valid for longer than is allowed",
    hint: "Sign again with a shorter --expires.",
  },
  bad_signature: { exit: 9, message: "The signature does not verify", hint: AS_IT_CAME },
  wrong_namespace: { exit: 13, message: "The signature was made for another purpose than approving", hint: AGAIN },
  unknown_key: { exit: 13, message: "The key that signed does not stand in the approvers file", hint: SOMEONE_ELSE },
  principal_mismatch: {
    exit: 13,
    message: "The key that signed belongs to another approver than the statement names",
    hint: AGAIN,
  },
  key_expired: {
    exit: 13,
    message: "The key that signed is outside its time of validity",
    hint: "Sign with a current key.",
  },
  revoked_key: {
    exit: 13,
    message: "The key that signed is revoked",
    hint: "Find out what it signed; decide again with another key.",
  },
  sandbox_key: {
    exit: 13,
    message: "The key that signed serves sandbox tenants only",
    hint: "Sign with a key of your own: --key.",
  },
  own_request: { exit: 13, message: "Nobody approves their own request", hint: SOMEONE_ELSE },
  own_access: { exit: 13, message: "Nobody approves a change to their own access", hint: SOMEONE_ELSE },
  agent_approver: {
    exit: 13,
    message: "An agent cannot approve",
    hint: "A person who stands in the approvers file must decide.",
  },
  no_touch: {
    exit: 13,
    message: "The signature was made by a security key that nobody touched",
    hint: "Sign again and touch the key when it blinks.",
  },
  assurance: {
    exit: 13,
    message: "The signature shows less of the person than is required",
    hint: "Sign with a security key, by touch or PIN as required.",
  },
  journal_fork: {
    exit: 13,
    message: "The approval was given over another history of this journal",
    hint: "Do not run. Check the journal: provision audit verify.",
  },
  check_failed: {
    exit: 13,
    message: "The approval could not be checked",
    hint: "This is a bug in provision. Nothing more was sent.",
  },
} as const satisfies Record<string, { exit: 9 | 13; message: string; hint: string }>;

export type RefusalCode = keyof typeof REFUSALS;

export interface Refusal {
  ok: false;
  code: RefusalCode;
  exit: 9 | 13;
  message: string;
  hint: string;
}

/** `detail` may hold text from outside; it is escaped and bounded here. */
export function refusal(code: RefusalCode, detail = ""): Refusal {
  const { exit, message, hint } = REFUSALS[code];
  const more = detail === "" ? "" : `: ${bounded(escapeText(detail), 300)}`;
  return { ok: false, code, exit, message: `${message}${more}.`, hint };
}

/** The refusal as the error that a command ends with. */
export function refusalError({ code, exit, message, hint }: Refusal): ProvisionError {
  return new ProvisionError(code, exit, message, { hint });
}

/** A thrown refusal of a reader, as a value; whatever was not foreseen refuses as well. */
export function refusalOf(fault: unknown): Refusal {
  if (!(fault instanceof ProvisionError)) return refusal("check_failed", fault instanceof Error ? fault.message : "");
  if (!Object.hasOwn(REFUSALS, fault.code)) return refusal("check_failed", fault.message);
  const code = fault.code as RefusalCode;
  return { ok: false, code, exit: REFUSALS[code].exit, message: fault.message, hint: REFUSALS[code].hint };
}
