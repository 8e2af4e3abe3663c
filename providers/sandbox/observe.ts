import type { Step, WriteStep } from "../../src/model/plan.ts";
import type { Subject } from "../../src/model/provider.ts";
import type { Authorship, InvitationView, Observed, Reading } from "../../src/model/reading.ts";
import { record } from "./actions.ts";
import type { Invitation, User } from "./answers.ts";
import type { Api } from "./api.ts";
import {
  byEmail,
  byId,
  type Found,
  ignoredFilter,
  masked,
  pick,
  same,
  several,
  type Unreadable,
  unreadable,
  versionOf,
} from "./lookup.ts";

/** Reads the exact direct state of the step's target. */
export async function observe(api: Api, step: Step, subject: Subject): Promise<Reading<Observed>> {
  switch (step.kind) {
    case "invite":
    case "wait_for_acceptance":
    case "cancel_invitation":
      return subject.email === undefined ? unbound(step.kind) : invitationOf(api, subject.email);
    case "create_account":
      return subject.email === undefined ? unbound(step.kind) : holderState(await byEmail(api, subject.email));
  }
  if (subject.id === undefined) return unbound(step.kind);
  switch (step.kind) {
    case "set_role":
      return roleOf(api, subject.id);
    case "add_group":
    case "remove_group":
      return membershipOf(api, step.group.id, subject.id);
    case "assign_license":
    case "remove_license":
      return assignmentOf(api, step.license.id, subject.id);
    case "revoke_sessions":
      return countOf(await api.sessions(subject.id), "sessions");
    case "revoke_credentials":
      return countOf(await api.credentials(subject.id), "credentials");
    default:
      return accountState(await byId(api, subject.id));
  }
}

function unbound(kind: string): Unreadable {
  return unreadable("malformed", `${kind} has nothing to look for: the subject lacks the key that it needs.`);
}

/** The newest invitation first, then the account: whoever is seen to have accepted is then seen to be there, too. */
async function invitationOf(api: Api, email: string): Promise<Reading<InvitationView>> {
  const invitations = await api.invitations(email);
  if (invitations.kind === "unreadable") return invitations;
  const users = await api.users([["email", email]]);
  if (users.kind === "unreadable") return users;
  if (![...invitations.items, ...users.items].every((item) => same(item.email, email))) return ignoredFilter("email");
  const newest = invitations.items[0];
  const holder = pick(users.items);
  if (holder === "several") return several(email);
  return {
    kind: "found",
    value: { of: "invitation", invitation: newest === undefined ? null : viewOf(newest), account: holderOf(holder) },
    ...(newest === undefined ? {} : { version: newest.etag }),
  };
}

function viewOf(invitation: Invitation): InvitationView["invitation"] {
  const { id, state, role, accepted_by, mailed } = invitation;
  return { id, status: state, role, accepted_by, mailed };
}

function holderOf(user: User | undefined): InvitationView["account"] {
  return user === undefined ? null : { id: user.id, email: user.email, status: user.status };
}

/** Who was deleted held the address once; it is free again. */
function holderState(found: Found): Reading<Observed> {
  const gone = found.kind === "found" && found.value.status === "deleted";
  return gone ? { kind: "absent", proof: "complete_scan" } : accountState(found);
}

function accountState(found: Found): Reading<Observed> {
  if (found.kind !== "found") return found;
  const { id, status, restore_until } = found.value;
  const value = { of: "account" as const, id, status, ...(restore_until === null ? {} : { restore_until }) };
  return { ...found, value };
}

async function roleOf(api: Api, id: string): Promise<Reading<Observed>> {
  const got = await api.role(id);
  if (got.kind === "unreadable") return got;
  // Every account has a role, so no 404 here proves that there is none.
  if (got.kind === "missing") return masked(`the role of ${id}`, got.code);
  if (got.value.user_id !== id) return unreadable("malformed", `The tenant answered with another account than ${id}.`);
  return { kind: "found", value: { of: "role", role: got.value.role }, ...versionOf(got) };
}

async function membershipOf(api: Api, groupId: string, id: string): Promise<Reading<Observed>> {
  const got = await api.membership(groupId, id);
  if (got.kind === "unreadable") return got;
  if (got.kind === "missing")
    return got.code === "not_a_member" ? absent(api, id) : masked(`the membership of ${id} in ${groupId}`, got.code);
  if (got.value.user_id !== id || got.value.group_id !== groupId)
    return unreadable("malformed", `The tenant answered with another membership than that of ${id} in ${groupId}.`);
  // Inherited alone: nothing is written on this group, and nothing could be taken from it.
  if (!got.value.direct) return { kind: "absent", proof: "exact" };
  return { kind: "found", value: { of: "membership", member: true }, ...versionOf(got) };
}

async function assignmentOf(api: Api, licenseId: string, id: string): Promise<Reading<Observed>> {
  const got = await api.assignment(licenseId, id);
  if (got.kind === "unreadable") return got;
  if (got.kind === "missing")
    return got.code === "not_assigned" ? absent(api, id) : masked(`licence ${licenseId} of ${id}`, got.code);
  if (got.value.user_id !== id || got.value.license_id !== licenseId || !got.value.assigned)
    return unreadable("malformed", `The tenant answered with another assignment than that of ${licenseId} to ${id}.`);
  return { kind: "found", value: { of: "license", assigned: true }, ...versionOf(got) };
}

/** The documented 404, believed only where the same token sees the account itself. */
async function absent(api: Api, id: string): Promise<Reading<Observed>> {
  const control = await api.user(id);
  if (control.kind === "unreadable") return control;
  if (control.kind === "missing") return masked(`the account ${id}, read as a control`, control.code);
  return { kind: "absent", proof: "exact" };
}

function countOf(listed: Awaited<ReturnType<Api["sessions"]>>, of: "sessions" | "credentials"): Reading<Observed> {
  if (listed.kind === "unreadable") return listed;
  const count = listed.items.length;
  return count === 0 ? { kind: "absent", proof: "complete_scan" } : { kind: "found", value: { of, count } };
}

/**
 * Whose the present state is: that of the newest event that changed it, or another's where all that the record has of
 * our request is that it was refused. The audit log is read from the primary and whole; where it has neither, it names
 * nobody.
 */
export async function authorship(
  api: Api,
  step: WriteStep,
  subject: Subject,
  key: string,
): Promise<Reading<Authorship>> {
  const about = record(step, subject);
  if (about === undefined) return unbound(step.kind);
  const events = await api.audit(about.target);
  if (events.kind === "unreadable") return events;
  if (!events.items.every((event) => event.target === about.target)) return ignoredFilter("target");
  const last = events.items.find((event) => event.applied && about.actions.includes(event.action));
  const refused = events.items.some((event) => event.idempotency_key === key);
  if (last === undefined && !refused) return { kind: "absent", proof: "complete_scan" };
  return { kind: "found", value: last?.idempotency_key === key ? "ours" : "theirs" };
}
