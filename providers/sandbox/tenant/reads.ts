import type { Answer } from "./outcome.ts";
import { answer, problem } from "./outcome.ts";
import { page } from "./pages.ts";
import type { AuditEvent } from "./store.ts";
import {
  accountView,
  assignmentView,
  groupView,
  invitationView,
  licenseView,
  membershipView,
  roleView,
  userView,
} from "./views.ts";
import type { Group, License, TokenClass, User, World } from "./world.ts";
import { membersOf, ROLES, sameAddress } from "./world.ts";

/** What a read may look at. */
export interface Sight {
  world: World;
  token: TokenClass;
  audit: readonly AuditEvent[];
  params: readonly string[];
  query: URLSearchParams;
}

export interface ReadRoute {
  segments: readonly string[];
  /** Answered by a replica, which may lag; else by the primary. */
  replica: boolean;
  run(sight: Sight): Answer;
}

function read(path: string, run: (sight: Sight) => Answer, replica = true): ReadRoute {
  return { segments: path.split("/").slice(1), replica, run };
}

/** Every address to read from. The audit log and `/me` are read from the primary and never lag. */
export const READS: readonly ReadRoute[] = [
  read("/me", me, false),
  read("/audit", audit, false),
  read("/roles", ({ query }) => page(ROLES, query, (role) => role.id)),
  read("/users", users),
  read("/users/:id", (sight) =>
    withUser(sight, sight.params[0], (user) => answer(200, accountView(user), { etag: user.account_version })),
  ),
  read("/users/:id/role", (sight) =>
    withUser(sight, sight.params[0], (user) => answer(200, roleView(user), { etag: user.role_version })),
  ),
  read("/users/:id/sessions", (sight) => ofUser(sight, "sessions")),
  read("/users/:id/credentials", (sight) => ofUser(sight, "credentials")),
  read("/users/:id/groups", memberships),
  read("/groups", ({ world, query }) => page(world.groups.map(groupView), query, (group) => group.id)),
  read("/groups/:id", (sight) => withGroup(sight, (group) => answer(200, groupView(group)))),
  read("/groups/:id/members", (sight) =>
    withGroup(sight, (group) =>
      page(membersOf(sight.world, group), sight.query, (member) => `${member.user_id} ${member.via}`),
    ),
  ),
  read("/groups/:id/members/:user", membership),
  read("/licenses", ({ world, query }) => page(world.licenses.map(licenseView), query, (license) => license.id)),
  read("/licenses/:id/assignments", (sight) =>
    withLicense(sight, (license) =>
      page(
        license.members.map(({ user_id }) => ({ user_id })),
        sight.query,
        (member) => member.user_id,
      ),
    ),
  ),
  read("/licenses/:id/assignments/:user", assignment),
  read("/invitations", invitations),
  read("/invitations/:id", invitation),
];

/** The account behind the token: a person's where the tenant says so, else an app's; the read token has none. */
function me({ world, token }: Sight): Answer {
  const user = world.users.find((one) => one.id === world.token_users[token]);
  if (user !== undefined) return answer(200, accountView(user), { etag: user.account_version });
  if (token === "read") return problem(404, "no_account", "This token belongs to no account.");
  return answer(200, { id: `app_${token}`, email: null, status: "active", restore_until: null, etag: `"app"` });
}

function audit({ audit: events, query }: Sight): Answer {
  const key = query.get("key");
  const target = query.get("target");
  const wanted = events.filter(
    (event) => (key === null || event.idempotency_key === key) && (target === null || event.target === target),
  );
  return page(wanted.toReversed(), query, (event) => event.id);
}

function users({ world, query }: Sight): Answer {
  const email = query.get("email");
  const roles = query.getAll("role");
  const status = query.get("status");
  const wanted = world.users.filter(
    (user) =>
      (email === null || sameAddress(user.email, email)) &&
      (roles.length === 0 || roles.includes(user.role)) &&
      (status === null || user.status === status),
  );
  return page(wanted.toReversed().map(userView), query, (user) => user.id);
}

function withUser({ world }: Sight, id: string | undefined, run: (user: User) => Answer): Answer {
  const user = world.users.find((one) => one.id === id);
  return user === undefined ? problem(404, "user_not_found", `There is no account ${id}.`) : run(user);
}

function withGroup({ world, params }: Sight, run: (group: Group) => Answer): Answer {
  const group = world.groups.find((one) => one.id === params[0]);
  return group === undefined ? problem(404, "group_not_found", `There is no group ${params[0]}.`) : run(group);
}

function withLicense({ world, params }: Sight, run: (license: License) => Answer): Answer {
  const license = world.licenses.find((one) => one.id === params[0]);
  return license === undefined ? problem(404, "license_not_found", `There is no licence ${params[0]}.`) : run(license);
}

function ofUser(sight: Sight, what: "sessions" | "credentials"): Answer {
  return withUser(sight, sight.params[0], (user) =>
    page(
      sight.world[what].filter((one) => one.user_id === user.id),
      sight.query,
      (one) => one.id,
    ),
  );
}

/** All groups that someone is in, each with the ways in which they are. */
function memberships(sight: Sight): Answer {
  return withUser(sight, sight.params[0], (user) =>
    page(
      sight.world.groups
        .map((group) => ({ ...membershipView(sight.world, group, user.id), name: group.name }))
        .filter((membership) => membership.via.length > 0),
      sight.query,
      (membership) => membership.group_id,
    ),
  );
}

/** Only direct membership has a version; a membership that is inherited alone is shown without one. */
function membership(sight: Sight): Answer {
  return withGroup(sight, (group) =>
    withUser(sight, sight.params[1], (user) => {
      const view = membershipView(sight.world, group, user.id);
      if (view.via.length === 0) return problem(404, "not_a_member", `${user.id} is no member of ${group.name}.`);
      const held = group.members.find((member) => member.user_id === user.id);
      return answer(200, view, view.direct && held !== undefined ? { etag: held.version } : {});
    }),
  );
}

function assignment(sight: Sight): Answer {
  return withLicense(sight, (license) =>
    withUser(sight, sight.params[1], (user) => {
      const held = license.members.find((member) => member.user_id === user.id);
      if (held === undefined) return problem(404, "not_assigned", `${user.id} does not hold ${license.name}.`);
      return answer(200, assignmentView(license, user.id), { etag: held.version });
    }),
  );
}

function invitations({ world, query }: Sight): Answer {
  const email = query.get("email");
  const state = query.get("state");
  const wanted = world.invitations.filter(
    (one) => (email === null || sameAddress(one.email, email)) && (state === null || one.state === state),
  );
  return page(
    wanted.toReversed().map((one) => invitationView(world, one)),
    query,
    (one) => one.id,
  );
}

function invitation({ world, params }: Sight): Answer {
  const found = world.invitations.find((one) => one.id === params[0]);
  if (found === undefined) return problem(404, "invitation_not_found", `There is no invitation ${params[0]}.`);
  return answer(200, invitationView(world, found), { etag: found.version });
}
