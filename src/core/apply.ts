import type { Payload } from "../model/entry.ts";
import { bug } from "../model/errors.ts";
import { isWrite, type WriteStep } from "../model/plan.ts";
import type { Receipt } from "../model/receipt.ts";
import { type Cover, coverOf, decidedWithPlan, requestFor, resendOf, sameReading } from "./approval.ts";
import { carryOut, intentEntry, recentlyMade, sendMove } from "./attempt.ts";
import { cardHash } from "./card.ts";
import { invitationIn, type Proof, standing, standingSince } from "./kinds.ts";
import { type Context, halt, isFresh, type Move, readAgain, record } from "./move.ts";
import { already, concluded, notAsExpected, receiptEntry, tooLate } from "./outcome.ts";
import { askedUntil, currentStep, failed, stillStands } from "./progress.ts";
import { type Judgement, judge, type Settling } from "./settle.ts";
import { isOpen, type OperationState, type Seen, type StepState, type Work } from "./state.ts";
import { nextWait, otherAccount } from "./wait.ts";

/** The way forward: the step that the operation stands before. */
export function onward(state: OperationState, context: Context): Move {
  const step = currentStep(state);
  if (!step) return halt;
  if (!isWrite(step.plan)) return nextWait(state, step, context);
  const check = verifyConfirmed(state, step.plan.step, context);
  if (check) return check;
  return ahead(state, step, step.plan, context);
}

/** Before going on, what an earlier run confirmed is read again; a colleague's change means that nothing is sent. */
function verifyConfirmed(state: OperationState, before: number, context: Context): Move | null {
  const waited = state.steps.find((step) => step.plan.kind === "wait_for_acceptance")?.receiptEpoch === state.epoch;
  for (const step of state.steps) {
    if (step.plan.step >= before) break;
    if (!isWrite(step.plan) || !step.receipt || failed(step.receipt) || step.receiptEpoch === state.epoch) continue;
    if (step.plan.kind === "invite" && waited) continue;
    const seen = step.apply.verified;
    if (!seen) return { kind: "observe", step: step.plan.step, phase: "apply", purpose: "verify" };
    if (seen.reading.kind === "unreadable")
      return readAgain(step.apply, seen, context, step.plan.step, "apply", "verify");
    if (!stillStands(state, step.plan, seen.reading)) return halt;
  }
  return null;
}

function ahead(state: OperationState, step: StepState, plan: WriteStep, context: Context): Move {
  const seen = step.apply.before;
  if (!isFresh(seen, context)) return { kind: "observe", step: plan.step, phase: "apply", purpose: "before" };
  const { reading } = seen;
  if (reading.kind === "unreadable") return readAgain(step.apply, seen, context, plan.step, "apply", "before");
  const place = standing(plan, reading, state.plan.preconditions.account_absent === true);
  const stranger = strangerAt(state, reading);
  if (stranger) return record(receiptEntry(plan.step, { ...notAsExpected(plan, reading), ...stranger }));
  if (place === "wanted") return record(...withBinding(state, plan, already(plan, reading)));
  if (place === "other" || plan.gate === "none") return record(receiptEntry(plan.step, notAsExpected(plan, reading)));
  if (isLate(plan, context.now)) return record(receiptEntry(plan.step, tooLate(plan, reading)));
  if (seen.refusal)
    return { kind: "halt", refusal: { code: seen.refusal.code, exit: 13, message: seen.refusal.detail } };
  const denied = context.authority.denied.get(plan.step);
  if (denied) return { kind: "halt", refusal: denied };
  const cover = coverOf(state, step, "apply", reading, context.now, context.authority);
  if (cover.kind === "refused") return { kind: "halt", refusal: cover.refusal };
  if (decidedWithPlan(state, plan)) {
    if (seen.rises) return record(...spending(cover, plan.step, "its gate has risen"), asking(state, plan, seen));
    return cover.kind === "given" ? begin(state, step, plan, reading, context, cover) : halt;
  }
  if (cover.kind === "given") return begin(state, step, plan, reading, context, cover);
  const spent = cover.kind === "spent" ? spending(cover, plan.step, "the reading behind it changed") : [];
  const asked = requestFor(state, plan.step, "apply")?.readings[String(plan.step)] ?? null;
  if (spent.length === 0 && sameReading(asked, reading)) return halt;
  return record(...spent, asking(state, plan, seen));
}

const LATE = { held: "the time to accept it by has passed", refusal: null };

/** An invitation that could not be accepted any more is not sent. */
function isLate(plan: WriteStep, now: number): boolean {
  return plan.kind === "invite" && now >= Date.parse(plan.accept_by);
}

/** The plan was made and approved for one account; the address is a search term, and may lead to another one by now. */
function strangerAt(state: OperationState, reading: Proof): { code: string; detail: string } | null {
  const [known, found] = [state.plan.subject.id, invitationIn(reading)?.account];
  if (known === undefined || !found || found.status === "deleted" || found.id === known) return null;
  return { code: "other_account", detail: otherAccount(found.id, known) };
}

type Given = Extract<Cover, { kind: "given" }>;

function begin(
  state: OperationState,
  { apply }: StepState,
  plan: WriteStep,
  reading: Proof,
  context: Context,
  { decision }: Given,
): Move {
  return record(intentEntry(state, plan, apply, "apply", reading, context, [decision.approval_id]));
}

function spending(cover: Cover, step: number, why: string): Payload[] {
  if (cover.kind !== "given" && cover.kind !== "spent") return [];
  return [{ kind: "approval.spent", approval_id: cover.decision.approval_id, steps: [step], why }];
}

function asking(state: OperationState, plan: WriteStep, { reading, rises }: Seen): Payload {
  const readings = { [String(plan.step)]: reading };
  // Once risen, it stays so: a gate never falls.
  const risen = requestFor(state, plan.step, "apply")?.risen ?? (plan.gate === "plan" ? rises : null);
  return {
    kind: "approval.requested",
    phase: "apply",
    steps: [plan.step],
    readings,
    gate: "call",
    card_hash: cardHash(state, "apply", [plan.step], readings, risen),
    ...(risen && { risen }),
  };
}

/** The write is out, or may be: find out what became of it, and record it. */
export function settling(state: OperationState, step: StepState, context: Context, over: boolean): Move {
  const plan = step.plan;
  if (!isWrite(plan)) throw bug("a wait that was sent");
  const work = step.apply;
  if (isOpen(work) && work.intent?.epoch === state.epoch) return sendMove(work, plan.step, "apply");
  const about: Settling = {
    work,
    epoch: state.epoch,
    now: context.now,
    limits: context.limits,
    standing: (seen) => standingSince(plan, work.intent?.before ?? null, seen.reading as Proof),
    keys: context.keys,
    authorship: context.authorship,
    asked: askedUntil(state, context.now),
    recent: recentlyMade(state, context),
    resend: over ? "over" : isLate(plan, context.now) ? LATE : resendOf(state, step, "apply", context),
  };
  let verdict = judge(about);
  // A later run goes on only past confirmed steps that still stand, also where it only repeats what was sent.
  if (verdict.do === "send" && work.intent?.epoch !== state.epoch) {
    const check = verifyConfirmed(state, plan.step, context);
    if (check?.kind === "observe" || check?.kind === "wait") return check;
    if (check)
      verdict = judge({ ...about, resend: { held: "an earlier step was not found as it was left", refusal: null } });
  }
  if (verdict.do === "conclude")
    return record(...withBinding(state, plan, concluded(plan, work, unlessForbidden(state, plan, work, verdict))));
  return carryOut(state, plan, work, "apply", verdict, context);
}

type Concluded = Extract<Judgement, { do: "conclude" }>;

/** Somebody else made an account between our reading and our invitation, and the request says that there is none. */
function unlessForbidden(state: OperationState, plan: WriteStep, work: Work, verdict: Concluded): Concluded {
  const reading = work.seen.at(-1)?.reading;
  const account = reading && invitationIn(reading)?.account;
  if (verdict.outcome !== "already" || plan.kind !== "invite" || !account || account.status === "deleted")
    return verdict;
  if (state.plan.preconditions.account_absent !== true) return verdict;
  const detail = `the request says that there is no account, and somebody else made one before our request arrived (${verdict.detail})`;
  return { ...verdict, outcome: "conflict", code: "not_as_expected", detail };
}

/** The subject of a new account is known by its id from here on; bound once, with the receipt that proves it. */
function withBinding(state: OperationState, plan: WriteStep, receipt: Receipt): Payload[] {
  const entry = receiptEntry(plan.step, receipt);
  const account = receipt.after?.kind === "found" && receipt.after.value.of === "account" ? receipt.after.value : null;
  if (plan.kind !== "create_account" || state.subjectId !== null || account === null) return [entry];
  return [{ kind: "subject.bound", step: plan.step, subject_id: account.id, by: "lookup" }, entry];
}
