import { addMember, removeMember } from "./access.ts";
import type { Change, Outcome } from "./outcome.ts";
import { about } from "./outcome.ts";
import { newUser, setRole, setStatus } from "./people.ts";
import { accountView, invitationView } from "./views.ts";
import type { Group, Invitation, User, World } from "./world.ts";
import { holderOf, sameAddress } from "./world.ts";

/** The newest invitation of the address; an open one before all others. */
function invitationOf(world: World, email: string): Invitation | undefined {
  const all = world.invitations.filter((one) => sameAddress(one.email, email));
  return all.find((one) => one.state === "pending") ?? all.at(-1);
}

/**
 * The invited person redeems, with the account of the address invited or of another one. An account that exists
 * already joins as it is; a new one gets the role of the invitation.
 */
export function accept(world: World, change: Change, email: string, as: string = email): Outcome {
  const say = about(`invitation:${email.toLowerCase()}`);
  const invitation = open(world, say, email);
  if ("answer" in invitation) return invitation;
  let user = holderOf(world, as);
  if (user === undefined) {
    user = newUser(change, as, invitation.role);
    world.users.push(user);
  }
  world.sessions.push({ id: change.id("ses"), user_id: user.id });
  invitation.state = "accepted";
  invitation.accepted_by = user.id;
  invitation.version = change.version();
  return say.done(200, invitationView(world, invitation));
}

/** The invited person says no, or the time to accept runs out. */
export function close(world: World, change: Change, email: string, state: "declined" | "expired"): Outcome {
  const say = about(`invitation:${email.toLowerCase()}`);
  const invitation = open(world, say, email);
  if ("answer" in invitation) return invitation;
  invitation.state = state;
  invitation.version = change.version();
  return say.done(200, invitationView(world, invitation));
}

function open(world: World, say: ReturnType<typeof about>, email: string): Invitation | Outcome {
  const invitation = invitationOf(world, email);
  if (invitation === undefined) return say.refuse(404, "invitation_not_found", `Nobody invited ${email}.`);
  if (invitation.state !== "pending")
    return say.refuse(409, "invitation_closed", `The invitation of ${email} is ${invitation.state}.`);
  return invitation;
}

/** Whether an open invitation ran out by `now`. */
export function isDue(invitation: Invitation, now: string): boolean {
  const { state, accept_by } = invitation;
  return state === "pending" && accept_by !== null && Date.parse(accept_by) <= Date.parse(now);
}

/** Closes what ran out by `now`. @returns the addresses whose invitations ended */
export function expireDue(world: World, change: Pick<Change, "now" | "version">): string[] {
  const due = world.invitations.filter((one) => isDue(one, change.now));
  for (const invitation of due) {
    invitation.state = "expired";
    invitation.version = change.version();
  }
  return due.map((one) => one.email);
}

export function editRole(world: World, change: Change, who: string, role: string): Outcome {
  const user = named(world, who);
  return "answer" in user ? user : setRole(world, change, user.id, role);
}

export function editGroup(world: World, change: Change, who: string, op: "add" | "remove", name: string): Outcome {
  const user = named(world, who);
  if ("answer" in user) return user;
  const group = world.groups.find((one) => one.name === name || one.id === name);
  if (group === undefined) return noGroup(world.groups, name);
  return op === "add" ? addMember(world, change, group.id, user.id) : removeMember(world, change, group.id, user.id);
}

function noGroup(groups: readonly Group[], name: string): Outcome {
  const names = groups.map((group) => group.name).join(", ");
  return about(`group:${name}`).refuse(404, "group_not_found", `There is no group ${name}. There are: ${names}.`);
}

export type UserEdit = { op: "suspend" | "restore" | "delete" } | { op: "rename"; to: string };

export function editUser(world: World, change: Change, who: string, edit: UserEdit): Outcome {
  const user = named(world, who);
  if ("answer" in user) return user;
  if (edit.op === "rename") return rename(world, change, user, edit.to);
  const status = ({ suspend: "suspended", restore: "active", delete: "deleted" } as const)[edit.op];
  return setStatus(world, change, user.id, status);
}

function rename(world: World, change: Change, user: User, to: string): Outcome {
  const say = about(`user:${user.id}/account`);
  const holder = holderOf(world, to);
  if (holder !== undefined && holder !== user)
    return say.refuse(409, "address_taken", `The account ${holder.id} holds the address ${to}.`);
  user.email = to;
  user.account_version = change.version();
  return say.done(200, accountView(user), user.account_version);
}

/** Someone by address or id; of accounts that were deleted the newest, and only where nobody else is meant. */
function named(world: World, who: string): User | Outcome {
  const user =
    world.users.find((one) => one.id === who) ??
    holderOf(world, who) ??
    world.users.findLast((one) => sameAddress(one.email, who));
  return user ?? about(`user:${who}`).refuse(404, "user_not_found", `No account has the address or id ${who}.`);
}
