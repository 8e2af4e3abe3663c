import { roleById } from "../model/catalog.ts";
import { type ExitCode, ProvisionError } from "../model/errors.ts";
import type { PlanObservation } from "../model/plan.ts";
import type { InvitationView, Observed, Reading } from "../model/reading.ts";
import { aboutOf, drafts, type Intent } from "./intent.ts";
import { invitationIn } from "./kinds.ts";

/** Where the plan starts from, as the readings prove it. */
export interface Footing {
  /** Id of the active account that holds the address; null where there is none. */
  accountId: string | null;
  account: { id: string; email: string | null } | null;
  /** An open invitation with the landing role, which the plan takes over instead of sending another. */
  pending: boolean;
  /** Id of the role that the account holds; null without an account. */
  heldRole: string | null;
  /** What the person who reads the plan should know. */
  notices: string[];
}

type Fold = (key: { email?: string }) => string[];

/**
 * Judges what was read. Refused are: a reading that the plan depends on and that proves nothing (exit 12), and a tenant
 * that contradicts the request (exit 6). In both cases there is no plan.
 */
export function footingOf(intent: Intent, readings: readonly PlanObservation[], fold: Fold): Footing | ProvisionError {
  const first = readings.find(({ about }) => about === "invitation");
  const unread = unreadable(
    intent,
    readings.filter(({ reading }) => reading.kind === "unreadable"),
  );
  if (unread) return unread;
  if (!first) return missing(intent, "invitation");
  const view = invitationIn(first.reading) ?? NOTHING;
  return view.account && view.account.status !== "deleted"
    ? onAccount(intent, readings, view.account, fold)
    : withoutAccount(intent, view);
}

const NOTHING: InvitationView = { of: "invitation", invitation: null, account: null };

function onAccount(
  intent: Intent,
  readings: readonly PlanObservation[],
  account: NonNullable<InvitationView["account"]>,
  fold: Fold,
): Footing | ProvisionError {
  const { email } = intent.subject;
  const whose = `${account.id} on ${intent.tenant.name}`;
  if (email !== undefined && account.email !== null && !overlaps(fold({ email }), fold({ email: account.email }))) {
    return contradiction(
      "subject_ambiguous",
      `The address leads to ${whose}, which holds another address.`,
      "Name the account by its id.",
    );
  }
  if (intent.subject.id !== undefined && intent.subject.id !== account.id) {
    return contradiction(
      "subject_ambiguous",
      `The address leads to ${whose}, and the request says ${intent.subject.id}.`,
      "Say which of the two is meant.",
    );
  }
  if (intent.request.preconditions.account_absent === true) {
    const message = `The request says that there is no account yet, and ${whose} holds the address.`;
    return contradiction(
      "precondition_contradicted",
      message,
      "If this person may be given more, leave account_absent out.",
    );
  }
  if (account.status === "suspended") {
    return contradiction(
      "account_suspended",
      `The account ${whose} is suspended.`,
      "Restore it first; a joiner does not.",
    );
  }
  for (const about of ["role", ...drafts(intent).map(aboutOf)]) {
    if (!readings.some((one) => one.about === about)) return missing(intent, about);
  }
  const role = readings.find(({ about }) => about === "role")?.reading;
  const lowered = role && refuseToLower(intent, role);
  if (lowered instanceof ProvisionError) return lowered;
  const notices = [`The account ${account.id} exists already: nobody is invited, and what it holds is left alone.`];
  const { id } = account;
  return { accountId: id, account: { id, email: account.email }, pending: false, heldRole: lowered ?? null, notices };
}

/** A joiner gives. Inviting somebody's address again must never cost that person a role. */
function refuseToLower(intent: Intent, reading: Reading<Observed>): string | ProvisionError {
  if (reading.kind !== "found" || reading.value.of !== "role") {
    return contradiction("role_absent", "The account holds no role that could be read.", "Look at it in the tenant.");
  }
  const held = reading.value.role;
  if (held === intent.role.id) return held;
  const entry = roleById(intent.tenant.catalog, held);
  if (entry && entry.privilege < intent.role.privilege && intent.role.id !== intent.landing.id) return held;
  const message = `The account holds the role ${entry?.name ?? held}, and a joiner with the role ${intent.role.name} would not raise it.`;
  return contradiction("account_holds_more", message, "If that is meant, say so with a request of kind: change.");
}

function withoutAccount(intent: Intent, view: InvitationView): Footing | ProvisionError {
  if (intent.subject.id !== undefined) {
    const message = `The request says that the subject is ${intent.subject.id}, and no account holds the address.`;
    return contradiction("subject_absent", message, "An invitation needs no id; leave it out.");
  }
  const none: Footing = { accountId: null, account: null, pending: false, heldRole: null, notices: [] };
  if (view.account) none.notices.push(`A deleted account (${view.account.id}) held the address before.`);
  const { invitation } = view;
  if (!invitation) return none;
  if (invitation.status !== "pending") {
    none.notices.push(`An earlier invitation (${invitation.id}) is ${invitation.status}; the plan makes a new one.`);
    return none;
  }
  if (invitation.role !== null && invitation.role !== intent.landing.id) {
    const message = `An open invitation (${invitation.id}) carries the role ${invitation.role}, not ${intent.landing.id}.`;
    return contradiction("pending_invitation_differs", message, "Cancel it in the tenant, then plan again.");
  }
  none.notices.push(`An open invitation (${invitation.id}) is taken over; no other is sent.`);
  if (invitation.role === null) none.notices.push("The tenant does not say which role that invitation carries.");
  return { ...none, pending: true };
}

function unreadable({ tenant }: Intent, failed: readonly PlanObservation[]): ProvisionError | null {
  if (failed.length === 0) return null;
  const details = failed.flatMap(({ about, reading }) =>
    reading.kind === "unreadable" ? [{ path: about, code: reading.reason, message: reading.detail }] : [],
  );
  const what = details.map(({ path, code }) => `${path} (${code})`).join(", ");
  return new ProvisionError("unreadable", 12, `There is no plan: on ${tenant.name} these could not be read: ${what}.`, {
    hint: "A failed read proves nothing. Look at the read credential and the tenant, then plan again.",
    details,
  });
}

function missing({ tenant }: Intent, about: string): ProvisionError {
  return new ProvisionError("unreadable", 12, `There is no plan: on ${tenant.name} the ${about} was not read.`);
}

function contradiction(code: string, message: string, hint: string): ProvisionError {
  const exit: ExitCode = 6;
  return new ProvisionError(code, exit, message, { hint });
}

function overlaps(some: readonly string[], others: readonly string[]): boolean {
  return some.some((key) => others.includes(key));
}
