import { type Catalog, roleById } from "../model/catalog.ts";
import { foldEmail, normaliseEmail } from "../model/email.ts";
import type { SubjectKey, WriteStep } from "../model/plan.ts";
import type { Account, Subject } from "../model/provider.ts";
import type { Reading } from "../model/reading.ts";
import type { Refusal } from "./approval.ts";
import { isElevated } from "./gates.ts";

/** What the guards look at: at plan, and again just before each write with what was read then. */
export interface GuardFacts {
  tenant: string;
  /** Every key that is known, with the id once bound. */
  subject: Subject;
  /** The account that holds the subject's address now, with keys that the request may not name. */
  account: Partial<Account> | null;
  catalog: Catalog;
  /** How the provider folds a key for comparison. */
  fold: (key: SubjectKey) => string[];
  /** The account behind the credential in hand. */
  self: Reading<Account>;
  /** Ids, addresses or logins that the configuration names beside its credentials. */
  ownAccounts: readonly string[];
  /** Id of the role that the subject holds; null where there is no account. */
  heldRole: string | null;
  /** Ids of the active people who hold that role; null where it was not read. */
  holders: Reading<string[]> | null;
}

/** A rule that no policy relaxes: a name, a reason, and what it holds against a step. */
export interface Guard {
  code: string;
  why: string;
  check: (step: WriteStep, facts: GuardFacts) => string | null;
}

export const protectedSubject: Guard = {
  code: "protected_subject",
  why: "Emergency accounts must work when everything else does not.",
  check: (_step, facts) =>
    facts.catalog.protected.some((text) => isSubject(text, facts)) ? "The catalogue protects this subject." : null,
};

export const knownSelf: Guard = {
  code: "own_account_unreadable",
  why: "A credential that changes its own account can lock itself out in the middle of a plan.",
  check: (_step, { self }) =>
    self.kind === "unreadable" ? `Whose the credential is could not be read (${self.reason}): ${self.detail}` : null,
};

export const ownAccount: Guard = {
  code: "own_account",
  why: "A credential that changes its own account can lock itself out in the middle of a plan.",
  check: (_step, facts) => {
    const { self, ownAccounts } = facts;
    const own = self.kind === "found" && overlap(keysOf(facts), keysOfAccount(self.value, facts.fold));
    if (!own && !ownAccounts.some((text) => isSubject(text, facts))) return null;
    return "The subject is the account behind a configured credential.";
  },
};

export const countedHolders: Guard = {
  code: "owners_unreadable",
  why: "Whether somebody else could undo this must be known and not hoped.",
  check: (step, facts) => {
    const { holders } = facts;
    if (guardedRoles(step, facts).length === 0 || holders?.kind === "found") return null;
    const why = holders?.kind === "unreadable" ? `${holders.reason}: ${holders.detail}` : "no list of them was read";
    return `How many others hold ${roleName(facts)} could not be read (${why}).`;
  },
};

export const keepsAnOwner: Guard = {
  code: "last_owner",
  why: "A tenant without an administrator can only be recovered by the vendor's support.",
  check: (step, facts) => {
    const { holders, subject, account } = facts;
    if (guardedRoles(step, facts).length === 0 || holders?.kind !== "found") return null;
    const others = holders.value.filter((id) => id !== subject.id && id !== account?.id);
    return others.length === 0 ? `The subject is the last active one who holds ${roleName(facts)}.` : null;
  },
};

export const GUARDS: readonly Guard[] = [protectedSubject, knownSelf, ownAccount, countedHolders, keepsAnOwner];

/** The first guard that refuses the step, or null. Exit 13, whatever the policy says. */
export function guardStep(step: WriteStep, facts: GuardFacts): Refusal | null {
  for (const { code, why, check } of GUARDS) {
    const detail = check(step, facts);
    if (detail === null) continue;
    const message = `Step ${step.step} (${step.kind}) on ${facts.tenant} is refused. ${detail}`;
    return { code, exit: 13, message, hint: `${why} No policy relaxes this.` };
  }
  return null;
}

/** Roles whose holders must be counted before the step: the elevated role that it would take away. */
export function guardedRoles(step: WriteStep, facts: Pick<GuardFacts, "catalog" | "heldRole">): string[] {
  const { catalog, heldRole } = facts;
  if (heldRole === null || !isElevated(catalog, heldRole) || !takesRole(step, catalog, heldRole)) return [];
  return [heldRole];
}

function takesRole(step: WriteStep, catalog: Catalog, held: string): boolean {
  if (step.kind !== "set_role") {
    return step.kind === "suspend_account" || step.kind === "remove_member" || step.kind === "delete_account";
  }
  const from = roleById(catalog, held);
  const to = roleById(catalog, step.role);
  return step.role !== held && !(from && to && to.privilege >= from.privilege);
}

function roleName({ catalog, heldRole }: GuardFacts): string {
  return heldRole === null ? "the role" : (roleById(catalog, heldRole)?.name ?? heldRole);
}

/** The text may be an address, a login or an id; whichever it is, it names the subject if any key agrees. */
function isSubject(text: string, facts: GuardFacts): boolean {
  const { fold } = facts;
  const address = normaliseEmail(text);
  const email = address.ok ? address.email : text;
  return overlap(keysOf(facts), [...fold({ email }), ...fold({ login: text }), ...fold({ id: text })]);
}

function keysOf({ subject, account, fold }: GuardFacts): string[] {
  return [...fold(subject), ...(account ? keysOfAccount(account, fold) : [])];
}

function keysOfAccount({ id, email, login }: Partial<Account>, fold: GuardFacts["fold"]): string[] {
  return fold({ ...(id !== undefined && { id }), ...(email && { email }), ...(login && { login }) });
}

function overlap(some: readonly string[], others: readonly string[]): boolean {
  return some.some((key) => others.includes(key));
}

/** How keys are compared where the provider has no rule of its own: addresses and logins without ASCII case, ids exactly. */
export function foldKeys({ email, login, id }: SubjectKey): string[] {
  return [
    ...(email === undefined ? [] : [`email:${foldEmail(email)}`]),
    ...(login === undefined ? [] : [`login:${foldEmail(login)}`]),
    ...(id === undefined ? [] : [`id:${id}`]),
  ];
}
