import { z } from "zod";
import { invalid } from "../../../src/model/errors.ts";
import type { KnownGroup } from "./standard.ts";
import { DEFAULT_SEED, GROUPS, PRO } from "./standard.ts";
import type { Member, World } from "./world.ts";
import { ACCOUNT_STATES, INVITATION_STATES, isRole, MEMBERSHIPS, sameAddress } from "./world.ts";

const id = z.string().regex(/^[A-Za-z0-9._:-]{1,64}$/, "letters, digits and . _ : - only");
const email = z.string().regex(/^[^\s@]+@[^\s@]+$/, "an e-mail address");
const role = z.string().refine(isRole, "guest, member, admin, owner or billing");
/** Someone by address or id; or as the state document lists a member. */
const person = z.union([z.string(), z.strictObject({ user_id: z.string(), via: z.string() })]);

/**
 * What a tenant starts with. What `sandbox state --json` prints is a seed as it stands: the mails and requests in it
 * are history and are not taken over, and inherited members follow from the groups.
 */
export const seedSchema = z.strictObject({
  users: z
    .array(z.strictObject({ id: id.optional(), email, role, status: z.enum(ACCOUNT_STATES).default("active") }))
    .default([]),
  groups: z
    .array(
      z.strictObject({
        id,
        name: z.string().min(1),
        membership: z.enum(MEMBERSHIPS).optional(),
        sensitive: z.boolean().optional(),
        nested_in: id.nullable().optional(),
        members: z.array(person).default([]),
      }),
    )
    .optional(),
  licenses: z
    .array(
      z.strictObject({
        id,
        name: z.string().min(1).optional(),
        requires: z.array(id).optional(),
        members: z.array(z.string()).default([]),
      }),
    )
    .optional(),
  invitations: z
    .array(
      z.strictObject({
        id: id.optional(),
        email,
        role,
        state: z.enum(INVITATION_STATES).default("pending"),
        accept_by: z.iso.datetime().nullable().default(null),
        accepted_by: z.string().nullable().default(null),
      }),
    )
    .default([]),
  sessions: z.array(z.strictObject({ user_id: z.string() })).default([]),
  credentials: z.array(z.strictObject({ user_id: z.string() })).default([]),
  token_users: z
    .strictObject({ read: z.string().optional(), ordinary: z.string().optional(), privileged: z.string().optional() })
    .default({}),
  mails: z.array(z.unknown()).optional(),
  requests: z.array(z.unknown()).optional(),
});
export type Seed = z.input<typeof seedSchema>;

/** Where fresh ids and versions come from; the store keeps the counts. */
export interface Mint {
  version(): string;
  id(kind: "usr" | "inv" | "ses" | "cred"): string;
}

/**
 * Builds the first world of a tenant.
 * @throws ProvisionError `sandbox_seed` (exit 2) with every finding, where the seed does not fit.
 */
export function worldFrom(input: unknown, mint: Mint, now: string): World {
  const parsed = seedSchema.safeParse(input ?? DEFAULT_SEED);
  if (!parsed.success)
    throw unfit(
      parsed.error.issues.map((issue) => ({ path: issue.path.map(String).join("."), message: issue.message })),
    );
  const seed = parsed.data;
  const given = new Set<string | undefined>([...seed.users, ...seed.invitations].map((one) => one.id));
  const fresh = (kind: "usr" | "inv"): string => {
    const id = mint.id(kind);
    return given.has(id) ? fresh(kind) : id;
  };
  const users = seed.users.map((user) => ({
    id: user.id ?? fresh("usr"),
    email: user.email,
    role: user.role,
    status: user.status,
    restore_until: null,
    role_version: mint.version(),
    account_version: mint.version(),
  }));
  const problems: { path: string; message: string }[] = [];
  const idOf = (who: string, path: string): string => {
    const found = users.find((user) => user.id === who || (user.status !== "deleted" && sameAddress(user.email, who)));
    if (found === undefined) problems.push({ path, message: `nobody among the users is ${who}` });
    return found?.id ?? who;
  };
  const hold = (who: string, path: string) => ({ user_id: idOf(who, path), version: mint.version() });
  const world: World = {
    users,
    groups: (seed.groups ?? GROUPS.map((known) => ({ ...known, members: [] }))).map((group) => ({
      ...traits(group),
      members: ownOnly(group.id, group.members).map((who) => hold(who, `groups.${group.name}`)),
    })),
    licenses: (seed.licenses ?? [{ ...PRO, members: [] }]).map((license) => ({
      id: license.id,
      name: license.name ?? (license.id === PRO.id ? PRO.name : license.id),
      requires: license.requires ?? (license.id === PRO.id ? PRO.requires : []),
      members: license.members.map((who) => hold(who, `licenses.${license.id}`)),
    })),
    invitations: seed.invitations.map((invitation) => ({
      ...invitation,
      id: invitation.id ?? fresh("inv"),
      send_email: false,
      created_at: now,
      version: mint.version(),
    })),
    sessions: seed.sessions.map(({ user_id }) => ({ id: mint.id("ses"), user_id: idOf(user_id, "sessions") })),
    credentials: seed.credentials.map(({ user_id }) => ({
      id: mint.id("cred"),
      user_id: idOf(user_id, "credentials"),
    })),
    mails: [],
    token_users: Object.fromEntries(
      Object.entries(seed.token_users).map(([token, who = ""]) => [token, idOf(who, `token_users.${token}`)]),
    ),
  };
  problems.push(...doubles(world));
  if (problems.length > 0) throw unfit(problems);
  return world;
}

function traits(
  group: Pick<KnownGroup, "id" | "name"> & { [K in keyof KnownGroup]?: KnownGroup[K] | undefined },
): KnownGroup {
  const known = GROUPS.find((one) => one.id === group.id);
  return {
    id: group.id,
    name: group.name,
    membership: group.membership ?? known?.membership ?? "direct",
    sensitive: group.sensitive ?? known?.sensitive ?? false,
    nested_in: group.nested_in !== undefined ? group.nested_in : (known?.nested_in ?? null),
  };
}

/** Of members as the state document lists them, those that are kept on the group itself. */
function ownOnly(groupId: string, members: readonly (string | Member)[]): string[] {
  return members
    .filter((member) => typeof member === "string" || member.via === "direct" || member.via === groupId)
    .map((member) => (typeof member === "string" ? member : member.user_id));
}

function doubles(world: World): { path: string; message: string }[] {
  const twice = (path: string, values: string[]) =>
    values
      .filter((value, at) => values.indexOf(value) !== at)
      .map((value) => ({ path, message: `${value} stands twice` }));
  const live = world.users.filter((user) => user.status !== "deleted");
  return [
    ...twice("users", [...world.users.map((user) => user.id), ...live.map((user) => user.email.toLowerCase())]),
    ...twice(
      "groups",
      world.groups.map((group) => group.id),
    ),
    ...twice(
      "licenses",
      world.licenses.map((license) => license.id),
    ),
    ...twice(
      "invitations",
      world.invitations.map((invitation) => invitation.id),
    ),
    ...world.groups.flatMap((group) =>
      twice(
        `groups.${group.name}`,
        group.members.map((member) => member.user_id),
      ),
    ),
  ];
}

function unfit(problems: { path: string; message: string }[]) {
  const list = problems.map((problem) => `${problem.path || "(top)"}: ${problem.message}`).join("; ");
  return invalid(
    "sandbox_seed",
    `The seed of the sandbox tenant does not fit: ${list}.`,
    problems.map((problem) => ({ ...problem, code: "sandbox_seed" })),
    "Correct the seed file, or start without one.",
  );
}
