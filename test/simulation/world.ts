import type { Step } from "../../src/model/plan.ts";
import type { AccountStatus, Authorship, InvitationStatus, Observed, Reading } from "../../src/model/reading.ts";
import type { Reply } from "../../src/model/reply.ts";
import {
  type Abilities,
  type Applied,
  NOTHING,
  type Owner,
  type Request,
  SUBJECT,
  type Thing,
  type Truth,
  targetOf,
  wantedValue,
} from "./truth.ts";

/** A tenant in memory: it holds the truth, remembers keys, and keeps a record of what we changed. */
export class World {
  truth: Truth;
  readonly abilities: Abilities;
  readonly applied: Applied[] = [];
  /** Every decision of somebody else, by the version it made. */
  rivals = 0;
  private past: { until: number; truth: Truth }[] = [];
  private versions = 100;
  private ids = 100;
  private answers = new Map<string, Reply>();

  constructor(truth: Truth, abilities: Abilities) {
    this.truth = truth;
    this.abilities = abilities;
  }

  at(target: string, truth = this.truth): Thing {
    return truth[target] ?? NOTHING;
  }

  /** What was true at this moment, in milliseconds. */
  truthAt(ms: number): Truth {
    for (const { until, truth } of this.past) if (ms < until) return truth;
    return this.truth;
  }

  freshId(kind: string): string {
    return `${kind}_${++this.ids}`;
  }

  /** Makes a change; `now` in milliseconds. */
  put(target: string, change: Partial<Thing> & { owner: Owner }, now: number): Thing {
    const made = { ...this.at(target), ...change, version: ++this.versions };
    this.past.push({ until: now, truth: this.truth });
    this.truth = { ...this.truth, [target]: made };
    if (change.owner === "rival") this.rivals += 1;
    return made;
  }

  /** Whoever acts next finds everything as somebody left it before. */
  settleDown(): void {
    const entries = Object.entries(this.truth).map(([name, one]) => [name, { ...one, owner: "before" as const }]);
    this.truth = Object.fromEntries(entries);
  }

  /** What an exact and complete read shows. */
  read(step: Step, accountId: string | null, truth = this.truth): Reading<Observed> {
    const target = targetOf(step);
    const one = truth[target] ?? NOTHING;
    const account = truth.account ?? NOTHING;
    if (target === "invitation") return this.readInvitation(one, account);
    if (target === "account") return this.readAccount(one, accountId);
    const gone = account.value === null || account.value === "deleted" || (accountId ?? account.id) !== account.id;
    if (gone) return { kind: "unreadable", reason: "forbidden", detail: "404 without a control" };
    if (one.value === null)
      return target === "role"
        ? { kind: "unreadable", reason: "malformed", detail: "no role" }
        : { kind: "absent", proof: "exact" };
    return this.tagged(one, observedIn(target, one.value));
  }

  private tagged(one: Thing, value: Observed): Reading<Observed> {
    return this.abilities.guard === "none"
      ? { kind: "found", value }
      : { kind: "found", value, version: `"${one.version}"` };
  }

  private readInvitation(one: Thing, account: Thing): Reading<Observed> {
    const holder =
      account.value === null || account.email !== SUBJECT
        ? null
        : { id: account.id ?? "", email: account.email, status: account.value as AccountStatus };
    if (one.value === null) return { kind: "found", value: { of: "invitation", invitation: null, account: holder } };
    const invitation = {
      id: one.id ?? "",
      status: one.value as InvitationStatus,
      role: one.role,
      accepted_by: one.by,
      mailed: false,
    };
    return this.tagged(one, { of: "invitation", invitation, account: holder });
  }

  private readAccount(one: Thing, accountId: string | null): Reading<Observed> {
    if (one.value === null) return { kind: "absent", proof: "exact" };
    if (accountId !== null && one.id !== accountId)
      return { kind: "found", value: { of: "account", id: accountId, status: "deleted" } };
    return this.tagged(one, { of: "account", id: one.id ?? "", status: one.value as AccountStatus });
  }

  /** The newest change of the thing is that of the request with this key, or somebody else's; unchanged: nobody's. */
  author(key: string, step: Step): Reading<Authorship> {
    const one = this.at(targetOf(step));
    const named = step.kind === "cancel_invitation" ? one.endedBy : one.owner === "before" ? null : (one.key ?? "");
    if (named === null) return { kind: "absent", proof: "complete_scan" };
    return { kind: "found", value: named === key ? "ours" : "theirs" };
  }

  /** A request of ours arrives: the change is made, or refused with the answer that a faithful service gives. */
  write(request: Request, now: number): Reply {
    const { keys } = this.abilities;
    const remembered = keys ? this.answers.get(request.key) : undefined;
    if (remembered) return remembered;
    const reply = this.guarded(request) ?? this.change(request, now);
    if (keys) this.answers.set(request.key, reply);
    return reply;
  }

  /** A request with this key would change nothing any more. */
  remembers(key: string): boolean {
    return this.answers.has(key);
  }

  /** Whether this request can change nothing any more, whenever it arrives: the invitation that it would end has ended. */
  isPast({ step, invitationId }: Request): boolean {
    const { id, value } = this.at("invitation");
    return step.kind === "cancel_invitation" && (id !== invitationId || value !== "pending");
  }

  private guarded({ step, ifVersion }: Request): Reply | null {
    if (this.abilities.guard !== "if_match") return null;
    const one = this.at(targetOf(step));
    const adds = step.kind === "add_group" || step.kind === "assign_license";
    const holds = ifVersion !== null ? ifVersion === `"${one.version}"` : !adds || one.value === null;
    return holds ? null : refusal("conflict", 412, "precondition_failed");
  }

  private change(request: Request, now: number): Reply {
    const { step } = request;
    switch (targetOf(step)) {
      case "invitation":
        return this.invitation(request, now);
      case "account":
        return this.account(request, now);
      default:
        return this.ofAccount(request, now);
    }
  }

  private apply({ step, key, phase }: Request, change: Partial<Thing>, now: number): Reply {
    const target = targetOf(step);
    const from = this.at(target);
    const to = this.put(target, { key, ...change, owner: "us" }, now);
    this.applied.push({ key, step: step.step, phase, target, from, to });
    const head = { kind: "accepted", status: 200 } as const;
    return this.abilities.guard === "none" ? head : { ...head, version: `"${to.version}"` };
  }

  private ofAccount(request: Request, now: number): Reply {
    const account = this.at("account");
    if (account.value === null || account.value === "deleted" || account.id !== request.accountId)
      return refusal("gone", 404, "no_such_account");
    const one = this.at(targetOf(request.step));
    const value = wantedValue(request.step);
    // A success that changed nothing is told apart from one that did.
    if (one.value === value)
      return value === null ? refusal("gone", 404, "not_there") : refusal("conflict", 200, "unchanged");
    return this.apply(request, { value }, now);
  }

  private invitation(request: Request, now: number): Reply {
    const { step } = request;
    const one = this.at("invitation");
    if (step.kind === "invite") {
      const account = this.at("account");
      if (account.value !== null && account.value !== "deleted" && account.email === SUBJECT)
        return refusal("conflict", 409, "already_member");
      if (one.value === "pending") return refusal("conflict", 409, "already_invited");
      const id = this.freshId("inv");
      const made = this.apply(request, { value: "pending", id, role: step.role, by: null, endedBy: null }, now);
      return made.kind === "accepted" ? { ...made, remoteId: id } : made;
    }
    if (one.id !== request.invitationId || one.value !== "pending") return refusal("conflict", 409, "not_pending");
    return this.apply(request, { value: "cancelled", key: one.key, endedBy: request.key }, now);
  }

  private account(request: Request, now: number): Reply {
    const { step } = request;
    const one = this.at("account");
    const there = one.value !== null && one.value !== "deleted";
    if (step.kind === "create_account") {
      if (there) return refusal("conflict", 409, "already_exists");
      const made = this.apply(request, { value: "active", id: this.freshId("usr"), email: SUBJECT }, now);
      this.put("role", { value: step.role ?? "guest", owner: "before", key: null }, now);
      return made;
    }
    if (!there || one.id !== request.accountId) return refusal("gone", 404, "no_such_account");
    const value = wantedValue(step);
    if (one.value === value) return refusal("conflict", 409, "already_so");
    return this.apply(request, { value }, now);
  }
}

function refusal(kind: "conflict" | "gone", status: number, code: string): Reply {
  return { kind, status, code, detail: code };
}

function observedIn(target: string, value: string): Observed {
  if (target === "role") return { of: "role", role: value };
  if (target === "sessions" || target === "credentials") return { of: target, count: Number(value) };
  return target.startsWith("group") ? { of: "membership", member: true } : { of: "license", assigned: true };
}
