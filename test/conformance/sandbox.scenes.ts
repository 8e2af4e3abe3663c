import type { StateDocument } from "../../providers/sandbox/tenant/index.ts";
import type { Seed } from "../../providers/sandbox/tenant/seed.ts";
import type { Named, WriteStep } from "../../src/model/plan.ts";
import type { Edit, Targets, Way } from "./double.ts";

/** The person, group and licence that a scene is about. */
export interface Cast {
  email: string;
  id: string;
  group: Named;
  license: Named;
}

export const PLAIN: Cast = {
  email: "priya@example.test",
  id: "usr_2001",
  group: { name: "engineering", id: "grp_77" },
  license: { name: "pro", id: "lic_1" },
};
/** All that the tenant lets an address and an id be, and a name that tries to be more. */
export const HOSTILE: Cast = {
  email: "o'neil+a&role=owner#/../%2e%2e?id=usr_1001;x@example.test",
  id: "usr:..:2001",
  group: { name: '../../users/usr_1001?x=1#‮gnp."<b>', id: "grp:..:_-.77" },
  license: { name: "%2e%2e/licenses\u0000\n", id: "lic:...1" },
};

/** One step that is due, and what becomes of its target. Targets are words of the tenant's own: see `targetOf`. */
export interface Scene {
  step: WriteStep;
  seed: Seed;
  /** The words of the tenant for the write, and for the one that takes it back. */
  actions: Record<Way, string>;
  words: Targets;
  about: About;
  /** What another person may make of it instead, by the way; absent: there is no third thing. */
  other?: Partial<Record<Way, readonly string[]>>;
  /** Through what it goes for another person to change it and change it back; null: it does not come back. */
  touch: Record<Way, readonly string[] | null>;
}

export type About = "invitation" | "account" | "role" | "membership" | "license" | "sessions" | "credentials";

const BASE = {
  step: 1,
  gate: "plan" as const,
  reversibility: "reversible" as const,
  direction: "raise" as const,
  effects: [],
  undo: null,
  credential: "ordinary" as const,
};

export function sceneOf(kind: WriteStep["kind"], cast: Cast): Scene {
  const { group, license } = cast;
  switch (kind) {
    case "invite":
      return {
        step: { ...BASE, kind, role: "guest", send_email: false, accept_by: LATE, expects: { account: "absent" } },
        seed: seedOf(cast, { account: false }),
        actions: { apply: "invitation.create", undo: "invitation.cancel" },
        words: { start: "none", wanted: "pending", restored: "cancelled", also: "member", another: "pending" },
        about: "invitation",
        other: { apply: ["member"], undo: ["accepted"] },
        touch: { apply: ["pending", "declined"], undo: ["declined", "pending"] },
      };
    case "cancel_invitation":
      return {
        step: { ...BASE, kind, expects: { invitation: "pending" } },
        seed: seedOf(cast, { account: false, invited: true }),
        actions: { apply: "invitation.cancel", undo: "" },
        words: { start: "pending", wanted: "cancelled", restored: "cancelled", also: "accepted" },
        about: "invitation",
        other: { apply: ["accepted"] },
        touch: { apply: ["declined", "pending"], undo: null },
      };
    case "create_account":
      return {
        step: { ...BASE, kind, role: "guest", expects: { account: "absent" } },
        seed: seedOf(cast, { account: false }),
        actions: { apply: "account.create", undo: "account.suspend" },
        words: { start: "none", wanted: "active", restored: "suspended" },
        about: "account",
        other: { apply: ["active", "suspended"], undo: ["deleted"] },
        touch: { apply: ["active", "deleted"], undo: ["suspended", "active"] },
      };
    case "suspend_account":
      return accountScene(cast, kind, { start: "active", wanted: "suspended", restored: "active" }, "deleted");
    case "restore_account":
      return accountScene(cast, kind, { start: "suspended", wanted: "active", restored: "suspended" }, "deleted");
    case "delete_account":
      return accountScene(cast, kind, { start: "active", wanted: "deleted", restored: "active" }, "suspended");
    case "set_role":
      return {
        step: { ...BASE, kind, role: "admin", expects: { role: "guest" } },
        seed: seedOf(cast, {}),
        actions: { apply: "role.set", undo: "role.set" },
        words: { start: "guest", wanted: "admin", restored: "guest" },
        about: "role",
        other: { apply: ["billing"], undo: ["billing"] },
        touch: { apply: ["billing", "guest"], undo: ["billing", "admin"] },
      };
    case "add_group":
    case "remove_group": {
      const held = kind === "remove_group";
      const step = { ...BASE, kind, group, expects: { member: held } };
      const actions = ["group.add", "group.remove"] as const;
      return twoSided("membership", step, seedOf(cast, { member: held }), held, actions);
    }
    case "assign_license":
    case "remove_license": {
      const held = kind === "remove_license";
      const step = { ...BASE, kind, license, expects: { assigned: held } };
      return twoSided("license", step, seedOf(cast, { assigned: held }), held, ["license.assign", "license.remove"]);
    }
    case "revoke_sessions":
    case "revoke_credentials": {
      const about = kind === "revoke_sessions" ? "sessions" : "credentials";
      return {
        step: { ...BASE, kind },
        seed: seedOf(cast, {}),
        actions: { apply: `${about}.revoke`, undo: "" },
        words: { start: "2", wanted: "0", restored: "0" },
        about,
        touch: { apply: null, undo: null },
      };
    }
    case "remove_member":
      throw new Error("a sandbox tenant suspends and deletes, and removes nobody");
  }
}

const LATE = "2999-01-01T00:00:00.000Z";
type AccountKind = "suspend_account" | "restore_account" | "delete_account";

function accountScene(cast: Cast, kind: AccountKind, words: Targets, third: string): Scene {
  const expects = { account: words.start === "suspended" ? ("suspended" as const) : ("active" as const) };
  const action = (to: string) => `account.${to === "active" ? "restore" : to === "deleted" ? "delete" : "suspend"}`;
  return {
    step: { ...BASE, kind, expects },
    seed: seedOf(cast, { status: expects.account }),
    actions: { apply: action(words.wanted), undo: action(words.restored) },
    words,
    about: "account",
    // Of what was deleted nothing can be made but an active account.
    other: kind === "delete_account" ? { apply: [third] } : { apply: [third], undo: [third] },
    touch: { apply: [words.wanted, words.start], undo: [words.restored, words.wanted] },
  };
}

function twoSided(
  about: "membership" | "license",
  step: WriteStep,
  seed: Seed,
  held: boolean,
  [give, take]: readonly [string, string],
): Scene {
  const [start, wanted] = held ? ["in", "out"] : ["out", "in"];
  return {
    step,
    seed,
    actions: held ? { apply: take, undo: give } : { apply: give, undo: take },
    words: { start, wanted, restored: start },
    about,
    // What is absent has no version: who came and went again leaves no trace on it.
    touch: { apply: [wanted, start], undo: held ? null : [start, wanted] },
  };
}

interface Beginning {
  account?: boolean;
  invited?: boolean;
  member?: boolean;
  assigned?: boolean;
  status?: "active" | "suspended";
}

/** The subject as the scene finds it, among people whose names are nearly the same. */
function seedOf({ email, id, group, license }: Cast, begin: Beginning): Seed {
  const { account = true, invited = false, member = false, assigned = false, status = "active" } = begin;
  const near = { id: `${id}0`, email: `x${email}`, role: "member" };
  const far = { id: "usr_1003", email: `${email}.example.test`, role: "member" };
  const owners = ["usr_1001", "usr_1002"].map((owner) => ({
    id: owner,
    email: `${owner}@example.test`,
    role: "owner",
  }));
  const admin = { id: "usr_1004", email: "admin@example.test", role: "admin" };
  const others = [near.id, far.id];
  return {
    users: [...owners, admin, near, far, ...(account ? [{ id, email, role: "guest", status }] : [])],
    groups: [{ ...group, membership: "direct", sensitive: false, members: member ? [...others, id] : others }],
    licenses: [{ ...license, requires: [], members: assigned ? [...others, id] : others }],
    invitations: [
      { email: `y${email}`, role: "guest", state: "pending" },
      ...(invited ? [{ email, role: "guest", state: "pending" as const }] : []),
    ],
    sessions: [near.id, ...(account && status === "active" ? [id, id] : [])].map((user_id) => ({ user_id })),
    credentials: [near.id, ...(account ? [id, id] : [])].map((user_id) => ({ user_id })),
  };
}

/** What the edits of another person come to, as the words that the target goes through. */
export function wayThrough(scene: Scene, edit: Edit, way: Way): readonly string[] {
  const { words, other, touch } = scene;
  if (edit === "same") return [way === "apply" ? words.wanted : words.restored];
  return (edit === "touch" ? touch[way] : other?.[way]) ?? [];
}

type Slices = Record<About, (state: StateDocument, cast: Cast) => string>;

const TARGETS: Omit<Slices, "credentials"> = {
  invitation: (state, { email }) =>
    state.users.some((user) => user.email === email)
      ? state.invitations.some((one) => one.email === email && one.state === "accepted")
        ? "accepted"
        : "member"
      : (state.invitations.findLast((one) => one.email === email)?.state ?? "none"),
  account: (state, { email }) => state.users.findLast((user) => user.email === email)?.status ?? "none",
  role: (state, { id }) => state.users.find((user) => user.id === id)?.role ?? "none",
  membership: (state, { id, group }) =>
    state.groups.find((one) => one.id === group.id)?.members.some((one) => one.user_id === id) ? "in" : "out",
  license: (state, { id, license }) =>
    state.licenses.find((one) => one.id === license.id)?.members.includes(id) ? "in" : "out",
  sessions: (state, { id }) => String(state.sessions.filter((one) => one.user_id === id).length),
};

export function targetOf(about: Exclude<About, "credentials">, state: StateDocument, cast: Cast): string {
  return TARGETS[about](state, cast);
}
