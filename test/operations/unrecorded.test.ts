import { expect, test } from "vitest";
import type { Payload } from "../../src/model/entry.ts";
import { ProvisionError } from "../../src/model/errors.ts";
import type { Progress } from "../../src/operations/shell.ts";
import { keepingAnswers } from "../../src/operations/unrecorded.ts";
import type { Answer } from "../../src/runtime/journal/journal.ts";

const answer: Answer = {
  kind: "step.transport",
  ...{ step: 3, phase: "rollback" as const, try: 2, attempt: 4, epoch: 9 },
  reply: { kind: "denied", status: 403, code: "forbidden", detail: "Not for you." },
  transport: {
    ...{ status: 403, provider_request_id: "req_12", started_at: "2026-07-24T10:00:00.000Z", duration_ms: 7 },
    ...{ fingerprint: "f", response: null },
  },
};
const note: Payload = { kind: "op.stopped", by: "os:ana", reason: null };
const full = new ProvisionError("journal_unwritable", 11, "The journal cannot be written.", { hint: "Make room." });

/** What is shown and thrown where the append of these fails so, and keeping as `why` says. */
function failing(payloads: Payload[], error: unknown, why: string | undefined) {
  const shown: Progress[] = [];
  const kept: Answer[] = [];
  const aside = {
    path: "/state/unrecorded-x",
    keep: (one: Answer) => {
      kept.push(one);
      return why;
    },
    release: () => {},
  };
  const append = keepingAnswers(
    () => {
      throw error;
    },
    aside,
    { progress: (event) => shown.push(event) },
  );
  try {
    append(payloads, 7);
  } catch (thrown) {
    return { thrown: thrown as ProvisionError, shown, kept };
  }
  return expect.fail("nothing was thrown");
}

const SAID =
  "Not in the journal: step 3, on the way back, try 2, attempt 4 was answered denied (HTTP 403, request req_12, sent 2026-07-24T10:00:00.000Z): Not for you.";

test("an answer that the journal cannot take is kept and shown, and the refusal says where it is", () => {
  const { thrown, shown, kept } = failing([note, answer], full, undefined);
  expect(kept).toEqual([answer]);
  expect(shown).toEqual([
    { kind: "unrecorded", text: `${SAID}. It is kept in /state/unrecorded-x, and the next run takes it in.` },
  ]);
  expect([thrown.code, thrown.exit]).toEqual(["journal_unwritable", 11]);
  expect(thrown.hint).toMatch(/^Make room\. What the service answered to step 3 is kept in \/state\/unrecorded-x/);
});

test("an answer that cannot be kept either is shown all the same, with why", () => {
  const { thrown, shown } = failing([answer], full, "EROFS");
  expect(shown).toEqual([
    {
      kind: "unrecorded",
      text: `${SAID}. It could not be kept in /state/unrecorded-x either (EROFS): copy this line.`,
    },
  ]);
  expect(thrown.hint).toMatch(/stands on stderr alone\.$/);
});

test("a fault of ours loses no answer either", () => {
  const fault = new TypeError("x is not a function");
  const { thrown, kept } = failing([answer], fault, undefined);
  expect([thrown, kept]).toEqual([fault, [answer]]);
});

test("what is no answer is worth a failure and nothing more", () => {
  const { thrown, shown, kept } = failing([note], full, undefined);
  expect([thrown, shown, kept]).toEqual([full, [], []]);
});

test("what the journal takes is handed on as it is", () => {
  const written = { ok: true, entries: [] };
  const never = { path: "", keep: () => expect.fail("kept"), release: () => {} };
  const append = keepingAnswers((payloads, seq) => ({ ...written, given: [payloads, seq] }), never, {
    progress: () => {},
  });
  expect(append([answer], 7)).toEqual({ ...written, given: [[answer], 7] });
});
