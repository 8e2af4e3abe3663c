import { replyOf } from "../../src/model/classify.ts";
import { bug } from "../../src/model/errors.ts";
import type { StepKind, SubjectKey, WriteStep } from "../../src/model/plan.ts";
import type {
  Action,
  Capabilities,
  Provider,
  ReadIo,
  Session,
  Subject,
  Tenant,
  WriteIo,
} from "../../src/model/provider.ts";
import type { Reply } from "../../src/model/reply.ts";
import { hintsOf, type Sending, sending } from "./actions.ts";
import { type Api, api, request } from "./api.ts";
import { describe, STEP_KINDS_HERE } from "./describe.ts";
import { findSubject, holders, self } from "./lookup.ts";
import { authorship, observe } from "./observe.ts";

const capabilities: Capabilities = {
  // Kept for good, so no age of an operation outlives it.
  idempotencyKeyLifetimeMs: Number.MAX_SAFE_INTEGER,
  guard: "if_match",
  mail: "suppressible",
  authorship: true,
  stepKinds: STEP_KINDS_HERE,
};

/** The embedded SaaS: what the quick start and CI jobs run against. Facts and sources are in the README beside this. */
export const provider: Provider = {
  name: "sandbox",
  capabilities,
  vendorHosts: [],
  fold,
  open,
};

/** Addresses have no case here; ids do. */
function fold({ email, id }: SubjectKey): string[] {
  return [...(email === undefined ? [] : [`email:${email.toLowerCase()}`]), ...(id === undefined ? [] : [`id:${id}`])];
}

function open(tenant: Tenant, io: ReadIo | WriteIo): Session {
  const base = tenant.baseUrl.replace(/\/+$/, "");
  const reads = api(base, io);
  const action: Action = {
    observe: (step, subject) => observe(reads, step, subject),
    send: (step, subject, options) => send({ base, io, reads, landing: tenant.landing.role }, step, subject, options),
    describe,
    authorship: (step, subject, key) => authorship(reads, step, subject, key),
  };
  return {
    findSubject: (by) => findSubject(reads, by),
    action: (kind: StepKind) => (STEP_KINDS_HERE.includes(kind) ? action : undefined),
    self: () => self(reads),
    holders: (roles) => holders(reads, roles),
    async listGroups() {
      const listed = await reads.groups();
      if (listed.kind === "unreadable") return listed;
      return { kind: "found", value: listed.items.map(({ id, name, membership }) => ({ id, name, membership })) };
    },
    async listRoles() {
      const listed = await reads.roles();
      if (listed.kind === "unreadable") return listed;
      return { kind: "found", value: listed.items.map(({ id, name }) => ({ id, name })) };
    },
  };
}

type Options = Parameters<Action["send"]>[2];

interface Wire {
  base: string;
  io: ReadIo | WriteIo;
  reads: Api;
  landing: string;
}

async function send(wire: Wire, step: WriteStep, subject: Subject, options: Options): Promise<Reply> {
  const { base, io, reads, landing } = wire;
  if (!("writes" in io)) throw bug(`${step.kind} was to be sent in a session that may only read`);
  if (step.kind !== "cancel_invitation") return put(base, io, sending(step, subject, { landing }), options);
  // An invitation is cancelled by its id. The version, where one is given, makes sure that it is the one that was read.
  const listed = await reads.invitations(subject.email ?? "");
  if (listed.kind === "unreadable") return { kind: "not_sent", detail: `${listed.reason}: ${listed.detail}` };
  const invitation = listed.items[0]?.id;
  if (invitation === undefined)
    return { kind: "gone", status: 404, code: "invitation_not_found", detail: "There is no invitation to cancel." };
  return put(base, io, sending(step, subject, { landing, invitation }), options);
}

async function put(base: string, io: WriteIo, one: Sending | undefined, { key, ifVersion }: Options): Promise<Reply> {
  if (one === undefined) throw bug("a write was to be sent for a subject that lacks the key it needs");
  const guard = one.without === "absent" ? { "if-none-match": "*" } : {};
  const result = await io.fetch({
    ...request(base, one.method, one.route, one.values),
    headers: { "idempotency-key": key, ...(ifVersion === undefined ? guard : { "if-match": ifVersion }) },
    ...(one.body === undefined ? {} : { body: one.body }),
  });
  const reply = replyOf(result, hintsOf(one));
  // A success that changed nothing is someone else's: whatever the guard let through, it is not ours to take back.
  if (reply.kind === "accepted" && result.kind === "answer" && unchanged(result.body))
    return { kind: "conflict", status: reply.status, code: "unchanged", detail: "It was so already." };
  return reply;
}

function unchanged(body: unknown): boolean {
  return typeof body === "object" && body !== null && "changed" in body && body.changed === false;
}
