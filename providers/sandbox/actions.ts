import type { z } from "zod";
import type { ReplyHints } from "../../src/model/classify.ts";
import type { AccountStep, InviteStep, WriteStep } from "../../src/model/plan.ts";
import type { HttpRequest, Subject } from "../../src/model/provider.ts";
import {
  accountChanged,
  assignmentChanged,
  invitationChanged,
  invitationMade,
  membershipChanged,
  revoked,
  roleChanged,
} from "./answers.ts";

/** The one request of a step, as data. */
export interface Sending {
  method: HttpRequest["method"];
  route: string;
  values: string[];
  body?: unknown;
  /** What is sent where no version is: `absent` wants nothing there yet. */
  without: "absent" | "no_guard";
  /** The answer that the tenant documents for a success, about the very target that was asked for. */
  answer: z.ZodType;
  target: string;
  /** The id in the answer is that of something new. */
  makes?: true;
}

/** What is known beside step and subject when something is sent. */
export interface Known {
  /** The role of an account that is created without one being named. */
  landing: string;
  /** The invitation to cancel, as it was just looked up. */
  invitation?: string;
}

/** What a step sends; undefined where the subject lacks what the step needs. */
export function sending(step: WriteStep, subject: Subject, known: Known): Sending | undefined {
  const { email, id } = subject;
  switch (step.kind) {
    case "invite":
      return email === undefined ? undefined : inviting(step, email);
    case "create_account":
      return email === undefined ? undefined : creating(step, email, known.landing);
    case "cancel_invitation":
      return known.invitation === undefined
        ? undefined
        : plain("DELETE", "/invitations/{id}", [known.invitation], invitationChanged);
    default:
      return id === undefined ? undefined : ofAccount(step, id);
  }
}

function plain(method: Sending["method"], route: string, values: string[], answer: z.ZodType): Sending {
  return { method, route, values, without: "no_guard", answer, target: values.at(-1) ?? "" };
}

function inviting({ role, send_email, accept_by }: InviteStep, email: string): Sending {
  const body = { email, role, send_email, accept_by };
  return { ...plain("POST", "/invitations", [], invitationMade), target: email, body, makes: true };
}

function creating(step: AccountStep, email: string, landing: string): Sending {
  const body = { email, role: step.role ?? landing };
  return { ...plain("POST", "/users", [], accountChanged), target: email, body, makes: true };
}

type OfAccount = Exclude<WriteStep, { kind: "invite" | "cancel_invitation" }>;

function ofAccount(step: OfAccount, id: string): Sending | undefined {
  switch (step.kind) {
    case "set_role":
      return { ...plain("PUT", "/users/{id}/role", [id], roleChanged), body: { role: step.role } };
    case "add_group":
      return {
        ...plain("PUT", "/groups/{group}/members/{id}", [step.group.id, id], membershipChanged),
        without: "absent",
      };
    case "remove_group":
      return plain("DELETE", "/groups/{group}/members/{id}", [step.group.id, id], membershipChanged);
    case "assign_license":
      return {
        ...plain("PUT", "/licenses/{license}/assignments/{id}", [step.license.id, id], assignmentChanged),
        without: "absent",
      };
    case "remove_license":
      return plain("DELETE", "/licenses/{license}/assignments/{id}", [step.license.id, id], assignmentChanged);
    case "revoke_sessions":
      return plain("DELETE", "/users/{id}/sessions", [id], revoked);
    case "revoke_credentials":
      return plain("DELETE", "/users/{id}/credentials", [id], revoked);
    case "suspend_account":
      return plain("POST", "/users/{id}/suspend", [id], accountChanged);
    case "restore_account":
      return plain("POST", "/users/{id}/restore", [id], accountChanged);
    case "delete_account":
      return plain("DELETE", "/users/{id}", [id], accountChanged);
    case "create_account":
    case "remove_member":
      return undefined;
  }
}

/** How the answers of this request are read beyond their status. */
export function hintsOf(request: Sending): ReplyHints {
  const ids = (body: unknown): unknown[] => {
    const { id, user_id, email } = body as { id?: unknown; user_id?: unknown; email?: unknown };
    return [id, user_id, typeof email === "string" ? email.toLowerCase() : undefined];
  };
  return {
    fits: (body) => request.answer.safeParse(body).success && ids(body).includes(aim(request)),
    ...(request.makes && { remoteId: (body) => (body as { id: string } | undefined)?.id }),
  };
}

function aim({ target }: Sending): string {
  return target.includes("@") ? target.toLowerCase() : target;
}

/** What the audit log calls the target of a step, and which events decide what is there now. */
export function record(step: WriteStep, subject: Subject): { target: string; actions: string[] } | undefined {
  const { id } = subject;
  const email = subject.email?.toLowerCase();
  switch (step.kind) {
    case "invite":
      return email === undefined ? undefined : { target: `invitation:${email}`, actions: ["invitation.create"] };
    case "create_account":
      return email === undefined ? undefined : { target: `account:${email}`, actions: ["account.create"] };
    case "cancel_invitation":
      return email === undefined
        ? undefined
        : { target: `invitation:${email}`, actions: ["invitation.cancel", "invitation.decline", "invitation.expire"] };
  }
  if (id === undefined) return undefined;
  switch (step.kind) {
    case "set_role":
      return { target: `user:${id}/role`, actions: ["role.set"] };
    case "add_group":
    case "remove_group":
      return { target: `group:${step.group.id}/member:${id}`, actions: ["group.add", "group.remove"] };
    case "assign_license":
    case "remove_license":
      return { target: `license:${step.license.id}/user:${id}`, actions: ["license.assign", "license.remove"] };
    case "revoke_sessions":
      return { target: `user:${id}/sessions`, actions: ["sessions.revoke"] };
    case "revoke_credentials":
      return { target: `user:${id}/credentials`, actions: ["credentials.revoke"] };
    default:
      return { target: `user:${id}/account`, actions: ["account.suspend", "account.restore", "account.delete"] };
  }
}
