import { join } from "node:path";
import Sqlite from "better-sqlite3";
import type { StateDocument } from "../../providers/sandbox/tenant/views.ts";
import type { Entry } from "../../src/model/entry.ts";
import { openJournal } from "../../src/runtime/journal/journal.ts";
import type { Operation } from "./desk.ts";
import type { Said } from "./kills.command.ts";

/** What an operation came to, without times, ids of requests and the number of tries that it took. */
export function outcome({ state, steps, compensations, residual_effects }: Operation) {
  return {
    state,
    steps: steps.map(({ step, action, target, result, undo, receipt }) => ({
      step: `${step} ${action} ${target ?? ""} ${result} ${undo}`,
      receipt: receipt && [receipt.before, receipt.after, receipt.attribution],
    })),
    compensations: compensations.map(({ action, target, result }) => [action, target, result]),
    residual: residual_effects.map(({ step, kind }) => [step, kind]),
  };
}

/** What the tenant holds, by e-mail and name, and what was done to it, in order. */
export function truth(state: StateDocument) {
  const email = new Map(state.users.map((user) => [user.id, user.email]));
  return {
    users: state.users.map((user) => [user.email, user.role, user.status]),
    groups: state.groups.map(({ name, members }) => [name, members.map((one) => [email.get(one.user_id), one.via])]),
    invitations: state.invitations.map((one) => [one.email, one.role, one.state, email.get(one.accepted_by ?? "")]),
    licenses: state.licenses.map(({ id, members }) => [id, members.map((one) => email.get(one))]),
    mails: state.mails.map(({ to, kind }) => [to, kind]),
    applied: state.requests.filter(({ applied }) => applied).map(({ method, path, action }) => [method, path, action]),
  };
}

/** The journal as it lies there, whoever died over it. */
export function lastSeq(dir: string): number {
  const db = new Sqlite(join(dir, ".provision", "journal.db"));
  try {
    return db.prepare("SELECT coalesce(max(seq), -1) FROM entry").pluck().get() as number;
  } finally {
    db.close();
  }
}

export function entriesOf(dir: string, op: string): Entry[] {
  const io = { now: () => new Date().toISOString(), random: () => new Uint8Array() };
  const journal = openJournal({ dir: join(dir, ".provision"), readOnly: true, ...io });
  try {
    return journal.read(op);
  } finally {
    journal.close();
  }
}

/**
 * What the tenant's own record says against the journal: requests of one step and try that were applied more than once,
 * and writes that no intent stands behind.
 */
export function againstTheRecord(state: StateDocument, entries: readonly Entry[]): string[] {
  const intents = new Map<string, string>();
  for (const entry of entries)
    if (entry.kind === "step.requested")
      intents.set(entry.key, `${entry.op} step ${entry.step} ${entry.phase} ${entry.try}`);
  const writes = state.requests.filter(({ method }) => method !== "GET");
  const doubled = new Map<string, number>();
  for (const { idempotency_key: key, applied } of writes)
    if (applied) doubled.set(key ?? "", (doubled.get(key ?? "") ?? 0) + 1);
  return [
    ...[...doubled]
      .filter(([, times]) => times > 1)
      .map(([key, times]) => `${intents.get(key) ?? key} was applied ${times} times`),
    ...writes
      .filter(({ idempotency_key: key }) => !intents.has(key ?? ""))
      .map(({ seq, method, path }) => `${method} ${path} (${seq}) has no intent in the journal`),
  ];
}

/** The one document that a command line printed. */
export function documentIn<T>({ stdout }: Pick<Said, "stdout">): T {
  return JSON.parse(stdout) as T;
}
