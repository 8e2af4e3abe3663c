import type { Phase, Rise } from "../model/entry.ts";
import { bug } from "../model/errors.ts";
import { hashOf } from "../model/json.ts";
import { type Gate, isWrite, type Plan, type Step, type WriteStep } from "../model/plan.ts";
import type { Observed, Reading } from "../model/reading.ts";
import { escapeText } from "../model/text.ts";
import { wrapLine } from "../model/wrap.ts";
import { actionOf, expectsText, undoStep, valueText } from "./kinds.ts";
import type { OperationState } from "./state.ts";

export interface Card {
  step: number;
  gate: Gate;
  text: string;
}

const WIDTH = 78;
const LABEL = 12;

/** What a card is made of. The same values give the same text, to the letter: the text is what gets signed. */
export interface CardFacts {
  plan: Plan;
  planHash: string;
  phase: Phase;
  subjectId: string | null;
  /** The reading that a per-call decision is made on; null where the plan's own expectation stands. */
  reading: Reading<Observed> | null;
  /** False for a plan that is only shown, and has no id that could be named. */
  stored?: boolean;
  /** Why it is asked for by itself although the plan decided it once. */
  risen?: Rise | null;
}

/** One concrete consequence, in words, with resolved ids; at most 78 columns, every foreign character visible. */
export function cardText(step: WriteStep, facts: CardFacts): string {
  const { plan } = facts;
  const lines = [
    `${step.credential === "privileged" && step.gate === "call" ? "[ELEVATED] " : ""}${facts.phase === "rollback" ? "Undo of step" : "Step"} ${step.step}: ${consequence(step, plan)}`,
    row("tenant", `${plan.tenant} (${plan.provider})`),
    row("subject", subjectText(plan, facts.subjectId)),
    row("action", `${actionOf(step.kind)}${idText(step)}`),
    row("now", facts.reading ? valueText(facts.reading) + versionText(facts.reading) : nowText(step)),
    row("then", thenText(step)),
    row("undo", undoText(step)),
    row("mail", mailText(step)),
    ...step.effects.filter((effect) => effect.kind !== "mail").map((effect) => row("stays", effect.text)),
    row("asked by", requesterText(plan)),
    ...(plan.ticket === null ? [] : [row("ticket", plan.ticket)]),
    ...(plan.reason === null ? [] : [row("reason", plan.reason)]),
    row("credential", CREDENTIAL[step.credential]),
    row("why asked", whyAsked(step, facts)),
    row(
      "plan",
      `${facts.stored === false ? "stored nowhere" : plan.operation_id}, ${facts.planHash.slice(7, 15)}-${facts.planHash.slice(15, 23)}`,
    ),
  ];
  return lines.flatMap(wrap).join("\n");
}

const CREDENTIAL = { ordinary: "ordinary", privileged: "privileged, or ordinary where the tenant has no other" };

function row(label: string, text: string): string {
  return `  ${label.padEnd(LABEL)}${text}`;
}

function consequence(step: WriteStep, plan: Plan): string {
  const who = subjectName(plan);
  switch (step.kind) {
    case "invite":
      return `Invite ${who} to ${plan.tenant} as ${step.role}, ${step.send_email ? "with mail" : "without mail"}`;
    case "create_account":
      return `Create an account for ${who} on ${plan.tenant}`;
    case "set_role":
      return `Change the role of ${who} on ${plan.tenant}: ${step.expects.role} → ${step.role}`;
    case "add_group":
      return `Add ${who} to the group ${step.group.name} on ${plan.tenant}`;
    case "remove_group":
      return `Remove ${who} from the group ${step.group.name} on ${plan.tenant}`;
    case "assign_license":
      return `Assign the licence ${step.license.name} to ${who} on ${plan.tenant}`;
    case "remove_license":
      return `Remove the licence ${step.license.name} from ${who} on ${plan.tenant}`;
    case "cancel_invitation":
      return `Cancel the open invitation of ${who} to ${plan.tenant}`;
    case "revoke_sessions":
      return `End the sessions of ${who} on ${plan.tenant}`;
    case "revoke_credentials":
      return `Revoke the credentials of ${who} on ${plan.tenant}`;
    case "suspend_account":
      return `Suspend the account of ${who} on ${plan.tenant}`;
    case "restore_account":
      return `Restore the account of ${who} on ${plan.tenant}`;
    case "remove_member":
      return `Remove ${who} from ${plan.tenant}`;
    case "delete_account":
      return `Delete the account of ${who} on ${plan.tenant}`;
    default:
      step satisfies never;
      throw bug("a step of unknown kind");
  }
}

function subjectName(plan: Plan): string {
  return plan.subject.email ?? plan.subject.login ?? plan.subject.id ?? "the subject";
}

function subjectText(plan: Plan, id: string | null): string {
  const names = [plan.subject.email, plan.subject.login].filter((name) => name !== undefined).join(", ");
  const bound = id ?? plan.subject.id;
  if (bound === undefined || bound === null)
    return `${names} (no account yet; bound to whoever the tenant says redeemed it)`;
  return names === "" ? bound : `${names} (${bound})`;
}

function idText(step: WriteStep): string {
  if ("group" in step) return ` ${step.group.name} (${step.group.id})`;
  if ("license" in step) return ` ${step.license.name} (${step.license.id})`;
  return "role" in step && step.role !== undefined ? ` ${step.role}` : "";
}

function versionText(reading: Reading<Observed>): string {
  return reading.kind === "found" && reading.version !== undefined ? `, version ${reading.version}` : "";
}

function nowText(step: WriteStep): string {
  return "expects" in step ? expectsText(step.expects) : "in use";
}

function thenText(step: WriteStep): string {
  switch (step.kind) {
    case "invite":
      return `invited as ${step.role}, to be accepted by ${step.accept_by}`;
    case "set_role":
      return step.role;
    case "add_group":
      return "direct member";
    case "remove_group":
      return "no direct member";
    case "assign_license":
      return "assigned";
    case "remove_license":
      return "not assigned";
    case "cancel_invitation":
      return "cancelled; what was mailed or seen stays known";
    case "create_account":
    case "restore_account":
      return "active";
    case "suspend_account":
      return "suspended";
    case "remove_member":
      return "no member";
    case "delete_account":
      return "deleted";
    case "revoke_sessions":
    case "revoke_credentials":
      return "revoked";
    default:
      step satisfies never;
      throw bug("a step of unknown kind");
  }
}

function undoText(step: WriteStep): string {
  const undo = step.undo;
  if (!undo) return step.reversibility === "irreversible" ? "none: this cannot be taken back" : "none";
  switch (undo.kind) {
    case "cancel_invitation":
      return "automatic while the invitation is pending; never after it is accepted";
    case "set_role":
      return `automatic, back to ${undo.role}, while nobody else changes it`;
    case "add_group":
    case "assign_license":
    case "restore_account":
      return "by a decision of its own: it gives authority back";
    case "remove_group":
    case "remove_license":
    case "suspend_account":
      return "automatic, while nobody else changes it";
    default:
      undo satisfies never;
      throw bug("an undo of unknown kind");
  }
}

function mailText(step: WriteStep): string {
  if (step.kind === "invite") return step.send_email ? "yes: it cannot be recalled" : "none";
  return step.effects.find((effect) => effect.kind === "mail")?.text ?? "none";
}

function requesterText(plan: Plan): string {
  const { id, verified, via, claimed } = plan.requester;
  return `${id} (${via}, ${verified ? "verified" : "not verified"}${claimed === null ? "" : `; claims: "${claimed}"`})`;
}

const UNPROVEN = "nothing shows that this provider holds here when something goes wrong";
const ELEVATED = "the account holds an elevated role";

function whyAsked(step: WriteStep, { phase, risen }: CardFacts): string {
  if (phase === "rollback") return "this gives authority back, or sends mail";
  if (step.gate === "none") return "not asked: it holds already, and nothing will be sent";
  if (risen) return risen === "elevated" ? `${ELEVATED} by now` : UNPROVEN;
  if (step.gate === "plan") return "decided once, with the plan";
  if (step.unproven) return UNPROVEN;
  switch (step.kind) {
    case "invite":
      return "it sends mail, or grants more than the least";
    case "set_role":
      return "the role, or the one it replaces, is elevated";
    case "add_group":
    case "remove_group":
      return "the group is sensitive, or the account holds an elevated role";
    case "delete_account":
    case "remove_member":
      return "data may be lost";
    default:
      return ELEVATED;
  }
}

function wrap(line: string): string[] {
  // Continued where values stand, so that no name of theirs can begin a row of ours.
  return wrapLine(escapeText(line), WIDTH, LABEL + 2);
}

/** A card a step, as the plan stands: also for steps that are decided later, and for those that never ask. */
export function planCards(state: Pick<OperationState, "plan" | "planHash">, stored = true): Card[] {
  const { plan, planHash } = state;
  const facts: CardFacts = {
    plan,
    planHash,
    phase: "apply",
    subjectId: plan.subject.id ?? null,
    reading: null,
    stored,
  };
  return plan.steps.map((step) => {
    if (isWrite(step)) return { step: step.step, gate: step.gate, text: cardText(step, facts) };
    const after = step.on_deadline === "cancel" ? "cancelled if it is still open" : "left open";
    const text = `Step ${step.step}: Wait until ${subjectName(plan)} has accepted; past its deadline the invitation is ${after}`;
    return { step: step.step, gate: step.gate, text: wrap(text).join("\n") };
  });
}

type Shown = Pick<OperationState, "plan" | "planHash" | "subjectId" | "steps" | "requests">;

/**
 * The cards that a decision over these steps is made on, in the order of the steps. What the plan decides stands on no
 * reading. `risen`: of a step that is just being asked for; else as it was asked for before.
 */
export function cardsFor(
  state: Shown,
  phase: Phase,
  steps: readonly number[],
  readings: Readonly<Record<string, Reading<Observed>>>,
  risen?: Rise | null,
): Card[] {
  return steps.map((number) => {
    const step = state.steps.find((candidate) => candidate.plan.step === number);
    const shown = step && cardStep(step.plan, phase, step.receipt);
    if (!shown || shown.gate === "none") throw bug(`step ${number} has no card`);
    const reading = readings[String(number)] ?? null;
    const subjectId = reading === null && phase === "apply" ? (state.plan.subject.id ?? null) : state.subjectId;
    const rise = reading === null || phase === "rollback" ? null : (risen ?? riseOf(state, number));
    const text = cardText(shown, { ...state, phase, subjectId, reading, risen: rise });
    return { step: number, gate: rise ? "call" : shown.gate, text };
  });
}

function riseOf({ requests }: Shown, step: number): Rise | null {
  return requests.findLast((made) => made.phase === "apply" && made.steps.includes(step))?.risen ?? null;
}

function cardStep(plan: Step, phase: Phase, receipt: OperationState["steps"][number]["receipt"]): WriteStep | null {
  if (!isWrite(plan)) return null;
  if (phase === "apply") return plan;
  return receipt ? undoStep(plan, receipt) : null;
}

/** Covers the exact lines shown, so that what was on the screen is evidence. */
export function cardHash(
  state: Shown,
  phase: Phase,
  steps: readonly number[],
  readings: Readonly<Record<string, Reading<Observed>>>,
  risen?: Rise | null,
): string {
  return hashOf(
    "card",
    cardsFor(state, phase, steps, readings, risen).map((card) => card.text),
  );
}
