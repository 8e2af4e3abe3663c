import { z } from "zod";
import { parseFault } from "./faults.ts";
import { accept, close, editGroup, editRole, editUser } from "./meanwhile.ts";
import type { Answer, Change, Outcome } from "./outcome.ts";
import { answer, problem } from "./outcome.ts";
import type { Store } from "./store.ts";
import { stateDocument } from "./views.ts";
import type { FaultBox } from "./weather.ts";
import type { World } from "./world.ts";
import { isRole } from "./world.ts";

const email = z
  .string()
  .max(254)
  .regex(/^[^\s@]+@[^\s@]+$/, "an e-mail address");
const who = z.string().min(1);
const role = z.string().refine(isRole, "guest, member, admin, owner or billing");

const acceptBody = z.strictObject({ email, as: email.optional() });
const ofEmail = z.strictObject({ email });
const roleBody = z.strictObject({ email: who, role });
const groupBody = z.strictObject({ email: who, op: z.enum(["add", "remove"]), group: z.string().min(1) });
const userBody = z.discriminatedUnion("op", [
  z.strictObject({ email: who, op: z.enum(["suspend", "restore", "delete"]) }),
  z.strictObject({ email: who, op: z.literal("rename"), to: email }),
]);
const faultBody = z.strictObject({
  kind: z.string(),
  action: z.string().optional(),
  times: z.int().min(1).max(1_000_000).optional(),
  after: z.int().min(0).max(1_000_000).optional(),
});

export interface Controlled {
  store: Store;
  faults: FaultBox;
  reset(): void;
}

type Endpoint = (tenant: Controlled, body: unknown) => Answer;

/** What happens past the tenant's clients: other people, and whoever tests. None of it is in the record of requests. */
const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  "GET /_sandbox/state": ({ store }) => answer(200, stateDocument(store.current(), store.requests())),
  "POST /_sandbox/reset": (tenant) => {
    tenant.reset();
    return answer(200, { done: "The tenant is as it was at its start." });
  },
  "POST /_sandbox/accept": others("invitation.accept", acceptBody, (world, change, body) =>
    accept(world, change, body.email, body.as),
  ),
  "POST /_sandbox/decline": others("invitation.decline", ofEmail, (world, change, body) =>
    close(world, change, body.email, "declined"),
  ),
  "POST /_sandbox/expire": others("invitation.expire", ofEmail, (world, change, body) =>
    close(world, change, body.email, "expired"),
  ),
  "POST /_sandbox/edit/role": others("role.set", roleBody, (world, change, body) =>
    editRole(world, change, body.email, body.role),
  ),
  "POST /_sandbox/edit/group": others(
    ({ op }) => (op === "add" ? "group.add" : "group.remove"),
    groupBody,
    (world, change, body) => editGroup(world, change, body.email, body.op, body.group),
  ),
  "POST /_sandbox/edit/user": others(
    ({ op }) => `account.${op}`,
    userBody,
    (world, change, body) => editUser(world, change, body.email, body),
  ),
  "GET /_sandbox/faults": ({ faults }) => answer(200, { faults: faults.list() }),
  "DELETE /_sandbox/faults": ({ faults }) => {
    faults.clear();
    return answer(200, { done: "No fault is set." });
  },
  "POST /_sandbox/faults": ({ faults }, raw) => {
    const body = faultBody.safeParse(raw);
    if (!body.success) return unfit(body.error);
    const fault = parseFault(body.data.kind, body.data);
    return typeof fault === "string" ? problem(400, "unknown_fault", fault) : answer(200, faults.set(fault));
  },
};

export function control(tenant: Controlled, method: string, pathname: string, body: unknown): Answer {
  const endpoint = ENDPOINTS[`${method} ${pathname}`];
  if (endpoint === undefined) return problem(404, "unknown_path", `There is no ${method} ${pathname}.`);
  tenant.store.tick();
  return endpoint(tenant, body);
}

function others<T>(
  action: string | ((body: T) => string),
  schema: z.ZodType<T>,
  run: (world: World, change: Change, body: T) => Outcome,
): Endpoint {
  return ({ store }, raw) => {
    const body = schema.safeParse(raw);
    if (!body.success) return unfit(body.error);
    const change: Change = {
      ...store.mint,
      now: new Date().toISOString(),
      token: null,
      ifMatch: null,
      ifNoneMatch: null,
      redeemUrl: () => "",
    };
    const who = {
      token: null,
      actor: typeof action === "string" && action.startsWith("invitation.") ? "invited person" : "administrator",
      action: typeof action === "string" ? action : action(body.data),
      idempotency_key: null,
      request_id: null,
    };
    return store.commit((draft) => run(draft, change, body.data), who).answer;
  };
}

function unfit(error: z.ZodError): Answer {
  return problem(400, "invalid_body", z.prettifyError(error));
}
