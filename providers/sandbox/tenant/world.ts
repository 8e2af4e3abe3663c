import { z } from "zod";

/** The classes of token that a tenant client may hold. */
export const TOKEN_CLASSES = ["read", "ordinary", "privileged"] as const;
export type TokenClass = (typeof TOKEN_CLASSES)[number];

/** The roles of an account, least first. Setting or taking an elevated one needs the privileged token. */
export const ROLES = [
  { id: "guest", name: "guest", elevated: false },
  { id: "member", name: "member", elevated: false },
  { id: "admin", name: "admin", elevated: true },
  { id: "owner", name: "owner", elevated: true },
  { id: "billing", name: "billing", elevated: true },
] as const;

export function isRole(id: string): boolean {
  return ROLES.some((role) => role.id === id);
}

export function isElevated(id: string): boolean {
  return ROLES.some((role) => role.id === id && role.elevated);
}

export const MEMBERSHIPS = ["direct", "dynamic", "synced", "nested"] as const;
export const ACCOUNT_STATES = ["active", "suspended", "deleted"] as const;
export const INVITATION_STATES = ["pending", "accepted", "declined", "expired", "cancelled"] as const;

const held = z.strictObject({ user_id: z.string(), version: z.string() });
const user = z.strictObject({
  id: z.string(),
  email: z.string(),
  role: z.string(),
  status: z.enum(ACCOUNT_STATES),
  /** Until when a deleted account can be brought back. */
  restore_until: z.string().nullable(),
  role_version: z.string(),
  account_version: z.string(),
});
const group = z.strictObject({
  id: z.string(),
  name: z.string(),
  membership: z.enum(MEMBERSHIPS),
  sensitive: z.boolean(),
  /** The group whose members the members of this one become, too. */
  nested_in: z.string().nullable(),
  members: z.array(held),
});
const license = z.strictObject({
  id: z.string(),
  name: z.string(),
  requires: z.array(z.string()),
  members: z.array(held),
});
const invitation = z.strictObject({
  id: z.string(),
  email: z.string(),
  role: z.string(),
  state: z.enum(INVITATION_STATES),
  send_email: z.boolean(),
  accept_by: z.string().nullable(),
  accepted_by: z.string().nullable(),
  created_at: z.string(),
  version: z.string(),
});
const ofUser = z.strictObject({ id: z.string(), user_id: z.string() });

/** Everything that a tenant client can read and change. A world is never changed in place: each change makes the next. */
export const worldSchema = z.strictObject({
  users: z.array(user),
  groups: z.array(group),
  licenses: z.array(license),
  invitations: z.array(invitation),
  sessions: z.array(ofUser),
  credentials: z.array(ofUser),
  mails: z.array(z.strictObject({ seq: z.number(), to: z.string(), kind: z.string() })),
  /** The user behind a token, where it is a person's; other tokens belong to apps. */
  token_users: z.strictObject({
    read: z.string().optional(),
    ordinary: z.string().optional(),
    privileged: z.string().optional(),
  }),
});

export type World = z.infer<typeof worldSchema>;
export type User = World["users"][number];
export type Group = World["groups"][number];
export type License = World["licenses"][number];
export type Invitation = World["invitations"][number];

/** Addresses are compared without case. */
export function sameAddress(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

/** The account that holds the address now; one that was deleted does not. */
export function holderOf(world: World, email: string): User | undefined {
  return world.users.find((found) => found.status !== "deleted" && sameAddress(found.email, email));
}

export interface Member {
  user_id: string;
  /**
   * `direct` where it is written on this very group; else the id of the group that it comes from: one nested in this
   * group, or this group itself where a rule or a directory fills it.
   */
  via: string;
}

/** Direct members first, then those inherited. A person may be both and is then listed twice. */
export function membersOf(world: World, group: Group, seen: readonly string[] = []): Member[] {
  if (seen.includes(group.id)) return [];
  const inherited = world.groups
    .filter((child) => child.nested_in === group.id)
    .flatMap((child) => {
      const ids = membersOf(world, child, [...seen, group.id]).map((member) => member.user_id);
      return [...new Set(ids)].map((user_id) => ({ user_id, via: child.id }));
    });
  return [...ownMembers(world, group), ...inherited];
}

function ownMembers(world: World, group: Group): Member[] {
  if (group.membership === "dynamic")
    return world.users.filter((user) => user.status === "active").map((user) => ({ user_id: user.id, via: group.id }));
  const via = group.membership === "synced" ? group.id : "direct";
  return group.members.map(({ user_id }) => ({ user_id, via }));
}
