import { describe, expect, test } from "vitest";
import type { Holder } from "../../../src/model/entry.ts";
import type { LeaseTerms } from "../../../src/runtime/journal/lease.ts";
import type { Liveness } from "../../../src/runtime/process.ts";
import { HOLDER, note, OP, OTHER, open, rawly, SUBJECTS, TENANT, tempFolder, written } from "./support.ts";

const RIVAL: Holder = { ...HOLDER, pid: 815, host: "host-b", user: "lee" };

/** A clock that moves only while somebody sleeps on it. */
function clock(leaseMs = 1_000, whileAsleep: () => void = () => {}) {
  let at = 0;
  const slept: number[] = [];
  const terms = (verdict: Liveness, holder = HOLDER): LeaseTerms => ({
    leaseMs,
    holder,
    now: () => at,
    alive: () => verdict,
    sleep: async (ms) => {
      slept.push(ms);
      at += ms;
      whileAsleep();
    },
  });
  const pass = (ms: number): void => {
    at += ms;
  };
  return { terms, slept, pass };
}

describe("the lease", () => {
  test("it is an entry, and its epoch grows over the whole journal and over releases", async () => {
    const journal = open(written(2));
    const { terms } = clock();
    const epochs: number[] = [];
    for (const op of [OP, OTHER, OP]) {
      const lease = await journal.takeLease(op, [], terms("dead"));
      epochs.push(lease.epoch);
      lease.release();
      expect(lease.stillMine()).toBe(false);
    }
    expect(epochs).toEqual([...epochs].sort((a, b) => a - b));
    expect(new Set(epochs).size).toBe(3);
    const taken = journal.read(OP).filter((entry) => entry.kind === "lease.taken");
    expect(taken).toMatchObject([
      { epoch: epochs[0], holder: HOLDER },
      { epoch: epochs[2], holder: HOLDER },
    ]);
  });

  test("a living holder is left alone at once, and the refusal says who, since when and until when", async () => {
    const journal = open(written(2));
    const { terms, slept } = clock();
    await journal.takeLease(OP, SUBJECTS, terms("alive", RIVAL));
    const since = journal.leaseOf(OP)?.since ?? "";
    const attempt = journal.takeLease(OP, SUBJECTS, terms("alive"));
    await expect(attempt).rejects.toMatchObject({ code: "held", exit: 10 });
    for (const part of [OP, "815", "lee", "host-b", since, "when that process ends"])
      await expect(attempt).rejects.toThrow(part);
    expect(slept).toEqual([]);
  });

  test("one key in common is enough to be in the way, and none is not", async () => {
    const journal = open(written(2));
    const { terms } = clock();
    await journal.takeLease(OP, [`${TENANT} email:a`, `${TENANT} login:a`], terms("alive"));
    await expect(
      journal.takeLease(OTHER, [`${TENANT} email:b`, `${TENANT} login:a`], terms("alive")),
    ).rejects.toMatchObject({ code: "held" });
    expect((await journal.takeLease(OTHER, ["other-tenant login:a"], terms("alive"))).stillMine()).toBe(true);
  });

  test("a dead holder is replaced at once and finds itself fenced off", async () => {
    const journal = open(written(2));
    const { terms, slept } = clock();
    const old = await journal.takeLease(OP, SUBJECTS, terms("alive", RIVAL));
    const lease = await journal.takeLease(OTHER, SUBJECTS, terms("dead"));
    expect(slept).toEqual([]);
    expect([old.stillMine(), old.beat(), lease.stillMine(), lease.beat()]).toEqual([false, false, true, true]);
    old.release();
    expect(lease.stillMine()).toBe(true);
  });

  test("a holder that cannot be judged is replaced after its heart stood still for the lease time", async () => {
    const journal = open(written(2));
    const { terms, slept } = clock(1_000);
    const old = await journal.takeLease(OP, SUBJECTS, terms("unknown", RIVAL));
    const lease = await journal.takeLease(OP, SUBJECTS, terms("unknown"));
    expect(slept.reduce((sum, ms) => sum + ms, 0)).toBe(1_000);
    expect([old.stillMine(), lease.stillMine()]).toEqual([false, true]);
  });

  test("a holder that cannot be judged and gives one sign of life is left alone", async () => {
    const dir = written(2);
    const journal = open(dir);
    let naps = 0;
    const { terms, slept } = clock(1_000, () => {
      if (++naps === 7) old.beat();
    });
    const old = await journal.takeLease(OP, SUBJECTS, terms("unknown", RIVAL));
    const attempt = open(dir).takeLease(OP, SUBJECTS, terms("unknown"));
    await expect(attempt).rejects.toMatchObject({ code: "held", exit: 10 });
    await expect(attempt).rejects.toThrow("no sign of life for 1 s");
    expect(slept).toHaveLength(7);
    expect(old.stillMine()).toBe(true);
  });

  test("a sign of life after the last look, and before the lease is taken, counts", async () => {
    const journal = open(written(2));
    const { terms, slept } = clock(1_000);
    const old = await journal.takeLease(OP, SUBJECTS, terms("unknown", RIVAL));
    const watched = terms("unknown");
    let late = false;
    const now = () => {
      if (watched.now() >= 1_000 && !late) late = old.beat();
      return watched.now();
    };
    const lease = await journal.takeLease(OP, SUBJECTS, { ...watched, now });
    expect(slept.reduce((sum, ms) => sum + ms, 0)).toBe(2_000);
    expect([old.stillMine(), lease.stillMine()]).toEqual([false, true]);
  });

  test("a holder that gives up while it is watched is followed at once", async () => {
    const journal = open(written(2));
    const { terms, slept } = clock(1_000, () => old.release());
    const old = await journal.takeLease(OP, SUBJECTS, terms("unknown", RIVAL));
    expect((await journal.takeLease(OP, SUBJECTS, terms("unknown"))).stillMine()).toBe(true);
    expect(slept).toHaveLength(1);
  });

  test("of two who wait for the same silent holder one gets the lease", async () => {
    const dir = written(2);
    const { terms } = clock();
    await open(dir).takeLease(OP, SUBJECTS, terms("unknown", RIVAL));
    const judge = (holder: Holder): Liveness => (holder.pid === RIVAL.pid ? "unknown" : "alive");
    const [a, b] = [clock(), clock()];
    const both = await Promise.allSettled([
      open(dir).takeLease(OP, SUBJECTS, { ...a.terms("unknown", { ...HOLDER, pid: 1 }), alive: judge }),
      open(dir).takeLease(OP, SUBJECTS, { ...b.terms("unknown", { ...HOLDER, pid: 2 }), alive: judge }),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });

  test("it outlasts a request only for as long as the last sign of life lets it", async () => {
    const journal = open(written(2));
    const { terms, pass } = clock(1_000);
    const lease = await journal.takeLease(OP, SUBJECTS, terms("dead"));
    expect([lease.aliveFor(999), lease.aliveFor(1_000)]).toEqual([true, false]);
    pass(600);
    expect([lease.aliveFor(399), lease.aliveFor(400)]).toEqual([true, false]);
    expect(lease.beat()).toBe(true);
    expect(lease.aliveFor(999)).toBe(true);
  });

  test("a sign of life that cannot be written prolongs nothing and breaks nothing", async () => {
    const dir = written(2);
    const journal = open(dir, { busyMs: 20 });
    const { terms, pass } = clock(1_000);
    const lease = await journal.takeLease(OP, SUBJECTS, terms("dead"));
    rawly(dir, (db) => {
      db.exec("BEGIN IMMEDIATE");
      pass(500);
      expect(lease.beat()).toBe(false);
      db.exec("ROLLBACK");
    });
    expect([lease.aliveFor(500), lease.stillMine(), lease.beat()]).toEqual([false, true, true]);
  });

  test("keys that become known are held too, unless another operation holds them", async () => {
    const journal = open(written(2));
    const { terms } = clock();
    const lease = await journal.takeLease(OP, SUBJECTS, terms("alive"));
    lease.addKeys([`${TENANT} id:1`]);
    await expect(journal.takeLease(OTHER, [`${TENANT} id:1`], terms("alive"))).rejects.toMatchObject({ code: "held" });
    await journal.takeLease(OTHER, [`${TENANT} id:2`], terms("alive"));
    expect(() => lease.addKeys([`${TENANT} id:3`, `${TENANT} id:2`])).toThrow(`Operation ${OTHER} is held`);
    lease.release();
    expect((await journal.takeLease(OP, [`${TENANT} id:1`, `${TENANT} id:3`], terms("alive"))).stillMine()).toBe(true);
  });

  test("who holds an operation is told until it is given up, and stands in its entries", async () => {
    const dir = tempFolder();
    const journal = open(dir);
    expect(journal.leaseOf(OP)).toBeUndefined();
    journal.create(OP, { kind: "plan.frozen", plan: "{}", plan_hash: "x" }, { intent: "i", subjects: [] });
    const lease = await journal.takeLease(OP, [], clock().terms("dead", RIVAL));
    expect(open(dir, { readOnly: true }).leaseOf(OP)).toMatchObject({ op: OP, epoch: lease.epoch, holder: RIVAL });
    lease.release();
    expect(journal.leaseOf(OP)).toBeUndefined();
    journal.append(OP, [note("end")]);
    expect(journal.verify().ok).toBe(true);
  });
});
