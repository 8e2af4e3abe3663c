import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Authority, pendingDecisions, type Refusal } from "../../src/core/approval.ts";
import { fold } from "../../src/core/fold.ts";
import { credentialOf, directionOf, gateOf } from "../../src/core/gates.ts";
import { planBytes, planHash } from "../../src/core/hashes.ts";
import { limitsFor } from "../../src/core/pace.ts";
import { settledUndo } from "../../src/core/resolved.ts";
import { type AnyEntry, begin, type OperationState } from "../../src/core/state.ts";
import { type StateName, stateOf } from "../../src/core/status.ts";
import type { Holder, Payload, Phase } from "../../src/model/entry.ts";
import { base32 } from "../../src/model/ids.ts";
import type { Plan, WriteStep } from "../../src/model/plan.ts";
import { execute, type Hands, type Log, type Surroundings } from "../../src/runtime/execute.ts";
import { handsOf } from "../../src/runtime/perform.ts";
import type { Double, World } from "./double.ts";
import { reachOf, roleExpected, type Wire } from "./reach.ts";

/** Small, so that a matrix takes a minute; far above what one request on this machine takes. In milliseconds. */
export const TIMING = { requestMs: 250, settleMs: 30 };
export const LIMITS = limitsFor(TIMING);

/** What happens at the first write of the way that is tried. */
export interface Hooks {
  /** Once the intent is recorded, ahead of the request. */
  between?: () => Promise<void>;
  /** When the answer is there, ahead of every read that follows. */
  after?: () => Promise<void>;
  /** The process ends without another word: ahead of the request, or with the answer in hand and not written down. */
  dies?: "unsent" | "unrecorded";
}

/** One operation of one step, carried out by the real loop over a journal that is kept in memory. */
export interface Play {
  world: World;
  entries: readonly AnyEntry[];
  state(): OperationState;
  name(): StateName;
  /** Runs, approves what is asked for, and runs again. Gives the refusal that the last run ended with. */
  run(hooks?: Hooks, wire?: Wire): Promise<Refusal | null>;
  /** As `run`, on the way back: begun, or begun again for what was refused before. */
  rollback(hooks?: Hooks, wire?: Wire): Promise<Refusal | null>;
  /** A person opens the step again. */
  retry(): void;
  /** A person's word that nothing happened. */
  resolve(): void;
  close(): Promise<void>;
}

const HOLDER: Holder = { host: "", boot_id: "", pid_namespace: "", pid: 1, start_time: "", user: "" };
const ENVELOPE = { stmt: "", alg: "sshsig", sig: "" } as const;
const FOREVER = { not_before: "2000-01-01T00:00:00.000Z", not_after: "2999-01-01T00:00:00.000Z" };
const APPROVER = "approver@example.test";

export function playOn(double: Double, world: World): Play {
  const { plan, hash } = frozen(double, world);
  const { capabilities } = double.provider;
  const entries: AnyEntry[] = [];
  const reached = new Map<Wire, ReturnType<typeof reachOf>>();
  const reach = (wire: Wire) => {
    const opened = reached.get(wire) ?? reachOf(double, world, TIMING.requestMs, wire);
    reached.set(wire, opened);
    return opened;
  };
  let dead = false;
  const append = (payloads: readonly Payload[]): AnyEntry[] => {
    const op = plan.operation_id;
    const at = new Date().toISOString();
    const made = payloads.map((payload, index) => ({ ...payload, seq: entries.length + index + 1, at, op }));
    entries.push(...made);
    return made;
  };
  append([{ kind: "plan.frozen", plan: planBytes(plan), plan_hash: hash }]);
  const state = () => entries.reduce(fold, begin(plan, hash));
  const authority = (): Authority => {
    const ids = entries.flatMap((entry) => (entry.kind === "approval.recorded" ? [entry.approval.approval_id] : []));
    return { approvals: new Map(ids.map((id) => [id, null])), denied: new Map() };
  };
  const log: Log = {
    read: () => [...entries],
    append: (payloads, seq) => ({ ok: seq === entries.length, entries: append(payloads) }),
    holds: () => !dead,
  };
  const io: Surroundings = {
    now: Date.now,
    sleepUntil: (at) => sleep(Math.max(1, at - Date.now())),
    context: () => ({
      now: Date.now(),
      limits: LIMITS,
      keys: capabilities.idempotencyKeyLifetimeMs !== null,
      authorship: capabilities.authorship,
      ifMatch: capabilities.guard === "if_match",
      authority: authority(),
      patienceUntil: null,
    }),
    interrupted: () => false,
    progress: () => undefined,
  };
  const approve = (phase: Phase, steps: number[]): void => {
    const id = base32(randomBytes(10));
    const approval = { approval_id: id, envelope: ENVELOPE, approver: APPROVER, phase, steps, nonce: id, ...FOREVER };
    append([{ kind: "approval.recorded", approval: { ...approval, card_hash: "", subject_id: null } }]);
  };
  const once = async (hands: Hands): Promise<Refusal | null> => {
    append([{ kind: "lease.taken", epoch: state().epoch + 1, holder: HOLDER }]);
    try {
      return (await execute(plan, hash, log, hands, io)).refusal;
    } catch (error) {
      if (!dead) throw error;
      dead = false;
      return null;
    }
  };
  const drive = async (hooks: Hooks, wire: Wire): Promise<Refusal | null> => {
    const hands = hooked(handsOf(reach(wire)), hooks, () => {
      dead = true;
    });
    for (let rounds = 0; ; rounds++) {
      const asked = pendingDecisions(state(), Date.now(), authority());
      if (asked.steps.length > 0) approve(asked.phase, asked.steps);
      else if (rounds > 0) return null;
      const refusal = await once(hands);
      if (refusal !== null || rounds > 2) return refusal;
    }
  };
  return {
    world,
    entries,
    state,
    name: () => stateOf(state(), Date.now(), authority()),
    run: (hooks = {}, wire = "once") => drive(hooks, wire),
    rollback: (hooks = {}, wire = "once") => {
      const undone = state().steps[0]?.undone;
      const again = undone && !settledUndo(undone.result) && undone.result !== "unknown";
      if (state().rollback === null || again)
        append([{ kind: "op.state", event: "rollback", detail: null, to_step: 0 }]);
      return drive(hooks, wire);
    },
    retry: () => void append([{ kind: "step.retried", step: 1, by: "os:ana" }]),
    resolve: () => {
      const word = {
        as: "not-applied",
        envelope: ENVELOPE,
        approver: APPROVER,
        nonce: base32(randomBytes(10)),
      } as const;
      append([{ kind: "step.resolved", step: 1, ...word }]);
    },
    close: async () => {
      await Promise.all([...reached.values()].map((opened) => opened.close()));
    },
  };
}

/** The plan of this one step, with everything about it that engine and provider work out. */
function frozen(double: Double, { step, subject }: World): { plan: Plan; hash: string } {
  const { provider, catalog, tenant } = double;
  const stakes = { catalog, heldRole: roleExpected(step) };
  const io = { now: () => "", fetch: () => Promise.reject(new Error("a description asks nobody")) };
  const action = provider.open({ ...tenant, baseUrl: "http://127.0.0.1" }, io).action(step.kind);
  if (!action) throw new Error(`${provider.name} names ${step.kind} among its steps and has no action for it`);
  const whole: WriteStep = { ...step, ...action.describe(step), step: 1 };
  whole.direction = directionOf(whole, stakes);
  whole.credential = credentialOf(whole, stakes);
  whole.gate = gateOf(whole, stakes);
  const plan: Plan = {
    schema: "provision.plan/v1",
    operation_id: `prov_2026_07_24_${base32(randomBytes(5))}`,
    salt: randomBytes(16).toString("base64url"),
    created_at: new Date().toISOString(),
    tenant: tenant.name,
    provider: provider.name,
    kind: "change",
    requester: { id: "os:ana", via: "cli", verified: true, claimed: null },
    subject,
    ticket: null,
    reason: null,
    intent_hash: "",
    steps: [whole],
    preconditions: {},
    observations: [],
    catalog_hash: "",
    policy_hash: "",
  };
  return { plan, hash: planHash(planBytes(plan)) };
}

/** The hands of the real thing, with what the cell wants to happen around their first write. */
function hooked(hands: Hands, hooks: Hooks, die: () => void): Hands {
  let first = true;
  const end = (): never => {
    die();
    throw new Error("the process ended here");
  };
  return {
    observe: hands.observe,
    async send(state, move) {
      if (!first) return hands.send(state, move);
      first = false;
      await hooks.between?.();
      if (hooks.dies === "unsent") return end();
      const entry = await hands.send(state, move);
      if (hooks.dies === "unrecorded") return end();
      await hooks.after?.();
      return entry;
    },
  };
}
