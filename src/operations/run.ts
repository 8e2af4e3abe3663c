import { type Authority, coverOf, type Refusal, requestFor } from "../core/approval.ts";
import type { Context } from "../core/move.ts";
import { limitsFor } from "../core/pace.ts";
import { currentStep } from "../core/progress.ts";
import type { OperationState } from "../core/state.ts";
import { type StateName, stateOf } from "../core/status.ts";
import type { Payload } from "../model/entry.ts";
import { ProvisionError } from "../model/errors.ts";
import { execute, type Log, type Surroundings } from "../runtime/execute.ts";
import { heldError } from "../runtime/journal/held.ts";
import type { Appended, Aside, Lease } from "../runtime/journal/journal.ts";
import { handsOf, type Reach } from "../runtime/perform.ts";
import { livenessOf, thisProcess } from "../runtime/process.ts";
import { memoAuthority } from "./authority.ts";
import type { Desk, TenantDesk } from "./desk.ts";
import { classFor, guardFor } from "./guarding.ts";
import { type OpenedHere, openOperation, openToAct } from "./open.ts";
import { progressOf } from "./progress.ts";
import { openSessions, type Sessions } from "./sessions.ts";
import { holderOf } from "./status.ts";
import { subjectKeys } from "./subject.ts";
import { keepingAnswers } from "./unrecorded.ts";

export interface Ran {
  opened: OpenedHere;
  name: StateName;
  refusal: Refusal | null;
  /** A signal ended it before it had come to rest. */
  interrupted: boolean;
}

/** States that a plain run leaves as they are: nothing may be sent, and no read could change that. */
const AT_REST: readonly StateName[] = [
  "completed",
  "partial_failure",
  "stopped",
  "cancelled",
  "superseded",
  "handed_over",
  "rolled_back",
  "rolled_back_in_part",
  "rollback_pending",
];

/**
 * Carries out an operation, or goes on where the journal stands. With `waitMs` it waits so long, in all, for an
 * acceptance and for decisions; while it waits for a decision it holds no lease.
 */
export async function runOperation(desk: Desk, op: string, options: { waitMs: number | null }): Promise<Ran> {
  const { now } = desk.shell;
  const until = options.waitMs === null ? null : now() + options.waitMs;
  let ran = await runOnce(desk, op, options.waitMs);
  while (until !== null && ran.name === "awaiting_approval" && ran.refusal === null && !ran.interrupted) {
    if (!(await decided(desk, ran, until))) return { ...ran, interrupted: desk.shell.interrupted() };
    ran = await runOnce(desk, ran.opened.id, Math.max(0, until - now()));
  }
  return ran;
}

async function runOnce(desk: Desk, op: string, waitMs: number | null): Promise<Ran> {
  const opened = await openToAct(desk, op);
  const name = nameOf(desk, opened);
  const rest = atRest(desk, opened, name);
  return rest ? { opened, name, refusal: rest.refusal, interrupted: false } : underLease(desk, opened, waitMs, []);
}

/** Between two looks for a decision, in milliseconds. */
const LOOK_MS = 250;

/** Whether anything was recorded before the time was over or a signal came. */
async function decided(desk: Desk, { opened }: Ran, until: number): Promise<boolean> {
  const { shell } = desk;
  shell.progress({ kind: "wait", seconds: Math.ceil((until - shell.now()) / 1000), why: "decision" });
  while (!shell.interrupted() && shell.now() < until) {
    await shell.sleep(Math.min(LOOK_MS, until - shell.now()));
    if (openOperation(desk.journal(), opened.id).state.seq !== opened.state.seq) return true;
  }
  return false;
}

/** Where nothing may be sent and no read could change that, nothing is read, and nothing is recorded. */
function atRest(desk: Desk, opened: OpenedHere, name: StateName): { refusal: Refusal | null } | null {
  const { state, authority } = opened;
  if (AT_REST.includes(name) || state.rollback !== null) return { refusal: null };
  if (name !== "awaiting_approval") return null;
  const step = currentStep(state);
  if (!step) return null;
  const number = step.plan.step;
  const denied = authority.denied.get(number);
  if (denied) return { refusal: denied };
  const reading = requestFor(state, number, "apply")?.readings[String(number)] ?? null;
  const cover = coverOf(state, step, "apply", reading, desk.shell.now(), authority);
  return cover.kind === "given" ? null : { refusal: cover.kind === "refused" ? cover.refusal : null };
}

/** The state by name, with a live executor counted in. */
export function nameOf(
  desk: Desk,
  { id, state, authority }: Pick<OpenedHere, "id" | "state" | "authority">,
): StateName {
  return stateOf(state, desk.shell.now(), authority, holderOf(desk, id) !== null);
}

/** Takes the lease, appends what began this run, and drives the loop until nothing can move. */
export async function underLease(
  desk: Desk,
  opened: OpenedHere,
  waitMs: number | null,
  opening: Payload[],
): Promise<Ran> {
  const { id, plan, planHash, tenant } = opened;
  const journal = desk.journal();
  const { timing } = tenant.resolved;
  const sessions = openSessions(desk, tenant, journal.fingerprintKey(id));
  const known = { ...plan.subject, ...(opened.state.subjectId === null ? {} : { id: opened.state.subjectId }) };
  const lease = await journal.takeLease(id, subjectKeys(tenant, plan.tenant, known), {
    leaseMs: timing.leaseMs,
    holder: thisProcess(),
    now: () => performance.now(),
    alive: livenessOf,
    sleep: (ms) => patiently(desk, id, ms),
  });
  const pulse = setInterval(() => beat(lease), timing.leaseMs / 4);
  pulse.unref();
  let aside: Aside | undefined;
  try {
    journal.takeIn(id);
    // Room for an answer that the journal could not take is held before anything is sent.
    aside = journal.reserve(id);
    if (opening.length > 0) journal.append(id, opening);
    const authority = memoAuthority(desk, tenant);
    const patience = waitMs === null ? null : desk.shell.now() + waitMs;
    const io = surroundings(desk, tenant, authority, patience);
    const hands = handsOf(reachOf(desk, tenant, opened, sessions, lease));
    const { refusal, interrupted } = await execute(plan, planHash, logOf(desk, tenant, id, lease, aside), hands, io);
    const after = openOperation(journal, id);
    const now = { ...opened, ...after, authority: authority(after.state) };
    const name = stateOf(now.state, desk.shell.now(), now.authority);
    journal.setState(id, name);
    return { opened: now, name, refusal, interrupted };
  } finally {
    clearInterval(pulse);
    aside?.release();
    lease.release();
    await sessions.close();
  }
}

/** A wait for another executor ends with a signal: there is nothing of ours in the air. */
async function patiently({ shell }: Desk, id: string, ms: number): Promise<void> {
  await shell.sleep(ms);
  if (!shell.interrupted()) return;
  const message = `A signal came while ${id} waited for its other executor; nothing was sent.`;
  throw new ProvisionError("interrupted", 130, message, { hint: `provision run ${id}` });
}

/** From a timer nothing may be thrown. Without a sign of life the lease runs out, which is asked before each write. */
function beat(lease: Lease): void {
  try {
    lease.beat();
  } catch {
    return;
  }
}

function logOf(desk: Desk, tenant: TenantDesk, id: string, lease: Lease, aside: Aside): Log {
  const journal = desk.journal();
  const append = (payloads: Payload[], seq: number): Appended => {
    const bound = payloads.flatMap((payload) => (payload.kind === "subject.bound" ? [payload.subject_id] : []));
    const bind = bound.flatMap((subject) => subjectKeys(tenant, tenant.resolved.name, { id: subject }));
    return journal.append(id, payloads, { seq, epoch: lease.epoch }, { bind });
  };
  const keeping = keepingAnswers(append, aside, desk.shell);
  return {
    read: () => journal.read(id),
    append(payloads, seq) {
      const written = keeping(payloads, seq);
      // What the account turned out to be is held by another operation: whose it is, is said as at the start.
      const held = written.rival === undefined ? undefined : journal.leaseOf(written.rival);
      if (held) throw heldError(held, livenessOf(held.holder), tenant.resolved.timing.leaseMs);
      return written;
    },
    holds: () => lease.stillMine(),
  };
}

function surroundings(
  desk: Desk,
  tenant: TenantDesk,
  authority: (state: OperationState) => Authority,
  patience: number | null,
): Surroundings {
  const { shell } = desk;
  const { capabilities } = tenant.provider;
  const context = (state: OperationState): Context => ({
    now: shell.now(),
    limits: limitsFor(tenant.resolved.timing),
    keys: capabilities.idempotencyKeyLifetimeMs !== null,
    authorship: capabilities.authorship,
    ifMatch: capabilities.guard === "if_match",
    authority: authority(state),
    patienceUntil: patience,
  });
  return {
    now: shell.now,
    sleepUntil: async (at) => shell.sleep(Math.max(1, at - shell.now())),
    context,
    interrupted: shell.interrupted,
    progress: (event) => {
      const shown = progressOf(event, shell.now());
      if (shown) shell.progress(shown);
    },
  };
}

function reachOf(desk: Desk, tenant: TenantDesk, opened: OpenedHere, sessions: Sessions, lease: Lease): Reach {
  const { credentials } = sessions;
  return {
    open: sessions.open,
    load: async (credential) => {
      await credentials.load(credential);
    },
    refresh: async (credential) => {
      await credentials.refresh(credential);
    },
    classFor: (step) => classFor(step, credentials.has("privileged")),
    guard: guardFor(tenant, opened, sessions),
    now: desk.shell.now,
    leaseHolds: () => lease.aliveFor(tenant.resolved.timing.requestMs) && lease.stillMine(),
  };
}
