import type { Group } from "./world.ts";

export type KnownGroup = Pick<Group, "id" | "name" | "membership" | "sensitive" | "nested_in">;

/** The groups that a tenant has where the seed names none, and what is true of these ids where it does not say. */
export const GROUPS: readonly KnownGroup[] = [
  { id: "grp_77", name: "engineering", membership: "direct", sensitive: false, nested_in: null },
  { id: "grp_81", name: "on-call-readers", membership: "direct", sensitive: true, nested_in: null },
  { id: "grp_1", name: "everyone", membership: "dynamic", sensitive: false, nested_in: null },
  { id: "grp_90", name: "contractors", membership: "synced", sensitive: false, nested_in: null },
  { id: "grp_78", name: "platform", membership: "nested", sensitive: false, nested_in: "grp_77" },
];
export const PRO = { id: "lic_1", name: "pro", requires: ["grp_77"] };

/** A few people, so that a guard on the last owner and a leaver's groups mean something. */
export const DEFAULT_SEED = {
  users: [
    { id: "usr_1001", email: "owner@acme-sandbox.test", role: "owner" },
    { id: "usr_1002", email: "admin@acme-sandbox.test", role: "admin" },
    { id: "usr_1003", email: "mira@acme-sandbox.test", role: "member" },
    { id: "usr_1004", email: "jonas@acme-sandbox.test", role: "member" },
    { id: "usr_1005", email: "lena@acme-sandbox.test", role: "guest" },
  ],
  groups: [
    { id: "grp_77", name: "engineering", members: ["usr_1002", "usr_1003"] },
    { id: "grp_81", name: "on-call-readers", members: ["usr_1003"] },
    { id: "grp_1", name: "everyone" },
    { id: "grp_90", name: "contractors", members: ["usr_1005"] },
    { id: "grp_78", name: "platform", members: ["usr_1004"] },
  ],
  licenses: [{ id: "lic_1", name: "pro", members: ["usr_1003"] }],
  sessions: [{ user_id: "usr_1001" }, { user_id: "usr_1003" }, { user_id: "usr_1003" }, { user_id: "usr_1004" }],
  credentials: [{ user_id: "usr_1003" }],
};
