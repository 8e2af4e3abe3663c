import { describe, expect, test } from "vitest";
import type { Move } from "../../src/core/move.ts";
import { ProvisionError } from "../../src/model/errors.ts";
import type { Plan, Step } from "../../src/model/plan.ts";
import type { Action, CredentialClass, Session, Subject } from "../../src/model/provider.ts";
import type { Authorship, Observed, Reading } from "../../src/model/reading.ts";
import type { Reply, Transport } from "../../src/model/reply.ts";
import { handsOf, type Reach } from "../../src/runtime/perform.ts";
import {
  ACCOUNT,
  absent,
  forbidden,
  group,
  invite,
  member,
  ok,
  planOf,
  role,
  roleIs,
  START,
  sensitive,
  unreadable,
  wait,
} from "../core/build.ts";
import { LIMITS, running, Story } from "../core/story.ts";

interface Sent {
  step: Step;
  subject: Subject;
  options: { key: string; ifVersion?: string };
}

/** A provider that answers as told, and everything that was asked of it. */
interface Fake {
  reach: Reach;
  asked: string[];
  sent: Sent[];
  read: { step: Step; subject: Subject }[];
  authors: { key: string; subject: Subject }[];
  reading: Reading<Observed>;
  reply: Reply;
  lease: boolean;
  refusal: { code: string; detail: string } | null;
  wire: number;
}

function fake(): Fake {
  const at: Fake = {
    ...{ asked: [], sent: [], read: [], authors: [], reading: absent, reply: ok, lease: true, refusal: null, wire: 1 },
    reach: {
      open: (credential, onTransport) => session(at, credential, onTransport),
      load: async (credential) => void at.asked.push(`load ${credential}`),
      refresh: async (credential) => void at.asked.push(`refresh ${credential}`),
      classFor: (step) => step.credential,
      guard: async (step) => {
        at.asked.push(`guard ${step.kind}`);
        return at.refusal;
      },
      now: () => START,
      leaseHolds: () => at.lease,
    },
  };
  return at;
}

function attempt(n: number): Transport {
  const facts = { status: 200, started_at: new Date(START + n).toISOString(), duration_ms: 3 };
  return { ...facts, provider_request_id: `req_${n}`, fingerprint: "f", response: null };
}

function session(at: Fake, credential: CredentialClass, onTransport: (transport: Transport) => void): Session {
  const action: Action = {
    observe: async (step, subject) => {
      at.asked.push(`read with ${credential}`);
      at.read.push({ step, subject });
      for (let n = 0; n < at.wire; n++) onTransport(attempt(n));
      return at.reading;
    },
    send: async (step, subject, options) => {
      at.asked.push(`send with ${credential}`);
      at.sent.push({ step, subject, options });
      for (let n = 0; n < at.wire; n++) onTransport(attempt(n));
      return at.reply;
    },
    describe: () => ({ reversibility: "reversible", effects: [], undo: null }),
    authorship: async (_, subject, key): Promise<Reading<Authorship>> => {
      at.authors.push({ key, subject });
      return { kind: "found", value: "ours" };
    },
  };
  return { action: () => action } as unknown as Session;
}

const look = (
  step: number,
  purpose: "before" | "settle" | "verify" | "authorship" = "before",
  phase: "apply" | "rollback" = "apply",
) => ({ kind: "observe", step, phase, purpose }) satisfies Move;
const send = (step: number, refresh = false, phase: "apply" | "rollback" = "apply") =>
  ({ kind: "send", step, phase, refresh }) satisfies Move;

/** The intent of the first step is out. */
function announced(plan: Plan = planOf([group()]), before = absent): Story {
  const story = running(plan).saw(1, before);
  expect(story.decide().kind).toBe("send");
  return story;
}

describe("an observation", () => {
  test("reads with the read credential alone, and keeps every read that stood behind it", async () => {
    const at = fake();
    at.wire = 2;
    const entry = await handsOf(at.reach).observe(running(planOf([group()])).state, look(1, "settle"));
    expect(at.asked).toEqual(["read with read"]);
    expect(entry).toEqual({
      ...{ kind: "step.observed", step: 1, phase: "apply", epoch: 1, purpose: "settle", reading: absent },
      ...{ read_at: new Date(START).toISOString(), reads: [attempt(0), attempt(1)] },
    });
  });

  test("is told the subject as the plan knows it, and its account once that is bound", async () => {
    const at = fake();
    const story = running(planOf([invite(), wait(), role()]));
    await handsOf(at.reach).observe(story.state, look(2));
    story.add({ kind: "subject.bound", step: 2, subject_id: ACCOUNT, by: "accepted_by" });
    await handsOf(at.reach).observe(story.state, look(3, "settle"));
    expect(at.read.map(({ subject }) => subject)).toEqual([
      { email: "priya@example.test" },
      { email: "priya@example.test", id: ACCOUNT },
    ]);
  });

  test("on the way back looks at what the compensation changes", async () => {
    const at = fake();
    const story = running(planOf([group()]));
    story.receipt(1, { result: "added", ours: true, compensation: { kind: "remove_group" } });
    await handsOf(at.reach).observe(story.state, look(1, "settle", "rollback"));
    expect(at.read[0]?.step).toMatchObject({ kind: "remove_group", group: { id: "grp_77" } });
  });

  test("of authorship names the key that was sent", async () => {
    const at = fake();
    const story = announced().replied(1, { kind: "lost", detail: "cut off" });
    const entry = await handsOf(at.reach).observe(story.state, look(1, "authorship"));
    expect(at.authors).toEqual([
      { key: story.state.steps[0]?.apply.intent?.key, subject: { email: "priya@example.test", id: ACCOUNT } },
    ]);
    expect(entry).toMatchObject({ purpose: "authorship", reading: { kind: "found", value: "ours" } });
  });

  test("of authorship before anything was sent is a fault of ours", async () => {
    const { state } = running(planOf([group()]));
    await expect(handsOf(fake().reach).observe(state, look(1, "authorship"))).rejects.toMatchObject({ exit: 1 });
  });
});

describe("where the next thing may be a write", () => {
  test("its credential is loaded and its guards are asked", async () => {
    const at = fake();
    await handsOf(at.reach).observe(running(planOf([sensitive()])).state, look(1));
    expect(at.asked).toEqual(["read with read", "load privileged", "guard add_group"]);
  });

  test("a guard's refusal stands with the reading", async () => {
    const at = fake();
    at.refusal = { code: "protected_subject", detail: "No plan may touch this person." };
    const entry = await handsOf(at.reach).observe(running(planOf([group()])).state, look(1));
    expect(entry).toMatchObject({ reading: absent, refusal: at.refusal });
    const story = running(planOf([group()])).add(entry);
    expect(story.decide()).toMatchObject({ kind: "halt", refusal: { code: "protected_subject", exit: 13 } });
  });

  test.each<[string, Step, Reading<Observed>, "before" | "settle" | "verify"]>([
    ["that holds already", group(), member(), "before"],
    ["that is in conflict", role(), roleIs("billing"), "before"],
    ["whose target cannot be read", group(), unreadable, "before"],
    ["that can never send", group("engineering", "grp_77", { gate: "none" }), absent, "before"],
    ["that is out already", group(), absent, "settle"],
    ["that an earlier run confirmed", group(), absent, "verify"],
  ])("no credential is loaded for a step %s", async (_, step, reading, purpose) => {
    const at = fake();
    at.reading = reading;
    await handsOf(at.reach).observe(running(planOf([step])).state, look(1, purpose));
    expect(at.asked).toEqual(["read with read"]);
  });

  test("an own account that cannot be read is a failed read, and no rule's word", async () => {
    const at = fake();
    at.refusal = { code: "own_account_unreadable", detail: "HTTP 403" };
    const entry = await handsOf(at.reach).observe(running(planOf([group()])).state, look(1));
    expect(entry).toMatchObject({ reading: { kind: "unreadable", detail: "HTTP 403" } });
    expect(entry).not.toHaveProperty("refusal");
  });

  test("a missing credential is said before anything is announced", async () => {
    const at = fake();
    at.reach.load = async () => {
      throw new Error("ACME_TOKEN is not set");
    };
    await expect(handsOf(at.reach).observe(running(planOf([group()])).state, look(1))).rejects.toThrow("is not set");
  });
});

describe("a write", () => {
  test("carries the key and version of its intent, with the credential of its step", async () => {
    const at = fake();
    const story = announced(planOf([role()]), roleIs("guest", '"7"'));
    const entry = await handsOf(at.reach).send(story.state, send(1));
    const key = story.state.steps[0]?.apply.intent?.key;
    expect(at.asked.at(-1)).toBe("send with ordinary");
    expect(at.asked.filter((what) => /privileged|read/.test(what))).toEqual([]);
    expect(at.sent).toEqual([
      {
        ...{ step: story.plan.steps[0], subject: { email: "priya@example.test", id: ACCOUNT } },
        options: { key, ifVersion: '"7"' },
      },
    ]);
    expect(entry).toEqual({
      ...{ kind: "step.transport", step: 1, phase: "apply", try: 1, attempt: 1, epoch: 1 },
      ...{ reply: ok, transport: attempt(0) },
    });
  });

  test("names no version where none was read", async () => {
    const at = fake();
    await handsOf(at.reach).send(announced().state, send(1));
    expect(at.sent[0]?.options).not.toHaveProperty("ifVersion");
  });

  test("keeps the answer of a service that says no as it came", async () => {
    const at = fake();
    at.reply = forbidden;
    expect(await handsOf(at.reach).send(announced().state, send(1))).toMatchObject({ reply: forbidden });
  });

  test("is sent again with a fresh token of the same class, and no other", async () => {
    const at = fake();
    await handsOf(at.reach).send(announced(planOf([sensitive()])).state, send(1, true));
    expect(at.asked).toEqual(["refresh privileged", "send with privileged"]);
  });

  test("is not sent where its credential cannot be had any more, and that leaves no doubt", async () => {
    const at = fake();
    at.reach.load = async () => {
      throw new ProvisionError("credential_missing", 2, "ACME_TOKEN is not set.");
    };
    const entry = await handsOf(at.reach).send(announced().state, send(1));
    expect(at.sent).toEqual([]);
    expect(entry).toMatchObject({ reply: { kind: "not_sent", detail: expect.stringContaining("credential_missing") } });
  });

  test("is not sent where the lease does not outlive one request, and that is proven", async () => {
    const at = fake();
    at.lease = false;
    const entry = await handsOf(at.reach).send(announced().state, send(1));
    expect(at.sent).toEqual([]);
    expect(entry).toMatchObject({
      reply: { kind: "not_sent" },
      transport: { status: null, provider_request_id: null },
    });
  });

  test("on the way back is the compensation, under the key of its intent", async () => {
    const at = fake();
    const story = running(planOf([group()]));
    story.receipt(1, {
      ...{ result: "added", ours: true, attribution: "proven", after: member() },
      compensation: { kind: "remove_group" },
    });
    story.after(LIMITS.settleMs).rollback().lease().saw(1, member(), "before", "rollback");
    expect(story.decide()).toMatchObject({ kind: "send", phase: "rollback" });
    await handsOf(at.reach).send(story.state, send(1, false, "rollback"));
    expect(at.sent[0]).toMatchObject({
      ...{ step: { kind: "remove_group" }, options: { key: story.state.steps[0]?.undo.intent?.key } },
    });
  });

  test("without an intent is a fault of ours, and so is a step that the plan does not have", async () => {
    const at = fake();
    const { state } = new Story(planOf([group()]));
    await expect(handsOf(at.reach).send(state, send(1))).rejects.toMatchObject({ exit: 1 });
    await expect(handsOf(at.reach).send(state, send(2))).rejects.toMatchObject({ exit: 1 });
    expect(at.sent).toEqual([]);
  });
});
