import type { Change, Outcome } from "./outcome.ts";
import { about, guarded, insufficient } from "./outcome.ts";
import { accountView, invitationView, roleView } from "./views.ts";
import type { Invitation, User, World } from "./world.ts";
import { holderOf, isElevated, sameAddress } from "./world.ts";

const RESTORE_MS = 30 * 24 * 60 * 60 * 1000;

export function invite(
  world: World,
  change: Change,
  body: { email: string; role: string; send_email: boolean; accept_by?: string | undefined },
): Outcome {
  const say = about(`invitation:${body.email.toLowerCase()}`);
  if (change.token === "ordinary" && isElevated(body.role)) return insufficient(say, `Inviting as ${body.role}`);
  if (holderOf(world, body.email) !== undefined)
    return say.refuse(409, "already_member", `An account holds the address ${body.email}.`);
  if (pendingFor(world, body.email) !== undefined)
    return say.refuse(409, "already_invited", `An invitation of ${body.email} is open.`);
  const invitation: Invitation = {
    id: change.id("inv"),
    email: body.email,
    role: body.role,
    state: "pending",
    send_email: body.send_email,
    accept_by: body.accept_by ?? null,
    accepted_by: null,
    created_at: change.now,
    version: change.version(),
  };
  world.invitations.push(invitation);
  if (body.send_email) mail(world, body.email, "invitation");
  return say.done(201, { ...invitationView(world, invitation), redeem_url: change.redeemUrl() }, invitation.version);
}

export function pendingFor(world: World, email: string): Invitation | undefined {
  return world.invitations.find((one) => one.state === "pending" && sameAddress(one.email, email));
}

export function mail(world: World, to: string, kind: string): void {
  world.mails.push({ seq: world.mails.length + 1, to, kind });
}

export function cancelInvitation(world: World, change: Change, id: string): Outcome {
  const invitation = world.invitations.find((one) => one.id === id);
  const say = about(`invitation:${invitation?.email.toLowerCase() ?? id}`);
  if (invitation === undefined) return say.refuse(404, "invitation_not_found", `There is no invitation ${id}.`);
  if (invitation.state === "accepted") return say.refuse(409, "already_accepted", `Invitation ${id} was accepted.`);
  if (invitation.state !== "pending") return say.same(invitationView(world, invitation), invitation.version);
  const stop = guarded(say, change, invitation.version);
  if (stop !== undefined) return stop;
  invitation.state = "cancelled";
  invitation.version = change.version();
  return say.done(200, invitationView(world, invitation), invitation.version);
}

export function setRole(world: World, change: Change, id: string, role: string): Outcome {
  const say = about(`user:${id}/role`);
  const user = world.users.find((one) => one.id === id);
  if (user === undefined) return say.refuse(404, "user_not_found", `There is no account ${id}.`);
  if (change.token === "ordinary" && (isElevated(role) || isElevated(user.role)))
    return insufficient(say, `Setting the role of ${id} from ${user.role} to ${role}`);
  if (user.status === "deleted") return say.refuse(409, "account_deleted", `The account ${id} is deleted.`);
  const stop = guarded(say, change, user.role_version);
  if (stop !== undefined) return stop;
  if (user.role === role && change.token !== null) return say.same(roleView(user), user.role_version);
  user.role = role;
  user.role_version = change.version();
  return say.done(200, roleView(user), user.role_version);
}

export function createAccount(world: World, change: Change, body: { email: string; role: string }): Outcome {
  const say = about(`account:${body.email.toLowerCase()}`);
  if (change.token === "ordinary" && isElevated(body.role)) return insufficient(say, `An account as ${body.role}`);
  if (holderOf(world, body.email) !== undefined)
    return say.refuse(409, "already_member", `An account holds the address ${body.email}.`);
  const user = newUser(change, body.email, body.role);
  world.users.push(user);
  return say.done(201, accountView(user), user.account_version);
}

export function newUser(change: Change, email: string, role: string): User {
  return {
    id: change.id("usr"),
    email,
    role,
    status: "active",
    restore_until: null,
    role_version: change.version(),
    account_version: change.version(),
  };
}

/** Suspends, restores or deletes. Role, groups and licences stay as they are; sessions end where access ends. */
export function setStatus(world: World, change: Change, id: string, status: User["status"]): Outcome {
  const say = about(`user:${id}/account`);
  const user = world.users.find((one) => one.id === id);
  if (user === undefined) return say.refuse(404, "user_not_found", `There is no account ${id}.`);
  const stop = guarded(say, change, user.account_version);
  if (stop !== undefined) return stop;
  if (user.status === status) return say.same(accountView(user), user.account_version);
  if (user.status === "deleted" && status === "suspended")
    return say.refuse(409, "account_deleted", `The account ${id} is deleted.`);
  if (user.status === "deleted" && (user.restore_until ?? "") < change.now)
    return say.refuse(409, "restore_expired", `The account ${id} could be restored until ${user.restore_until}.`);
  if (user.status === "deleted" && holderOf(world, user.email) !== undefined)
    return say.refuse(409, "address_taken", `Another account holds the address ${user.email} now.`);
  user.status = status;
  user.restore_until = status === "deleted" ? new Date(Date.parse(change.now) + RESTORE_MS).toISOString() : null;
  user.account_version = change.version();
  if (status !== "active") world.sessions = world.sessions.filter((session) => session.user_id !== id);
  if (status === "deleted") world.credentials = world.credentials.filter((credential) => credential.user_id !== id);
  return say.done(200, accountView(user), user.account_version);
}

/** Ends all sessions, or all credentials that the account itself made. */
export function revokeAll(world: World, id: string, what: "sessions" | "credentials"): Outcome {
  const say = about(`user:${id}/${what}`);
  if (!world.users.some((one) => one.id === id)) return say.refuse(404, "user_not_found", `There is no account ${id}.`);
  const revoked = world[what].filter((one) => one.user_id === id).length;
  if (revoked === 0) return say.same({ user_id: id, revoked });
  world[what] = world[what].filter((one) => one.user_id !== id);
  return say.done(200, { user_id: id, revoked });
}
