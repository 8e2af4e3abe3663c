import type { Mint } from "./seed.ts";
import type { TokenClass } from "./world.ts";

/** The words of the changes that a tenant client can ask for; faults and the request log name them. */
export const ACTIONS = [
  "invitation.create",
  "invitation.cancel",
  "role.set",
  "group.add",
  "group.remove",
  "license.assign",
  "license.remove",
  "sessions.revoke",
  "credentials.revoke",
  "account.create",
  "account.suspend",
  "account.restore",
  "account.delete",
] as const;
export type ActionWord = (typeof ACTIONS)[number];

/** One HTTP answer. Every answer has a JSON body. */
export interface Answer {
  status: number;
  body: unknown;
  headers: Record<string, string>;
}

/** What a change came to. Only an outcome with `changed` makes the draft the new world. */
export interface Outcome {
  answer: Answer;
  changed: boolean;
  /** What it is about, as the audit log names it: `user:usr_1/role`, `group:grp_1/member:usr_1`. */
  target: string;
}

/** Who asks for a change and on what terms. */
export interface Change extends Mint {
  now: string;
  /** Null: another administrator or the person invited, through the control endpoints. No limit of authority applies. */
  token: TokenClass | null;
  ifMatch: string | null;
  ifNoneMatch: string | null;
  /** Makes the address by which an invitation is redeemed; whoever has it can. */
  redeemUrl(): string;
}

export function answer(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return { status, body, headers };
}

export function problem(status: number, code: string, message: string, headers: Record<string, string> = {}): Answer {
  return answer(status, { code, message }, headers);
}

/** The three ways in which a change of one target can end. */
export function about(target: string) {
  const tagged = (version: string | undefined) => (version === undefined ? {} : { etag: version });
  return {
    refuse: (status: number, code: string, message: string): Outcome => ({
      answer: problem(status, code, message),
      changed: false,
      target,
    }),
    /** It was so already. */
    same: (body: object, version?: string): Outcome => ({
      answer: answer(200, { ...body, changed: false }, tagged(version)),
      changed: false,
      target,
    }),
    done: (status: 200 | 201, body: object, version?: string): Outcome => ({
      answer: answer(status, { ...body, changed: true }, tagged(version)),
      changed: true,
      target,
    }),
  };
}
export type About = ReturnType<typeof about>;

/**
 * The guard on one sub-resource: `If-Match` wants the version that is there, `If-None-Match: *` wants nothing there.
 * @param current - the version that is there; null where nothing is
 * @returns the refusal, or undefined where the change may go on
 */
export function guarded(say: About, change: Change, current: string | null): Outcome | undefined {
  if (change.ifMatch !== null && !matches(change.ifMatch, current))
    return say.refuse(412, "precondition_failed", `The version is ${current ?? "none"}, not ${change.ifMatch}.`);
  if (change.ifNoneMatch === "*" && current !== null)
    return say.refuse(412, "already_exists", `It is there already, in version ${current}.`);
  return undefined;
}

/** A list of strong tags, or `*` for whatever is there (RFC 9110, section 13.1.1). */
function matches(condition: string, current: string | null): boolean {
  if (current === null) return false;
  return condition.trim() === "*" || condition.split(",").some((tag) => tag.trim() === current);
}

export function insufficient(say: About, what: string): Outcome {
  return say.refuse(403, "insufficient_authority", `${what} needs the privileged token.`);
}
