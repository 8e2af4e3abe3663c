import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { began, fold } from "../../src/core/fold.ts";
import { next } from "../../src/core/next.ts";
import { operationDocument } from "../../src/core/operation.ts";
import { type AnyEntry, begin } from "../../src/core/state.ts";
import { STATES } from "../../src/core/status.ts";
import { ENTRY_KINDS, type Payload } from "../../src/model/entry.ts";
import { isWrite, STEP_KINDS, type Step } from "../../src/model/plan.ts";
import type { Reply } from "../../src/model/reply.ts";
import {
  absent,
  around,
  forbidden,
  group,
  HASH,
  invited,
  joiner,
  lost,
  member,
  NOW,
  ok,
  planOf,
  type Read,
  role,
  roleIs,
  stepOf,
  unreadable,
} from "./build.ts";
import { running, Story } from "./story.ts";

const readings = fc.constantFrom<Read>(
  absent,
  unreadable,
  member('"1"'),
  roleIs("guest"),
  invited("pending"),
  invited("accepted"),
);
const replies = fc.constantFrom<Reply>(
  ok,
  { kind: "accepted", status: 202, asynchronous: true },
  lost,
  forbidden,
  { kind: "denied", status: 401, code: "unauthenticated", detail: "" },
  { kind: "rejected", status: 422, code: "invalid", detail: "" },
  { kind: "conflict", status: 412, code: "conflict", detail: "" },
  { kind: "gone", status: 404, code: "not_found", detail: "" },
  { kind: "throttled", status: 429, retryAt: "2026-07-24T10:00:01.000Z", detail: "" },
  { kind: "not_sent", detail: "" },
);

/** Entries of any kind in any order, with any step, also one that the plan does not have. */
function anyPayload(): fc.Arbitrary<Payload> {
  const step = fc.integer({ min: 0, max: 7 });
  const phase = fc.constantFrom("apply" as const, "rollback" as const);
  const epoch = fc.integer({ min: 0, max: 3 });
  const story = running(joiner()).saw(1, invited("pending", { invitation: null }));
  story.decide();
  story.replied(1, ok).receipt(1, { result: "pending", ours: true, remote_version_after: '"1"' });
  story.rollback().add({ kind: "step.retried", step: 1, by: "os:kim" });
  const samples = story.entries.map(({ seq: _, at: __, op: ___, ...payload }) => payload as Payload);
  const events = ["rollback", "completed", "paused", "interrupted", "cancelled", "superseded", "expired"] as const;
  const words = ["applied", "not-applied", "ours", "not-ours", "left"] as const;
  const envelope = { stmt: "", alg: "sshsig" as const, sig: "" };
  return fc.oneof(
    fc
      .record({ sample: fc.constantFrom(...samples), step, phase, epoch })
      .map(({ sample, ...more }) => ({ ...sample, ...("step" in sample ? more : {}) }) as Payload),
    fc
      .record({ step, phase, epoch, reading: readings, purpose: fc.constantFrom("before", "settle", "verify") })
      .map((seen) => ({ kind: "step.observed", read_at: NOW, reads: [], ...seen }) as Payload),
    fc.constantFrom(...events).map((event): Payload => ({ kind: "op.state", event, detail: null })),
    fc
      .record({ step, as: fc.constantFrom(...words) })
      .map((word): Payload => ({ kind: "step.resolved", envelope, approver: "ana@example.test", nonce: "n", ...word })),
    fc.constantFrom<Payload>(
      { kind: "op.stopped", by: "os:kim", reason: null },
      { kind: "op.handed_over", to: "jrn_2" },
      { kind: "approval.denied", by: "os:kim", reason: "no" },
      { kind: "approval.spent", approval_id: "apr_1", steps: [1, 9], why: "changed" },
      { kind: "approval.refused", code: "used", by: null, detail: "" },
      { kind: "policy.loaded", hash: HASH },
      { kind: "subject.bound", step: 2, subject_id: "usr_1", by: "lookup" },
    ),
  );
}

function numbered(payloads: readonly Payload[]): AnyEntry[] {
  return payloads.map((payload, at) => ({ ...payload, seq: at + 1, at: NOW, op: "prov_2026_07_24_k3v9q2mz" }));
}

test("any entries in any order fold: nothing throws, and the newest sequence is kept", () => {
  fc.assert(
    fc.property(fc.array(anyPayload(), { maxLength: 40 }), (payloads) => {
      const entries = numbered(payloads);
      const state = entries.reduce(fold, begin(joiner(), HASH));
      expect(state.seq).toBe(entries.length);
      expect(state.steps.map(({ plan }) => plan)).toEqual(joiner().steps);
    }),
    { numRuns: 500 },
  );
});

test("folding changes nothing in what it was given", () => {
  fc.assert(
    fc.property(fc.array(anyPayload(), { maxLength: 20 }), anyPayload(), (payloads, last) => {
      const state = numbered(payloads).reduce(fold, begin(joiner(), HASH));
      const copy = structuredClone(state);
      fold(state, { ...last, seq: 99, at: NOW, op: "prov_2026_07_24_k3v9q2mz" });
      expect(state).toEqual(copy);
    }),
    { numRuns: 200 },
  );
});

test("an entry of a kind that is not known is a fault of ours", () => {
  const strange = { kind: "step.imagined", seq: 1, at: NOW, op: "x" } as unknown as AnyEntry;
  expect(() => fold(begin(joiner(), HASH), strange)).toThrow("unknown kind");
  expect(ENTRY_KINDS).not.toContain("step.imagined");
});

/** One thing that may happen next: the machine moves, a person decides, time passes, a process dies. */
type Turn = { what: number; reading: Read; reply: Reply; at: number; ms: number };
const turns = fc.array(
  fc.record<Turn>({
    what: fc.integer({ min: 0, max: 24 }),
    reading: readings,
    reply: replies,
    at: fc.integer({ min: 0, max: 3 }),
    ms: fc.integer({ min: 0, max: 3_000 }),
  }),
  { maxLength: 60 },
);
const plans = fc
  .array(fc.constantFrom<Step>(...STEP_KINDS.map((kind) => stepOf(kind)), stepOf("add_group", { gate: "call" })), {
    minLength: 1,
    maxLength: 4,
  })
  .map((steps) => planOf(steps));

/** Plays the turns as far as they are possible; `look` sees every state on the way. */
function walk(story: Story, all: readonly Turn[], look: (story: Story) => void): void {
  story.lease();
  for (const turn of all) {
    look(story);
    if (turn.what < 16) machine(story, turn);
    else people(story, turn);
  }
  look(story);
}

function machine(story: Story, { reading, reply, what, ms }: Turn): void {
  const move = story.move();
  if (move.kind === "record") story.add(...move.entries);
  else if (move.kind === "send") story.replied(move.step, reply, move.phase).after(ms);
  else if (move.kind === "wait") story.clock = move.until;
  else if (move.kind === "observe" && move.purpose !== "authorship") {
    const plan = story.plan.steps[move.step - 1] as Step;
    const expected = isWrite(plan) ? around(plan) : { expected: invited("accepted"), wanted: invited("accepted") };
    const likely = what % 4 === 0 ? reading : what % 2 === 0 ? expected.wanted : expected.expected;
    story.saw(move.step, likely, move.purpose, move.phase).after(1);
  }
}

function people(story: Story, { what, at, ms }: Turn): void {
  const step = at + 1;
  if (what < 19) story.approve();
  else if (what === 19) story.add({ kind: "op.stopped", by: "os:kim", reason: null });
  else if (what === 20) story.rollback(at % 2);
  else if (what === 21) story.add({ kind: "step.retried", step, by: "os:kim" });
  else if (what === 22) story.add({ kind: "op.state", event: "interrupted", detail: null });
  else if (what === 23) story.after(ms * 100_000);
  else story.after(ms).lease();
}

test("every state that can be reached has one next move, the same each time, and a name", () => {
  const names = new Set<string>();
  fc.assert(
    fc.property(plans, turns, (plan, all) =>
      walk(new Story(plan), all, (story) => {
        const { state } = story;
        const move = next(state, story.context());
        expect(next(structuredClone(state), story.context())).toEqual(move);
        expect(["record", "observe", "send", "wait", "halt"]).toContain(move.kind);
        names.add(story.name());
        expect(Object.keys(STATES)).toContain(story.name());
      }),
    ),
    { numRuns: 300 },
  );
  expect(names.size).toBeGreaterThan(8);
});

test("the same entries give the same document, to the letter", () => {
  fc.assert(
    fc.property(plans, turns, (plan, all) => {
      const story = new Story(plan);
      walk(story, all, () => {});
      const copy = structuredClone(story.entries).reduce(fold, begin(structuredClone(plan), HASH));
      const document = operationDocument(copy, story.clock, story.authority(), null);
      expect(JSON.stringify(document)).toBe(JSON.stringify(story.document()));
    }),
    { numRuns: 150 },
  );
});

test("nothing is sent without an intent before it, and no intent without a cover", () => {
  fc.assert(
    fc.property(plans, turns, (plan, all) =>
      walk(new Story(plan), all, (story) => {
        const move = story.move();
        if (move.kind === "send") {
          const held = story.state.steps[move.step - 1];
          const intent = move.phase === "apply" ? held?.apply.intent : held?.undo.intent;
          expect(intent?.epoch).toBe(story.epoch);
        }
        for (const entry of move.kind === "record" ? move.entries : [])
          if (entry.kind === "step.requested" && entry.phase === "apply") expect(entry.approvals).toHaveLength(1);
      }),
    ),
    { numRuns: 200 },
  );
});

describe("what a new process finds", () => {
  test("is stale where the one before only read it", () => {
    const story = running(planOf([role()])).saw(1, roleIs("guest"));
    expect(story.move().kind).toBe("record");
    expect(story.lease().move()).toMatchObject({ kind: "observe", purpose: "before" });
  });

  test("is an open intent, which it settles before it sends anything", () => {
    const story = running(planOf([role()])).saw(1, roleIs("guest"));
    expect(story.decide().kind).toBe("send");
    expect(story.lease().move()).toMatchObject({ kind: "observe", purpose: "settle" });
  });

  test("are readings of a process that lost its lease: evidence, and no authority", () => {
    const story = running(planOf([role()])).lease();
    story.add({
      ...{ kind: "step.observed", step: 1, phase: "apply", epoch: 1, purpose: "before" },
      ...{ reading: roleIs("member"), read_at: NOW, reads: [] },
    } as Payload);
    expect(story.move()).toMatchObject({ kind: "observe", purpose: "before" });
  });

  test("is a late reply to an older intent, which settles it", () => {
    const story = running(planOf([role()])).saw(1, roleIs("guest"));
    story.decide();
    story.lease().replied(1, ok);
    expect(story.state.steps[0]?.apply.attempts).toHaveLength(1);
  });
});

test("the first reading before a write is the value to restore, whatever a resend read", () => {
  const story = running(planOf([role()]));
  let sent = 0;
  story.play({
    read: ({ purpose }) =>
      purpose === "before" ? roleIs("guest", '"1"') : roleIs(sent < 2 ? "guest" : "member", '"2"'),
    reply: () => (sent++ === 0 ? lost : ok),
  });
  expect(story.state.steps[0]?.receipt?.before).toEqual(roleIs("guest", '"1"'));
});

test("a reply to a try that was given up counts for nothing in the new one", () => {
  const story = running(planOf([group()])).saw(1, absent);
  story.decide();
  story.replied(1, forbidden);
  const { seq: _, at: __, op: ___, ...late } = story.entries.at(-1) as AnyEntry;
  story.receipt(1, { result: "denied" });
  story.receipt(1, { result: "denied" }).add({ kind: "step.retried", step: 1, by: "os:kim" }, late as Payload);
  expect(story.state.steps[0]?.apply).toMatchObject({ try: 2, intent: null, attempts: [] });
});

test("a step that is out, or may be, is not opened again before it is settled", () => {
  const story = running(planOf([group()])).saw(1, absent);
  story.decide();
  story.add({ kind: "step.retried", step: 1, by: "os:kim" });
  expect(story.state.steps[0]?.apply).toMatchObject({ try: 1, intent: { attempt: 1 } });
});

test("an operation has begun once something was announced, or a change is ours", () => {
  const story = running(planOf([role()]));
  expect(began(story.state)).toBe(false);
  expect(began(story.saw(1, roleIs("member")).receipt(1, { result: "unchanged" }).state)).toBe(false);
  expect(began(story.receipt(1, { result: "changed", ours: true }).state)).toBe(true);
});
