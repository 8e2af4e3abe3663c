import type { Group, Invitation, License, Member, User, World } from "./world.ts";
import { membersOf } from "./world.ts";

/** One line of the record of what tenant clients sent. */
export interface RequestRow {
  seq: number;
  at: string;
  method: string;
  /** As it came, with the query. */
  path: string;
  /** The change that was asked for; null on reads. */
  action: string | null;
  /** The class of the token; null where it is none of ours. */
  token: string | null;
  idempotency_key: string | null;
  if_match: string | null;
  /** What the server meant to answer, also where the answer was then cut off; null while there is none. */
  status: number | null;
  /** Whether this very request changed the tenant, also when it did so after its answer. */
  applied: boolean;
  request_id: string;
}

export function accountView(user: User) {
  return {
    id: user.id,
    email: user.email,
    status: user.status,
    restore_until: user.restore_until,
    etag: user.account_version,
  };
}

export function userView(user: User) {
  return { ...accountView(user), role: user.role };
}

export function roleView(user: User) {
  return { user_id: user.id, role: user.role };
}

export function groupView(group: Group) {
  return { id: group.id, name: group.name, membership: group.membership, nested_in: group.nested_in };
}

/** Direct membership and what is inherited, told apart. */
export function membershipView(world: World, group: Group, userId: string) {
  const via = membersOf(world, group)
    .filter((member) => member.user_id === userId)
    .map((member) => member.via);
  return { group_id: group.id, user_id: userId, direct: via.includes("direct"), via };
}

export function licenseView(license: License) {
  return { id: license.id, name: license.name, requires: license.requires };
}

export function assignmentView(license: License, userId: string) {
  const assigned = license.members.some((member) => member.user_id === userId);
  return { license_id: license.id, user_id: userId, assigned };
}

export function invitationView(world: World, invitation: Invitation) {
  const redeemer = world.users.find((user) => user.id === invitation.accepted_by);
  return {
    id: invitation.id,
    email: invitation.email,
    role: invitation.role,
    state: invitation.state,
    mailed: invitation.send_email,
    accept_by: invitation.accept_by,
    accepted_by: redeemer === undefined ? null : { id: redeemer.id, email: redeemer.email },
    created_at: invitation.created_at,
    etag: invitation.version,
  };
}

/** The whole truth about a tenant, in order. */
export interface StateDocument {
  users: { id: string; email: string; role: string; status: string }[];
  groups: { id: string; name: string; members: Member[] }[];
  invitations: { id: string; email: string; role: string; state: string; accepted_by: string | null }[];
  licenses: { id: string; members: string[] }[];
  sessions: { user_id: string }[];
  mails: { seq: number; to: string; kind: string }[];
  requests: RequestRow[];
}

export function stateDocument(world: World, requests: readonly RequestRow[]): StateDocument {
  return {
    users: world.users.map(({ id, email, role, status }) => ({ id, email, role, status })),
    groups: world.groups.map((group) => ({ id: group.id, name: group.name, members: membersOf(world, group) })),
    invitations: world.invitations.map(({ id, email, role, state, accepted_by }) => ({
      id,
      email,
      role,
      state,
      accepted_by,
    })),
    licenses: world.licenses.map(({ id, members }) => ({ id, members: members.map((member) => member.user_id) })),
    sessions: world.sessions.map(({ user_id }) => ({ user_id })),
    mails: world.mails.map((mail) => ({ ...mail })),
    requests: requests.map((row) => ({ ...row })),
  };
}
