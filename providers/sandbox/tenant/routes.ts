import { z } from "zod";
import { addMember, assignLicense, removeLicense, removeMember } from "./access.ts";
import type { ActionWord, Answer, Change, Outcome } from "./outcome.ts";
import { problem } from "./outcome.ts";
import { cancelInvitation, createAccount, invite, revokeAll, setRole, setStatus } from "./people.ts";
import type { ReadRoute } from "./reads.ts";
import { READS } from "./reads.ts";
import type { World } from "./world.ts";
import { isRole } from "./world.ts";

/** A change that is ready to run on a draft. */
export type Work = (draft: World, change: Change) => Outcome;

export interface WriteRoute {
  method: string;
  segments: readonly string[];
  action: ActionWord;
  /** @returns the work, or the answer to a body that does not fit */
  prepare(params: readonly string[], body: unknown): Work | Answer;
}

const email = z
  .string()
  .max(254)
  .regex(/^[^\s@]+@[^\s@]+$/, "an e-mail address");
const role = z.string().refine(isRole, "guest, member, admin, owner or billing");
const nothing = z.strictObject({}).optional();

function write<T>(
  route: `${string} ${string}`,
  action: ActionWord,
  schema: z.ZodType<T>,
  work: (draft: World, change: Change, params: readonly [string, string], body: T) => Outcome,
): WriteRoute {
  const [method = "", path = ""] = route.split(" ");
  return {
    method,
    segments: path.split("/").slice(1),
    action,
    prepare([first = "", second = ""], raw) {
      const body = schema.safeParse(raw);
      if (!body.success) return problem(400, "invalid_body", z.prettifyError(body.error));
      return (draft, change) => work(draft, change, [first, second], body.data);
    },
  };
}

const WRITES: readonly WriteRoute[] = [
  write(
    "POST /invitations",
    "invitation.create",
    z.strictObject({ email, role, send_email: z.boolean(), accept_by: z.iso.datetime().optional() }),
    (draft, change, _params, body) => invite(draft, change, body),
  ),
  write("DELETE /invitations/:id", "invitation.cancel", nothing, (draft, change, [id]) =>
    cancelInvitation(draft, change, id),
  ),
  write("POST /users", "account.create", z.strictObject({ email, role }), (draft, change, _params, body) =>
    createAccount(draft, change, body),
  ),
  write("POST /users/:id/suspend", "account.suspend", nothing, (draft, change, [id]) =>
    setStatus(draft, change, id, "suspended"),
  ),
  write("POST /users/:id/restore", "account.restore", nothing, (draft, change, [id]) =>
    setStatus(draft, change, id, "active"),
  ),
  write("DELETE /users/:id", "account.delete", nothing, (draft, change, [id]) =>
    setStatus(draft, change, id, "deleted"),
  ),
  write("PUT /users/:id/role", "role.set", z.strictObject({ role }), (draft, change, [id], body) =>
    setRole(draft, change, id, body.role),
  ),
  write("DELETE /users/:id/sessions", "sessions.revoke", nothing, (draft, _change, [id]) =>
    revokeAll(draft, id, "sessions"),
  ),
  write("DELETE /users/:id/credentials", "credentials.revoke", nothing, (draft, _change, [id]) =>
    revokeAll(draft, id, "credentials"),
  ),
  write("PUT /groups/:id/members/:user", "group.add", nothing, (draft, change, [group, user]) =>
    addMember(draft, change, group, user),
  ),
  write("DELETE /groups/:id/members/:user", "group.remove", nothing, (draft, change, [group, user]) =>
    removeMember(draft, change, group, user),
  ),
  write("PUT /licenses/:id/assignments/:user", "license.assign", nothing, (draft, change, [license, user]) =>
    assignLicense(draft, change, license, user),
  ),
  write("DELETE /licenses/:id/assignments/:user", "license.remove", nothing, (draft, change, [license, user]) =>
    removeLicense(draft, change, license, user),
  ),
];

export type Found =
  | { kind: "read"; route: ReadRoute; params: string[] }
  | { kind: "write"; route: WriteRoute; params: string[] }
  | { kind: "none"; answer: Answer };

/** Finds what a request is for. */
export function route(method: string, pathname: string): Found {
  const parts = pathname.split("/").slice(1).map(decoded);
  const fits = (one: { segments: readonly string[] }) => captured(one.segments, parts) !== undefined;
  const reads = READS.find(fits);
  if (method === "GET" && reads !== undefined)
    return { kind: "read", route: reads, params: captured(reads.segments, parts) ?? [] };
  const writes = WRITES.find((one) => one.method === method && fits(one));
  if (writes !== undefined) return { kind: "write", route: writes, params: captured(writes.segments, parts) ?? [] };
  const known = reads !== undefined || WRITES.some(fits);
  return {
    kind: "none",
    answer: known
      ? problem(405, "method_not_allowed", `${method} is not for ${pathname}.`)
      : problem(404, "unknown_path", `There is nothing at ${pathname}.`),
  };
}

/** The action with what it is about, in the ways that a fault may name it. */
export function labels(world: World, found: Extract<Found, { kind: "write" }>): string[] {
  const { action } = found.route;
  const kind = action.split(".")[0];
  const among = kind === "group" ? world.groups : kind === "license" ? world.licenses : [];
  const target = among.find((one) => one.id === found.params[0]);
  return target === undefined ? [action] : [action, `${action} ${target.name}`, `${action} ${target.id}`];
}

function captured(segments: readonly string[], parts: readonly string[]): string[] | undefined {
  if (segments.length !== parts.length) return undefined;
  const fits = segments.every((segment, at) => segment.startsWith(":") || segment === parts[at]);
  return fits ? parts.filter((_, at) => segments[at]?.startsWith(":")) : undefined;
}

/** A part that is no valid percent-encoding names nothing; it is kept as it came. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
