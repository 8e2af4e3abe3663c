import { describe, expect, test } from "vitest";
import type { Journal } from "../../../src/runtime/journal/journal.ts";
import type { Lease } from "../../../src/runtime/journal/lease.ts";
import {
  approval,
  failure,
  HOLDER,
  intent,
  note,
  OP,
  OTHER,
  observed,
  open,
  SUBJECTS,
  TENANT,
  written,
} from "./support.ts";

const terms = { leaseMs: 1_000, holder: HOLDER, now: () => 0, alive: () => "dead" as const, sleep: async () => {} };
const take = (journal: Journal, op = OP, keys = SUBJECTS): Promise<Lease> => journal.takeLease(op, keys, terms);
const kinds = (entries: readonly { kind: string }[]) => entries.map(({ kind }) => kind);
const lastOf = (journal: Journal, op = OP) => journal.read(op).at(-1)?.seq ?? -1;

describe("an append that rests on what was read before", () => {
  test("an intent is written where lease and last entry are as expected", async () => {
    const journal = open(written(2));
    const { epoch } = await take(journal);
    const appended = journal.append(OP, [observed(), intent()], { seq: lastOf(journal), epoch });
    expect([appended.ok, kinds(appended.entries)]).toEqual([true, ["step.observed", "step.requested"]]);
    expect(kinds(journal.read(OP))).toEqual([
      "plan.frozen",
      "op.stopped",
      "lease.taken",
      "step.observed",
      "step.requested",
    ]);
  });

  test("a decision that came in meanwhile stops what was decided and concluded, and keeps the evidence", async () => {
    const dir = written(2);
    const journal = open(dir);
    const { epoch } = await take(journal);
    const seq = lastOf(journal);
    open(dir).append(OP, [note("stop, by the operator")]);
    const appended = journal.append(OP, [observed(), intent(), note("after")], { seq, epoch });
    expect([appended.ok, kinds(appended.entries)]).toEqual([false, ["step.observed"]]);
    expect(journal.read(OP).slice(-2)).toMatchObject([{ reason: "stop, by the operator" }, { kind: "step.observed" }]);
  });

  test("evidence alone is written over a stale reading too, and says that it was stale", async () => {
    const dir = written(2);
    const journal = open(dir);
    const { epoch } = await take(journal);
    const seq = lastOf(journal);
    open(dir).append(OP, [note("stop")]);
    expect(journal.append(OP, [observed()], { seq, epoch })).toMatchObject({
      ok: false,
      entries: [{ kind: "step.observed" }],
    });
    expect(journal.append(OP, [intent()], { seq, epoch })).toEqual({ ok: false, entries: [] });
  });

  test("entries of another operation are no reason to stop", async () => {
    const journal = open(written(2));
    const { epoch } = await take(journal);
    const seq = lastOf(journal);
    journal.append(OTHER, [note("elsewhere")]);
    expect(journal.append(OP, [intent()], { seq, epoch }).ok).toBe(true);
  });

  test("a holder that was fenced off writes no intent, and its evidence stays", async () => {
    const dir = written(2);
    const [old, young] = [open(dir), open(dir)];
    const fenced = await take(old);
    const fresh = await take(young);
    expect(fresh.epoch).toBeGreaterThan(fenced.epoch);
    const appended = old.append(OP, [observed(), intent()], { seq: lastOf(old), epoch: fenced.epoch });
    expect([appended.ok, kinds(appended.entries)]).toEqual([false, ["step.observed"]]);
    expect(young.append(OP, [intent()], { seq: lastOf(young), epoch: fresh.epoch }).ok).toBe(true);
  });

  test("a lease that was given up covers nothing", async () => {
    const journal = open(written(2));
    const lease = await take(journal);
    lease.release();
    expect(journal.append(OP, [intent()], { seq: lastOf(journal), epoch: lease.epoch }).ok).toBe(false);
  });

  test("the listed state changes only with an append that holds", async () => {
    const journal = open(written(2));
    const { epoch } = await take(journal);
    journal.append(OP, [note("x")], { seq: 0, epoch }, { state: "stopped" });
    expect(journal.list()[0]?.state).toBeNull();
    journal.append(OP, [note("x")], { seq: lastOf(journal), epoch }, { state: "stopped" });
    expect(journal.list()[0]?.state).toBe("stopped");
  });
});

describe("an approval", () => {
  test("its nonce counts once, for any operation and from any process, and a second use writes nothing", () => {
    const dir = written(2);
    const journal = open(dir);
    journal.append(OP, [approval("drawn-once")]);
    const size = journal.head().size;
    for (const op of [OP, OTHER])
      expect(failure(() => open(dir).append(op, [note("with it"), approval("drawn-once")]))).toEqual({
        code: "nonce_used",
        exit: 13,
      });
    expect(journal.head().size).toBe(size);
    expect(journal.append(OP, [approval("drawn-anew")]).ok).toBe(true);
    expect(journal.verify().ok).toBe(true);
  });
});

describe("a subject that becomes known by its id", () => {
  const ID = `${TENANT} id:usr_1938`;

  test("the id is found by, and held by the lease, from then on", async () => {
    const journal = open(written(2));
    const lease = await take(journal);
    const bound = { kind: "subject.bound", step: 1, subject_id: "usr_1938", by: "accepted_by" } as const;
    expect(journal.append(OP, [bound], { seq: lastOf(journal), epoch: lease.epoch }, { bind: [ID] }).ok).toBe(true);
    expect(journal.bySubject([ID])).toEqual([OP]);
    await expect(journal.takeLease(OTHER, [ID], { ...terms, alive: () => "alive" })).rejects.toMatchObject({
      code: "held",
    });
  });

  test("where another operation holds that id, nothing is bound or written and the lease is over", async () => {
    const journal = open(written(2));
    const lease = await take(journal);
    await take(journal, OTHER, [ID]);
    const bound = { kind: "subject.bound", step: 1, subject_id: "usr_1938", by: "accepted_by" } as const;
    const expected = { seq: lastOf(journal), epoch: lease.epoch };
    const appended = journal.append(OP, [bound, intent(2)], expected, { bind: [ID] });
    expect([appended.ok, kinds(appended.entries)]).toEqual([false, []]);
    expect([lease.stillMine(), lease.beat()]).toEqual([false, false]);
    expect(journal.leaseOf(OTHER)).toBeDefined();
  });
});
