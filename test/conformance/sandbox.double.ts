import { provider } from "../../providers/sandbox/index.ts";
import { type StartedTenant, type StateDocument, startTenant } from "../../providers/sandbox/tenant/index.ts";
import { catalogSchema } from "../../src/model/catalog.ts";
import type { WriteStep } from "../../src/model/plan.ts";
import type { Double, Way, World } from "./double.ts";
import { type About, type Cast, HOSTILE, PLAIN, type Scene, sceneOf, targetOf, wayThrough } from "./sandbox.scenes.ts";

const catalog = catalogSchema.parse({
  roles: [
    { name: "guest", id: "guest", privilege: 0 },
    { name: "member", id: "member", privilege: 10 },
    { name: "billing", id: "billing", privilege: 70, elevated: true },
    { name: "admin", id: "admin", privilege: 90, elevated: true },
    { name: "owner", id: "owner", privilege: 100, elevated: true },
  ],
  groups: [PLAIN, HOSTILE].map(({ group }) => ({ name: group.id, id: group.id, membership: "direct", privilege: 20 })),
  licenses: [PLAIN, HOSTILE].map(({ license }) => ({ name: license.id, id: license.id })),
});

/** The sandbox against its own tenant, over a real socket. */
export const sandbox: Double = {
  provider,
  catalog,
  tenant: { name: "acme-sandbox", landing: { role: "guest", groups: [] } },
  impossible,
  async start(kind, dress) {
    const cast = dress === "hostile" ? HOSTILE : PLAIN;
    const scene = sceneOf(kind, cast);
    const tenant = await startTenant({ seed: scene.seed });
    return worldOf(tenant, scene, cast);
  },
};

const NO_VERSION: readonly WriteStep["kind"][] = ["invite", "create_account", "revoke_sessions", "revoke_credentials"];
const LISTED: readonly About[] = ["invitation", "sessions", "credentials"];

const NO_TRACE: Partial<Record<About, string>> = {
  membership: "an absence has no version, and shows nothing of what was there meanwhile",
  license: "an absence has no version, and shows nothing of what was there meanwhile",
};

/** Facts of the tenant, each in the provider's README. */
function impossible(fault: string, kind: WriteStep["kind"], way: Way): string | undefined {
  const scene = sceneOf(kind, PLAIN);
  if (fault === "ignore_if_match" && way === "apply" && NO_VERSION.includes(kind))
    return "what is made new, and what has no version, is sent without a guard";
  if (fault === "truncate_page/reads") {
    const lists = LISTED.includes(scene.about) || (kind === "create_account" && way === "apply");
    // Whoever takes an elevated role is counted among its holders first.
    if (!lists && !(kind === "set_role" && way === "undo")) return "the reading is exact, and no page of a list";
  }
  if (fault.startsWith("rival_other") && scene.other?.[way] === undefined)
    return "there is no third thing that it could be";
  if (fault.startsWith("rival_touch") && scene.touch[way] === null)
    return NO_TRACE[scene.about] ?? "what was revoked does not come back";
  return undefined;
}

function worldOf(tenant: StartedTenant, scene: Scene, cast: Cast): World {
  const { about, actions, words, step } = scene;
  let edits = 0;
  let past = 0;
  const left = new Map<number, number>();
  const call = async (as: "read" | "privileged" | "control", line: string, body?: unknown) => {
    const [method = "GET", path = "/"] = line.split(" ");
    const response = await fetch(tenant.url + path, {
      method,
      headers: { authorization: `Bearer ${tenant.tokens[as]}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as Record<string, unknown>;
    if (!response.ok) throw new Error(`${line} is answered ${response.status}: ${JSON.stringify(answer)}`);
    return answer;
  };
  const strikes = async (): Promise<number> => {
    const { faults } = (await call("control", "GET /_sandbox/faults")) as { faults: { id: number; times: number }[] };
    const now = new Map(faults.map(({ id, times }) => [id, times]));
    return [...left].reduce((sum, [id, times]) => sum + times - (now.get(id) ?? 0), 0);
  };
  return {
    baseUrl: tenant.url,
    tokens: tenant.tokens,
    subject: about === "invitation" || step.kind === "create_account" ? { email: cast.email } : { ...ofAccount(cast) },
    step,
    words,
    async fault(kind, on, times) {
      const action = on === "all" ? {} : { action: actions[on] };
      const set = await call("control", "POST /_sandbox/faults", { kind, times, ...action });
      left.set(Number(set.id), Number(set.times));
    },
    struck: async () => past + edits + (await strikes()),
    async clear() {
      past += await strikes();
      left.clear();
      await call("control", "DELETE /_sandbox/faults");
    },
    async rival(edit, way) {
      for (const to of wayThrough(scene, edit, way)) {
        edits += 1;
        const [as, line, body] = editing(about, to, cast, tenant.state());
        await call(as, line, body);
      }
    },
    async truth() {
      const state = tenant.state();
      const listed =
        about === "credentials" ? await call("read", `GET /users/${encodeURIComponent(cast.id)}/credentials`) : {};
      return {
        writes: state.requests.flatMap(({ action, idempotency_key: key, applied }) =>
          action === null ? [] : [{ key, applied }],
        ),
        target: about === "credentials" ? String(listed.total) : targetOf(about, state, cast),
        rest: restOf(about, state, cast),
      };
    },
    close: tenant.close,
  };
}

function ofAccount({ email, id }: Cast) {
  return { email, id };
}

type Edited = readonly [as: "privileged" | "control", line: string, body?: unknown];

/** Another administrator makes this of the target, or the invited person does. */
function editing(about: About, to: string, cast: Cast, state: StateDocument): Edited {
  const { email, group, license } = cast;
  const id = encodeURIComponent(cast.id);
  switch (about) {
    case "invitation":
      if (to === "pending") return ["privileged", "POST /invitations", { email, role: "guest", send_email: false }];
      if (to === "member") return ["privileged", "POST /users", { email, role: "guest" }];
      if (to === "cancelled")
        return ["privileged", `DELETE /invitations/${state.invitations.findLast((one) => one.email === email)?.id}`];
      return ["control", `POST /_sandbox/${to === "accepted" ? "accept" : "decline"}`, { email }];
    case "account":
      if (!state.users.some((user) => user.email === email && user.status !== "deleted") && to === "active")
        return makesActive(state, email);
      return ["control", "POST /_sandbox/edit/user", { email, op: STATUS_EDITS[to] }];
    case "role":
      return ["control", "POST /_sandbox/edit/role", { email: cast.id, role: to }];
    case "membership":
      return [
        "control",
        "POST /_sandbox/edit/group",
        { email: cast.id, group: group.id, op: to === "in" ? "add" : "remove" },
      ];
    case "license":
      return ["privileged", `${to === "in" ? "PUT" : "DELETE"} /licenses/${license.id}/assignments/${id}`];
    default:
      return ["privileged", `DELETE /users/${id}/${about}`];
  }
}

const STATUS_EDITS: Readonly<Record<string, string>> = { active: "restore", suspended: "suspend", deleted: "delete" };

function makesActive(state: StateDocument, email: string): Edited {
  const gone = state.users.some((user) => user.email === email);
  return gone
    ? ["control", "POST /_sandbox/edit/user", { email, op: "restore" }]
    : ["privileged", "POST /users", { email, role: "guest" }];
}

/** The state without what the step is about and what its description says will go with it. */
function restOf(about: About, state: StateDocument, cast: Cast): string {
  const { email, id } = cast;
  const { requests: _, ...rest } = structuredClone(state);
  const subject = rest.users.filter((user) => user.email === email);
  switch (about) {
    case "invitation":
      rest.users = rest.users.filter((user) => user.email !== email);
      rest.invitations = rest.invitations.filter((one) => one.email !== email);
      rest.sessions = rest.sessions.filter(({ user_id }) => !subject.some((user) => user.id === user_id));
      break;
    case "account":
      if (subject.every((user) => user.id !== id)) rest.users = rest.users.filter((user) => user.email !== email);
      for (const user of subject) user.status = "";
      rest.sessions = rest.sessions.filter(({ user_id }) => user_id !== id);
      break;
    case "role":
      for (const user of subject) user.role = "";
      break;
    case "membership":
      for (const group of rest.groups.filter((one) => one.id === cast.group.id))
        group.members = group.members.filter(({ user_id }) => user_id !== id);
      break;
    case "license":
      for (const license of rest.licenses.filter((one) => one.id === cast.license.id))
        license.members = license.members.filter((user_id) => user_id !== id);
      break;
    case "sessions":
      rest.sessions = rest.sessions.filter(({ user_id }) => user_id !== id);
      break;
    case "credentials":
      break;
  }
  return JSON.stringify(rest);
}
