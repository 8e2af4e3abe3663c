import { z } from "zod";

/** The documented shape of each answer of a sandbox tenant. What does not fit proves nothing. */

/** `.` and `..` would be steps of a path wherever they are put into one, encoded or not. */
const id = z.string().regex(/^(?!\.{1,2}$)[A-Za-z0-9._:-]{1,128}$/);
const accountState = z.enum(["active", "suspended", "deleted"]);
const etag = z.string();
/** In the answer to a write: whether this request changed anything. */
const changed = z.boolean();

const accountFields = {
  id,
  email: z.string().nullable(),
  status: accountState,
  restore_until: z.iso.datetime().nullable(),
  etag,
};
export const account = z.strictObject(accountFields);
export const user = z.strictObject({ ...accountFields, role: z.string() });
export const accountChanged = z.strictObject({ ...accountFields, changed });

const roleFields = { user_id: id, role: z.string() };
export const role = z.strictObject(roleFields);
export const roleChanged = z.strictObject({ ...roleFields, changed });

const membershipFields = { group_id: id, user_id: id, direct: z.boolean(), via: z.array(z.string()) };
export const membership = z.strictObject(membershipFields);
export const membershipChanged = z.strictObject({ ...membershipFields, changed });

const assignmentFields = { license_id: id, user_id: id, assigned: z.boolean() };
export const assignment = z.strictObject(assignmentFields);
export const assignmentChanged = z.strictObject({ ...assignmentFields, changed });

const invitationFields = {
  id,
  email: z.string(),
  role: z.string(),
  state: z.enum(["pending", "accepted", "declined", "expired", "cancelled"]),
  mailed: z.boolean(),
  accept_by: z.string().nullable(),
  accepted_by: z.strictObject({ id, email: z.string().nullable() }).nullable(),
  created_at: z.string(),
  etag,
};
export const invitation = z.strictObject(invitationFields);
/** The answer to the one request that makes it also holds the address to redeem it, which is dropped here. */
export const invitationMade = z
  .strictObject({ ...invitationFields, changed, redeem_url: z.string() })
  .transform(({ redeem_url: _, ...rest }) => rest);
export const invitationChanged = z.strictObject({ ...invitationFields, changed });

export const revoked = z.strictObject({ user_id: id, revoked: z.int(), changed });

export const ofUser = z.strictObject({ id, user_id: id });
export const group = z.strictObject({
  id,
  name: z.string(),
  membership: z.enum(["direct", "dynamic", "synced", "nested"]),
  nested_in: id.nullable(),
});
export const tenantRole = z.strictObject({ id, name: z.string(), elevated: z.boolean() });

export const auditEvent = z.strictObject({
  id,
  at: z.string(),
  token: z.string().nullable(),
  actor: z.string(),
  action: z.string(),
  target: z.string(),
  idempotency_key: z.string().nullable(),
  request_id: z.string().nullable(),
  applied: z.boolean(),
  status: z.int(),
});

export type User = z.infer<typeof user>;
export type Invitation = z.infer<typeof invitation>;

/** A page before its items are looked at; `next` is missing only where the server cut the page. */
export const page = z.strictObject({
  items: z.array(z.unknown()),
  next: z.string().nullable().optional(),
  total: z.int().nonnegative(),
});
