import { type Pending, pendingDecisions, refusalAsError } from "../core/approval.ts";
import { type Card, cardHash, cardsFor } from "../core/card.ts";
import type { StateName } from "../core/status.ts";
import type { Phase } from "../model/entry.ts";
import { invalid, ProvisionError, refused } from "../model/errors.ts";
import { canonical } from "../model/json.ts";
import { envelopeOf, STATEMENT_TYPE, type Statement, statementBytes } from "../model/statement.ts";
import { isHardware } from "../runtime/approvals/pubkey.ts";
import { refusalError } from "../runtime/approvals/refusals.ts";
import type { RosterEntry } from "../runtime/approvals/roster.ts";
import { verifyApproval } from "../runtime/approvals/verify.ts";
import { appendIfStill } from "./append.ts";
import { approvalContext, currentPolicyHash, isCall, onCards, windowFor } from "./context.ts";
import type { Desk } from "./desk.ts";
import { notNamed } from "./named.ts";
import { type OpenedHere, openHere, openToAct } from "./open.ts";
import { nameOf } from "./run.ts";
import { chooseKey, type Signer } from "./signer.ts";

export interface Question {
  opened: OpenedHere;
  phase: Phase;
  steps: number[];
  readings: Pending["readings"];
  cards: Card[];
}

export interface Decided {
  operation_id: string;
  decided: number[];
  approval_id: string | null;
  expires_at: string | null;
  state: StateName;
  approver: string | null;
}

/** What can be decided now, and the cards that it is decided on. Touches no network. */
export async function askedNow(
  desk: Desk,
  op: string,
  options: { steps: number[] | null; phase: Phase | null },
): Promise<Question> {
  const opened = await openToAct(desk, op);
  const pending = pendingDecisions(opened.state, desk.shell.now(), opened.authority);
  if (options.phase !== null && options.phase !== pending.phase && pending.steps.length > 0)
    throw wrongPhase(opened.id, pending.phase);
  const steps = options.steps ?? pending.steps;
  const strange = steps.filter((step) => !pending.steps.includes(step));
  if (strange.length > 0) throw notDue(opened, strange, pending.steps);
  return {
    opened,
    phase: pending.phase,
    steps,
    readings: pending.readings,
    cards: cardsFor(opened.state, pending.phase, steps, onCards(pending.readings, steps)),
  };
}

function wrongPhase(id: string, phase: Phase): ProvisionError {
  return refused(
    "wrong_phase",
    `What ${id} asks for at this moment belongs to the ${phase === "rollback" ? "rollback" : "run"}.`,
    phase === "rollback" ? "Add --phase rollback." : "Leave --phase out.",
  );
}

function notDue({ id, state }: OpenedHere, strange: number[], due: number[]): ProvisionError {
  const unknown = strange.filter((number) => !state.plan.steps.some((step) => step.step === number));
  if (unknown.length > 0)
    return invalid("unknown_step", `${id} has no step ${unknown.join(", ")}.`, [
      { path: "steps", code: "unknown_step", found: unknown, allowed: due },
    ]);
  const message = `Step ${strange.join(", ")} of ${id} cannot be decided now.`;
  const hint =
    due.length === 0
      ? "Nothing is asked at this moment: provision status shows why."
      : `To be decided now: ${due.join(", ")}.`;
  return new ProvisionError("not_due", 13, message, {
    hint,
    details: [{ path: "steps", code: "not_due", found: strange, allowed: due }],
  });
}

/** Signs, verifies by the gate that the executor uses, and records; the nonce is taken in the same commit. */
export async function decide(
  desk: Desk,
  question: Question,
  options: { keyFile: string | null; windowMs: number | null; ask: boolean },
): Promise<Decided> {
  const { opened, steps } = question;
  const journal = desk.journal();
  if (steps.length === 0)
    return {
      operation_id: opened.id,
      decided: [],
      approval_id: null,
      expires_at: null,
      state: nameOf(desk, opened),
      approver: null,
    };
  const roster = desk.roster();
  const signer = await chooseKey(desk, opened.plan.provider === "sandbox", roster, options);
  const made: { id: string; until: string }[] = [];
  for (const part of byWindow(opened, question))
    made.push(await record(desk, question, part, signer, options.windowMs));
  const after = await openHere(desk, opened.id);
  const name = nameOf(desk, after);
  journal.setState(opened.id, name);
  const ends = made.map(({ until }) => until).sort();
  return {
    operation_id: opened.id,
    decided: steps,
    approval_id: made[0]?.id ?? null,
    expires_at: ends[0] ?? null,
    state: name,
    approver: signer.entry.principal,
  };
}

/** Calls are valid for an hour and what the plan decides for longer, so they are signed apart. */
function byWindow({ state }: OpenedHere, { phase, steps, readings }: Question): number[][] {
  const calls = steps.filter((step) => isCall(state, phase, step, readings));
  // Each call has been asked for by itself, and is spent by itself.
  return [steps.filter((step) => !calls.includes(step)), ...calls.map((step) => [step])].filter(
    (part) => part.length > 0,
  );
}

async function record(desk: Desk, question: Question, steps: number[], signer: Signer, windowMs: number | null) {
  const { opened, phase } = question;
  const statement = draft(desk, question, steps, signer.entry, windowMs);
  const bytes = statementBytes(statement);
  const envelope = envelopeOf(bytes, await signer.sign(bytes));
  const { state } = opened;
  const context = approvalContext(desk, opened.tenant, state, phase, {
    steps: question.steps,
    subjectId: state.subjectId,
    readings: question.readings,
    cards: (asked) => cardHash(state, phase, asked, onCards(question.readings, asked)),
  });
  const found = verifyApproval(envelope, context);
  if (!found.ok) {
    remember(desk, opened.id, found.code, signer.entry.principal, found.message);
    throw refusalError(found);
  }
  const unnamed = notNamed(desk, opened.tenant, state, steps, found.approval.approver);
  if (unnamed) {
    remember(desk, opened.id, unnamed.code, signer.entry.principal, unnamed.message);
    throw refusalAsError(unnamed);
  }
  const entry = { kind: "approval.recorded", approval: found.approval } as const;
  await appendIfStill(desk, opened.id, [entry], (now) => stillAsked(question, steps, now));
  return { id: found.approval.approval_id, until: found.approval.not_after };
}

/** The same steps are asked for on the same readings, and nobody stopped or denied it since the cards were shown. */
function stillAsked({ opened, phase, readings }: Question, steps: number[], now: OpenedHere): boolean {
  const pending = pendingDecisions(now.state, Date.parse(now.state.asOf), now.authority);
  const asked = (from: Pending["readings"]) => canonical(steps.map((step) => from[String(step)] ?? null));
  return (
    pending.phase === phase &&
    steps.every((step) => pending.steps.includes(step)) &&
    asked(pending.readings) === asked(readings) &&
    now.state.stopped?.seq === opened.state.stopped?.seq &&
    now.state.denied?.at === opened.state.denied?.at &&
    now.state.ended === opened.state.ended
  );
}

/** An attempt that was not allowed is kept, so that somebody can ask about it. */
function remember(desk: Desk, op: string, code: string, by: string, detail: string): void {
  desk.journal().append(op, [{ kind: "approval.refused", code, by, detail }]);
}

function draft(
  desk: Desk,
  question: Question,
  steps: number[],
  entry: RosterEntry,
  windowMs: number | null,
): Statement {
  const { opened, phase } = question;
  const { state } = opened;
  const now = desk.shell.now();
  const { maxMs, until } = windowFor(state, phase, steps, onCards(question.readings, steps));
  const longest = Math.max(now + maxMs, until === null ? 0 : Date.parse(until));
  const end = windowMs === null ? longest : Math.min(longest, now + windowMs);
  return {
    ...statementHead(desk, opened, entry),
    decision: "approve",
    phase,
    card_hash: cardHash(state, phase, steps, onCards(question.readings, steps)),
    steps,
    not_before: new Date(now).toISOString(),
    not_after: new Date(end).toISOString(),
  };
}

type Head = Omit<Statement, "decision" | "phase" | "card_hash" | "steps" | "not_before" | "not_after">;

/** What every statement about an operation says, whatever it decides: about what, by whom, and over which journal. */
export function statementHead(desk: Desk, { state, plan, tenant }: OpenedHere, entry: RosterEntry): Head {
  const { jid: _jid, ...head } = desk.journal().head();
  return {
    type: STATEMENT_TYPE,
    operation_id: plan.operation_id,
    plan_hash: state.planHash,
    policy_hash: currentPolicyHash(plan, desk.policy(), tenant),
    tenant: plan.tenant,
    requester: plan.requester.id,
    subject_id: state.subjectId,
    approver: entry.principal,
    // A security key is asked for a touch; what it gave is read off the signature.
    assurance: isHardware(entry.keyType) ? "touch" : "software",
    nonce: Buffer.from(desk.shell.random(16)).toString("base64url"),
    journal: { origin: desk.journal().origin(), ...head },
  };
}
