import { describe, expect, test } from "vitest";
import { execute } from "../../src/runtime/execute.ts";
import { absent, group, HASH, invite, invited, lost, notInvited, type ok, planOf, wait } from "../core/build.ts";
import { HOLDER } from "../core/story.ts";
import { happen, observed, type Stage, stage, transport } from "./execute.double.ts";

const ONE = planOf([group()]);
const TWO = planOf([group(), group("platform", "grp_78")]);

const run = (at: Stage) => execute(at.story.plan, HASH, at.log, at.hands, at.io);

test("a step makes two durable commits: its reading with its intent before the first byte, and its reply at once", async () => {
  const at = stage(ONE);
  await run(at);
  expect(at.story.name()).toBe("completed");
  expect(at.happened).toEqual([
    "read 1",
    "step.observed+step.requested",
    "send 1",
    "step.transport",
    "read 1",
    "step.observed+step.receipt",
  ]);
});

test("the receipt of one step becomes durable with the intent of the next", async () => {
  const at = stage(TWO);
  await run(at);
  expect(at.happened.filter((what) => what.includes("step.requested"))).toEqual([
    "step.observed+step.requested",
    "step.observed+step.receipt+step.observed+step.requested",
  ]);
});

test("an intent is appended with the sequence that was read: whoever was faster is seen first", async () => {
  const at = stage(ONE);
  at.meanwhile.set("step.requested", () => at.story.add({ kind: "op.stopped", by: "os:kim", reason: null }));
  await run(at);
  expect(at.happened).toContain("refused step.observed+step.requested");
  expect(at.sends).toBe(0);
  expect(at.story.name()).toBe("stopped");
  expect(at.story.entries.some(({ kind }) => kind === "step.observed")).toBe(true);
});

test("a stop that came in while a write was out is seen before the next one, and the reply is kept", async () => {
  const at = stage(TWO);
  at.meanwhile.set("send 1", () => at.story.add({ kind: "op.stopped", by: "os:kim", reason: null }));
  await run(at);
  expect(at.sends).toBe(1);
  expect(at.happened).toContain("refused step.transport");
  expect(at.story.entries.filter(({ kind }) => kind === "step.transport")).toHaveLength(1);
  expect(at.story.state.steps[0]?.receipt?.result).toBe("added");
  expect(at.story.name()).toBe("stopped");
});

test("an approval that came in while the run was about to halt lets it go on", async () => {
  const at = stage(planOf([group(), group("on-call-readers", "grp_81", { gate: "call" })]));
  let asked = 0;
  const append = at.log.append;
  at.log.append = (payloads, seq) => {
    if (payloads.length === 0 && asked++ === 0) at.story.approve();
    return append(payloads, seq);
  };
  await run(at);
  expect(asked).toBeGreaterThan(0);
  expect(at.sends).toBe(2);
  expect(at.story.name()).toBe("completed");
});

describe("a lost lease", () => {
  const lost = { code: "lease_lost", exit: 10 };

  test("before the intent means exit 10, and nothing is sent", async () => {
    const at = stage(ONE);
    at.meanwhile.set("step.requested", () => {
      at.mine = false;
    });
    await expect(run(at)).rejects.toMatchObject(lost);
    expect(at.sends).toBe(0);
    expect(at.story.entries.some(({ kind }) => kind === "step.requested")).toBe(false);
  });

  test("while a write was out means exit 10: its reply is kept, and nothing more is sent", async () => {
    const at = stage(TWO);
    at.meanwhile.set("send 1", () => {
      at.mine = false;
      at.story.add({ kind: "lease.taken", epoch: 2, holder: HOLDER });
    });
    await expect(run(at)).rejects.toMatchObject(lost);
    expect(at.sends).toBe(1);
    const kept = at.story.entries.filter(({ kind }) => kind === "step.transport");
    expect(kept).toMatchObject([{ epoch: 1, step: 1 }]);
    expect(at.story.entries.some(({ kind }) => kind === "step.receipt")).toBe(false);
  });
});

describe("a signal", () => {
  const interruptedAt = (what: string) => {
    const at = stage(TWO);
    at.meanwhile.set(what, () => {
      at.interrupted = true;
    });
    return at;
  };

  test("before anything was announced ends the run at once", async () => {
    const at = interruptedAt("read 1");
    const { refusal } = await run(at);
    expect(refusal).toBeNull();
    expect(at.sends).toBe(0);
    expect(at.story.name()).toBe("interrupted");
  });

  test("while a write is out settles that write, records it, and begins nothing new", async () => {
    const at = interruptedAt("send 1");
    await run(at);
    expect(at.sends).toBe(1);
    expect(at.story.state.steps[0]?.receipt).toMatchObject({ result: "added", attribution: "proven" });
    expect(at.story.name()).toBe("interrupted");
    expect(at.happened).not.toContain("read 2");
  });

  test("does not send again what was lost, and leaves it in doubt", async () => {
    const at = interruptedAt("send 1");
    at.hands = {
      observe: async (state, move) => observed(state, move, absent),
      send: async (state, move) => {
        happen(at, "send 1");
        at.sends += 1;
        return transport(state, move, lost as typeof ok);
      },
    };
    await run(at);
    expect(at.sends).toBe(1);
    expect(at.story.name()).toBe("needs_reconciliation");
    expect(at.story.entries.at(-1)).toMatchObject({ kind: "op.state", event: "interrupted" });
  });

  test("lets the next run go on where this one stood", async () => {
    const at = interruptedAt("send 1");
    await run(at);
    at.interrupted = false;
    at.story.lease();
    await run(at);
    expect(at.sends).toBe(2);
    expect(at.story.name()).toBe("completed");
  });
});

test("an error on the way leaves everything that was read or sent durable, and comes through as it is", async () => {
  const at = stage(TWO);
  const { observe } = at.hands;
  at.hands.observe = async (state, move) => {
    if (move.step === 2) throw new Error("the wire broke");
    return observe(state, move);
  };
  await expect(run(at)).rejects.toThrow("the wire broke");
  expect(at.story.state.steps[0]?.receipt?.result).toBe("added");
});

test("a journal that cannot be written stops the run before anything is sent", async () => {
  const at = stage(ONE);
  const full = new Error("disk full");
  const append = at.log.append;
  at.log.append = (payloads, seq) => {
    if (payloads.some(({ kind }) => kind === "step.requested")) throw full;
    return append(payloads, seq);
  };
  await expect(run(at)).rejects.toBe(full);
  expect(at.sends).toBe(0);
});

test("a wait for an acceptance is durable before it begins, and each entry is told once", async () => {
  const plan = planOf([invite(), wait()]);
  const at = stage(plan);
  const told: number[] = [];
  const waits: string[] = [];
  const begun = at.story.entries.length;
  const context = at.io.context;
  at.io.context = (state) => ({
    ...context(state),
    patienceUntil: at.story.plan ? Date.parse(plan.created_at) + 5_000 : null,
  });
  at.io.progress = (event) => {
    if (event.kind === "entry") told.push(event.entry.seq);
    else waits.push(event.why);
  };
  at.hands.observe = async (state, move) => {
    const out = at.sends > 0;
    return observed(state, move, out ? invited("pending") : notInvited);
  };
  let durable = 0;
  at.io.sleepUntil = async (until) => {
    if (waits.at(-1) === "acceptance" && durable === 0) durable = at.story.entries.length;
    at.story.clock = Math.max(at.story.clock + 1, until);
  };
  await run(at);
  expect(waits).toContain("acceptance");
  expect(at.story.entries.slice(0, durable).some(({ kind }) => kind === "step.receipt")).toBe(true);
  expect(told).toEqual(at.story.entries.slice(begun).map(({ seq }) => seq));
});

test("a run with nothing to do appends nothing", async () => {
  const at = stage(ONE);
  await run(at);
  const { length } = at.story.entries;
  await run(at);
  expect(at.story.entries).toHaveLength(length);
});
