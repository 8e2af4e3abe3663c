import type { Step, WriteStep } from "../../src/model/plan.ts";
import type { InvitationStatus, Observed, Reading } from "../../src/model/reading.ts";
import type { Reply } from "../../src/model/reply.ts";

/** Who last decided about a thing: it was so before, this operation, or somebody else. */
export type Owner = "before" | "us" | "rival";

export interface Thing {
  /** null: not there. */
  value: string | null;
  version: number;
  owner: Owner;
}

/** One write of ours that changed something. */
export interface Applied {
  key: string;
  step: number;
  target: string;
  from: Thing;
  to: string | null;
  at: number;
}

export interface Abilities {
  keys: boolean;
  ifMatch: boolean;
  authorship: boolean;
}

/** The whole truth about one subject on one tenant. Replaced, never changed in place, so that the past can be read. */
export interface Truth {
  account: { id: string; email: string; status: "active" | "suspended" | "deleted" } | null;
  invitation: {
    id: string;
    status: InvitationStatus;
    role: string;
    by: { id: string; email: string } | null;
    owner: Owner;
  } | null;
  things: Readonly<Record<string, Thing>>;
}

export const SUBJECT = "priya@example.test";

/** A tenant in memory: it holds the truth, remembers keys, and keeps a log of what we changed. */
export class World {
  truth: Truth;
  before: Truth;
  applied: Applied[] = [];
  /** Every request of ours that arrived, applied or not. */
  arrived: { key: string; step: number; at: number }[] = [];
  mails = 0;
  private versions = 100;
  private answers = new Map<string, { kind: string; target: string; reply: Reply }>();
  readonly abilities: Abilities;

  constructor(truth: Truth, abilities: Abilities) {
    this.truth = truth;
    this.before = truth;
    this.abilities = abilities;
  }

  /** The name of the thing that a step changes. */
  static target(step: Step): string {
    if ("group" in step) return `group ${step.group.id}`;
    if ("license" in step) return `license ${step.license.id}`;
    if (step.kind === "set_role") return "role";
    if (step.kind === "revoke_sessions") return "sessions";
    if (step.kind === "revoke_credentials") return "credentials";
    if (step.kind === "invite" || step.kind === "cancel_invitation" || step.kind === "wait_for_acceptance")
      return "invitation";
    return "account";
  }

  /** What an exact and complete read shows, now or as it was. */
  read(step: Step, truth = this.truth): Reading<Observed> {
    const target = World.target(step);
    if (target === "invitation") {
      const { invitation, account } = truth;
      const view = invitation && {
        id: invitation.id,
        status: invitation.status,
        role: invitation.role,
        accepted_by: invitation.by,
        mailed: false,
      };
      const holder = account && account.email === SUBJECT ? account : null;
      return { kind: "found", value: { of: "invitation", invitation: view, account: holder } };
    }
    if (target === "account") {
      if (!truth.account) return { kind: "absent", proof: "exact" };
      return { kind: "found", value: { of: "account", id: truth.account.id, status: truth.account.status } };
    }
    const thing = truth.things[target];
    if (thing === undefined || thing.value === null) return { kind: "absent", proof: "exact" };
    const version = `"${thing.version}"`;
    if (target === "role") return { kind: "found", value: { of: "role", role: thing.value }, version };
    if (target === "sessions" || target === "credentials")
      return { kind: "found", value: { of: target, count: Number(thing.value) }, version };
    return target.startsWith("group")
      ? { kind: "found", value: { of: "membership", member: true }, version }
      : { kind: "found", value: { of: "license", assigned: true }, version };
  }

  /** What our record says of who made what is there. */
  author(key: string, step: Step): Reading<"ours" | "theirs"> {
    const ours = this.applied.some((change) => change.key === key && this.ownerOf(step) === "us");
    return { kind: "found", value: ours ? "ours" : "theirs" };
  }

  private ownerOf(step: Step): Owner {
    const target = World.target(step);
    if (target === "invitation") return this.truth.invitation?.owner ?? "before";
    return this.truth.things[target]?.owner ?? "before";
  }

  /** A request of ours arrives: the change is made, or refused with the answer that a faithful service gives. */
  write(step: WriteStep, key: string, ifVersion: string | null, at: number): Reply {
    this.arrived.push({ key, step: step.step, at });
    const remembered = this.abilities.keys ? this.answers.get(key) : undefined;
    if (remembered) return remembered.reply;
    const reply = this.perform(step, key, ifVersion, at);
    if (this.abilities.keys) this.answers.set(key, { kind: step.kind, target: World.target(step), reply });
    return reply;
  }

  private perform(step: WriteStep, key: string, ifVersion: string | null, at: number): Reply {
    const target = World.target(step);
    if (target === "invitation") return this.invite(step, key, at);
    const conflict: Reply = {
      kind: "conflict",
      status: 412,
      code: "precondition_failed",
      detail: "the version differs",
    };
    if (target === "account") return this.account(step, key, at);
    const thing = this.truth.things[target] ?? { value: null, version: 0, owner: "before" };
    if (ifVersion !== null && this.abilities.ifMatch && ifVersion !== `"${thing.version}"`) return conflict;
    if (!this.truth.account) return { kind: "gone", status: 404, code: "not_found", detail: "no such account" };
    const value = wantedValue(step);
    if (thing.value === value) {
      if (value === null) return { kind: "gone", status: 404, code: "not_found", detail: "it is not there" };
      return { kind: "accepted", status: 200, version: `"${thing.version}"` };
    }
    this.put(target, value, "us");
    this.applied.push({ key, step: step.step, target, from: thing, to: value, at });
    return { kind: "accepted", status: 200, version: `"${this.truth.things[target]?.version}"` };
  }

  private invite(step: WriteStep, key: string, at: number): Reply {
    const { invitation, account } = this.truth;
    const from: Thing = { value: invitation?.status ?? null, version: 0, owner: invitation?.owner ?? "before" };
    if (step.kind === "invite") {
      if (account)
        return { kind: "conflict", status: 409, code: "already_member", detail: "the address has an account" };
      if (invitation?.status === "pending")
        return { kind: "conflict", status: 409, code: "already_invited", detail: "an invitation is open" };
      const id = `inv_${++this.versions}`;
      this.truth = { ...this.truth, invitation: { id, status: "pending", role: step.role, by: null, owner: "us" } };
      this.mails += step.send_email ? 1 : 0;
      this.applied.push({ key, step: step.step, target: "invitation", from, to: "pending", at });
      return { kind: "accepted", status: 201, remoteId: id };
    }
    if (invitation?.status !== "pending")
      return { kind: "conflict", status: 409, code: "not_pending", detail: "the invitation is not open" };
    this.truth = { ...this.truth, invitation: { ...invitation, status: "cancelled" } };
    this.applied.push({ key, step: step.step, target: "invitation", from, to: "cancelled", at });
    return { kind: "accepted", status: 200 };
  }

  private account(step: WriteStep, key: string, at: number): Reply {
    const { account } = this.truth;
    const from: Thing = { value: account?.status ?? null, version: 0, owner: "before" };
    const to =
      step.kind === "suspend_account"
        ? "suspended"
        : step.kind === "delete_account" || step.kind === "remove_member"
          ? "deleted"
          : "active";
    if (step.kind === "create_account") {
      if (account) return { kind: "conflict", status: 409, code: "already_exists", detail: "there is an account" };
      this.truth = { ...this.truth, account: { id: `usr_${++this.versions}`, email: SUBJECT, status: "active" } };
    } else {
      if (!account) return { kind: "gone", status: 404, code: "not_found", detail: "no such account" };
      if (account.status === to) return { kind: "conflict", status: 409, code: "already_so", detail: `it is ${to}` };
      this.truth = { ...this.truth, account: { ...account, status: to } };
    }
    this.applied.push({ key, step: step.step, target: "account", from, to, at });
    return { kind: "accepted", status: 200 };
  }

  put(target: string, value: string | null, owner: Owner): void {
    this.before = this.truth;
    this.truth = {
      ...this.truth,
      things: { ...this.truth.things, [target]: { value, version: ++this.versions, owner } },
    };
  }

  /** The invited person, or somebody else, accepts. */
  accept(email = SUBJECT): void {
    const { invitation } = this.truth;
    if (invitation?.status !== "pending") return;
    const account = { id: `usr_${++this.versions}`, email, status: "active" as const };
    this.before = this.truth;
    this.truth = {
      account,
      invitation: { ...invitation, status: "accepted", by: { id: account.id, email } },
      things: { ...this.truth.things, role: { value: invitation.role, version: ++this.versions, owner: "before" } },
    };
  }

  end(status: "declined" | "expired" | "cancelled"): void {
    const { invitation } = this.truth;
    if (invitation?.status === "pending") this.truth = { ...this.truth, invitation: { ...invitation, status } };
  }
}

/** What the thing reads once the step is done; null: absent. */
export function wantedValue(step: WriteStep): string | null {
  switch (step.kind) {
    case "set_role":
      return step.role;
    case "add_group":
    case "assign_license":
      return "yes";
    default:
      return null;
  }
}
