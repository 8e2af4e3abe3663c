import { afterEach, expect } from "vitest";
import { provider } from "../../providers/sandbox/index.ts";
import { type StartedTenant, startTenant, type TenantOptions } from "../../providers/sandbox/tenant/index.ts";
import type { Effect, GroupStep, LicenseStep, Step, StepKind, WriteStep } from "../../src/model/plan.ts";
import type { HttpRequest, HttpResult, Session, WriteIo } from "../../src/model/provider.ts";

export type ClientClass = "read" | "ordinary" | "privileged" | "control";

export interface Sent {
  status: number;
  headers: Headers;
  body: Record<string, unknown> & { items: Record<string, unknown>[]; code: string };
}

/** A tenant with the clients that tests need. */
export interface Bench {
  tenant: StartedTenant;
  /** Sends as one class of token; rejects where the answer does not come whole. */
  call(as: ClientClass, line: string, body?: unknown, headers?: Record<string, string>): Promise<Sent>;
  fault(kind: string, options?: { action?: string; times?: number; after?: number }): Promise<Sent>;
  accept(email: string, as?: string): Promise<Sent>;
  edit(what: "role" | "group" | "user", body: Record<string, string>): Promise<Sent>;
  session(as: Exclude<ClientClass, "control">): Session;
}

const running: StartedTenant[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((tenant) => tenant.close()));
});

/** Starts a tenant that ends with the test. */
export async function bench(options: TenantOptions = {}): Promise<Bench> {
  const tenant = await startTenant(options);
  running.push(tenant);
  const call: Bench["call"] = async (as, line, body, headers = {}) => {
    const [method = "GET", path = "/"] = line.split(" ");
    const response = await fetch(tenant.url + path, {
      method,
      headers: { authorization: `Bearer ${tenant.tokens[as]}`, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as Sent["body"] };
  };
  return {
    tenant,
    call,
    fault: (kind, more = {}) => call("control", "POST /_sandbox/faults", { kind, ...more }),
    accept: (email, as) => call("control", "POST /_sandbox/accept", as === undefined ? { email } : { email, as }),
    edit: (what, body) => call("control", `POST /_sandbox/edit/${what}`, body),
    session: (as) =>
      provider.open(
        { name: "acme-sandbox", baseUrl: tenant.url, landing: { role: "guest", groups: [] } },
        ioOf(tenant.tokens[as]),
      ),
  };
}

/** The least client that a provider can be given: one request, no retry, nothing thrown. */
export function ioOf(token: string): WriteIo {
  return {
    writes: true,
    now: () => new Date().toISOString(),
    async fetch(request: HttpRequest): Promise<HttpResult> {
      let response: Response;
      let text: string;
      try {
        response = await fetch(request.url, {
          method: request.method,
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...request.headers },
          ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
        });
      } catch (error) {
        return { kind: "lost", detail: String(error) };
      }
      const head = { kind: "answer", status: response.status, headers: Object.fromEntries(response.headers) } as const;
      const wait = response.headers.get("retry-after");
      const retryAt = wait === null ? null : new Date(Date.now() + Number(wait) * 1000).toISOString();
      try {
        text = await response.text();
        return { ...head, body: text === "" ? undefined : JSON.parse(text), malformed: false, retryAt };
      } catch {
        return { ...head, body: undefined, malformed: true, retryAt };
      }
    },
  };
}

const NOT_LOOKED_AT = {
  step: 1,
  gate: "plan" as const,
  reversibility: "reversible" as const,
  direction: "raise" as const,
  effects: [] as Effect[],
  undo: null,
  credential: "ordinary" as const,
};

/** Steps as a plan would hold them, with the fields that a provider looks at. */
export const steps = {
  invite: (role = "guest", send_email = false): WriteStep => ({
    ...NOT_LOOKED_AT,
    kind: "invite",
    role,
    send_email,
    accept_by: "2999-01-01T00:00:00.000Z",
    expects: { account: "absent" },
  }),
  wait: (): Step => ({ ...NOT_LOOKED_AT, kind: "wait_for_acceptance", on_deadline: "stop" }),
  cancel: (): WriteStep => ({ ...NOT_LOOKED_AT, kind: "cancel_invitation", expects: { invitation: "pending" } }),
  role: (role: string, before = "guest"): WriteStep => ({
    ...NOT_LOOKED_AT,
    kind: "set_role",
    role,
    expects: { role: before },
  }),
  group: (kind: GroupStep["kind"], id = "grp_77"): WriteStep => ({
    ...NOT_LOOKED_AT,
    kind,
    group: { name: "a group", id },
    expects: { member: kind === "remove_group" },
  }),
  license: (kind: LicenseStep["kind"]): WriteStep => ({
    ...NOT_LOOKED_AT,
    kind,
    license: { name: "pro", id: "lic_1" },
    expects: { assigned: kind === "remove_license" },
  }),
  account: (kind: "create_account" | "suspend_account" | "restore_account" | "delete_account"): WriteStep => ({
    ...NOT_LOOKED_AT,
    kind,
    ...(kind === "create_account" ? { role: "guest" } : {}),
    expects: { account: kind === "create_account" ? "absent" : "active" },
  }),
  revoke: (kind: "revoke_sessions" | "revoke_credentials"): WriteStep => ({ ...NOT_LOOKED_AT, kind }),
};

/** What a session does for a kind of step; every kind that tests use is there. */
export function actionOf(session: Session, kind: StepKind) {
  const action = session.action(kind);
  if (action === undefined) throw new Error(`no action for ${kind}`);
  return action;
}

export const PRIYA = "priya@example.test";
export const GUEST = { email: PRIYA, role: "guest", send_email: false };

export const ADD = "PUT /groups/grp_77/members/usr_1005";

/** Whether usr_1005 is in engineering now, whatever reads say. */
export function isIn({ tenant }: Bench): boolean {
  const members = tenant.state().groups.find((group) => group.id === "grp_77")?.members ?? [];
  return members.some((member) => member.user_id === "usr_1005");
}

/** Looks again and again, half a second at most. */
export async function eventually(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < 100 && !holds(); turn++) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(holds()).toBe(true);
}
