import { describe, expect, test } from "vitest";
import { canonical } from "../../../src/model/json.ts";
import { approvalId, envelopeOf } from "../../../src/model/statement.ts";
import { REFUSALS, refusal, refusalError } from "../../../src/runtime/approvals/refusals.ts";
import { type ApprovalContext, verifyApproval } from "../../../src/runtime/approvals/verify.ts";
import { armour, unarmour } from "../../../src/runtime/approvals/wire.ts";
import { bob, cardHash, ctx, entry, hash, root, signed, statement, stranger, touchKey, verdict } from "./approval.ts";
import { forge } from "./forge.ts";

const raw = (text: string) => envelopeOf(Buffer.from(text), forge(bob, Buffer.from(text)));
const text = canonical(statement);

describe("a good approval", () => {
  test("is accepted, with what the journal keeps of it", () => {
    const envelope = signed();
    expect(verifyApproval(envelope, ctx)).toEqual({
      ok: true,
      approval: {
        approval_id: approvalId(envelope),
        envelope,
        approver: "bob@example.test",
        phase: "apply",
        steps: [1, 3],
        nonce: statement.nonce,
        card_hash: statement.card_hash,
        subject_id: "usr_1938",
        not_before: statement.not_before,
        not_after: statement.not_after,
      },
      assurance: "software",
      statement,
      key: { principal: "bob@example.test", blob: bob.blob },
    });
  });

  test("is accepted again when it is verified a second time", () => {
    const first = verifyApproval(signed(), ctx);
    expect(first.ok && verdict(first.approval.envelope)).toBe("accepted");
  });

  test("may cover fewer steps than may be decided", () => {
    expect(verdict(signed({ steps: [4], card_hash: cardHash([4]) }))).toBe("accepted");
  });

  test("may last to the time that its steps allow, where that is longer", () => {
    const long = signed({ not_after: "2026-08-01T10:00:00.000Z" });
    const window = () => ({ maxMs: 3_600_000, until: "2026-08-01T10:00:00.000Z" });
    expect(verdict(long)).toBe("window_too_long 13");
    expect(verdict(long, { window })).toBe("accepted");
  });

  test("is valid from its first instant to just before its last", () => {
    expect(verdict(signed(), { now: statement.not_before })).toBe("accepted");
    expect(verdict(signed(), { now: "2026-07-24T10:59:59.999Z" })).toBe("accepted");
    expect(verdict(signed(), { now: statement.not_after })).toBe("lapsed 13");
  });

  test("covers an undo after its window, judged at the time it was recorded", () => {
    const later = { now: "2026-09-01T00:00:00.000Z" };
    expect(verdict(signed(), later)).toBe("lapsed 13");
    expect(verdict(signed(), { ...later, windowAt: "2026-07-24T10:10:00.000Z" })).toBe("accepted");
  });
});

/** Each stands beside the untouched twin: change one thing in what was signed, or one in what is known here. */
const forgeries: [string, string, () => unknown, Partial<ApprovalContext>?][] = [
  ["that is none", "fields 9", () => ({ approved: true })],
  ["of another algorithm", "fields 9", () => ({ ...signed(), alg: "webauthn" })],
  ["with a field twice", "not_canonical 9", () => raw(text.replace("{", '{"approver":"eve@example.test",'))],
  ["with a blank", "not_canonical 9", () => raw(text.replace(":", ": "))],
  ["with an unknown field", "fields 9", () => signed({ note: "x" })],
  ["without a nonce", "fields 9", () => signed({ nonce: undefined })],
  ["for all steps", "fields 9", () => signed({ steps: "all" })],
  ["of another version", "type 13", () => signed({ type: "provision.approval/v2" })],
  ["that denies", "decision 13", () => signed({ decision: "deny" })],
  ["that resolves", "decision 13", () => signed({ decision: "resolve:applied" })],
  ["for a grant", "phase 13", () => signed({ phase: "grant" })],
  ["for the rollback", "phase 13", () => signed({ phase: "rollback" })],
  ["for another operation", "other_operation 13", () => signed({ operation_id: "prov_2026_07_24_k3v9q2m0" })],
  ["for another plan", "other_plan 13", () => signed({ plan_hash: hash("plan!") })],
  ["over other cards", "other_card 13", () => signed({ card_hash: hash("cards") })],
  ["for steps under cards of others", "other_card 13", () => signed({ steps: [1] })],
  ["under another policy", "policy_changed 13", () => signed({ policy_hash: hash("policy!") })],
  ["for another tenant", "other_tenant 13", () => signed({ tenant: "acme-staging" })],
  ["for a step that is not due", "steps 13", () => signed({ steps: [1, 2], card_hash: cardHash([1, 2]) })],
  ["of another requester", "requester 13", () => signed({ requester: "agent:bot" })],
  ["about another account", "subject_id 13", () => signed({ subject_id: "usr_2" })],
  ["about no account yet", "subject_id 13", () => signed({ subject_id: null })],
  ["that begins later", "not_yet_valid 13", () => signed({ not_before: "2026-07-24T10:30:00.001Z" })],
  ["that has ended", "lapsed 13", () => signed({ not_after: "2026-07-24T10:30:00.000Z" })],
  ["that lasts too long", "window_too_long 13", () => signed({ not_after: "2026-07-24T11:00:00.001Z" })],
  [
    "whose signature is of another statement",
    "bad_signature 9",
    () => ({ ...signed(), sig: signed({ steps: [3] }).sig }),
  ],
  ["whose signature is a word", "bad_signature 9", () => ({ ...signed(), sig: "approved" })],
  ["signed for git", "wrong_namespace 13", () => signed({}, bob, { namespace: "git" })],
  ["signed for a file", "wrong_namespace 13", () => signed({}, bob, { namespace: "file" })],
  ["by a stranger's key", "unknown_key 13", () => signed({}, stranger)],
  ["with nobody in the roster", "unknown_key 13", () => signed(), { roster: [] }],
  ["in the name of another approver", "principal_mismatch 13", () => signed({ approver: "ana@example.test" })],
  ["in the name of nobody", "principal_mismatch 13", () => signed({ approver: "eve@example.test" })],
  [
    "by an expired key",
    "key_expired 13",
    () => signed(),
    { roster: [entry("bob@example.test", bob, { validBefore: 1 })] },
  ],
  [
    "by a key of later",
    "key_expired 13",
    () => signed(),
    { roster: [entry("bob@example.test", bob, { validAfter: 9e15 })] },
  ],
  ["by a revoked key", "revoked_key 13", () => signed(), { revoked: { isRevoked: (blob) => bob.blob.equals(blob) } }],
  ["by a key of the sandbox", "sandbox_key 13", () => signed(), { sandboxKeys: [bob.blob] }],
  ["of one's own request", "own_request 13", () => signed(), { identities: { "os:ana": "Bob@example.test" } }],
  [
    "of one's own request by name",
    "own_request 13",
    () => signed({ requester: "BOB@example.test" }),
    { requester: "BOB@example.test" },
  ],
  ["of one's own access", "own_access 13", () => signed(), { subjectKeys: ["bob@example.test"] }],
  ["of one's own access by id", "own_access 13", () => signed(), { identities: { usr_1938: "bob@example.test" } }],
  ["by an agent", "agent_approver 13", () => signed({ approver: "agent:bot" }), { roster: [entry("agent:bot", bob)] }],
  ["with less assurance than claimed", "assurance 13", () => signed({ assurance: "touch" })],
  ["with less assurance than required", "assurance 13", () => signed(), { minAssurance: "touch" }],
  [
    "with less assurance than a step requires",
    "assurance 13",
    () => signed(),
    { minAssurance: (steps) => (steps.includes(3) ? "touch_uv" : "software") },
  ],
  ["over another journal", "journal_fork 13", () => signed({ journal: { ...statement.journal, origin: "other" } })],
  [
    "over a longer journal",
    "journal_fork 13",
    () => signed({ journal: { ...statement.journal, size: 21, root: root(21) } }),
  ],
  ["over another history", "journal_fork 13", () => signed({ journal: { ...statement.journal, root: root(11) } })],
];

describe("an approval", () => {
  test.each(forgeries)("%s is refused as %s, beside its twin", (_, code, make, change = {}) => {
    expect(verdict(make(), change)).toBe(code);
    expect(verdict(signed())).toBe("accepted");
  });

  test("can be refused for every reason of the table", () => {
    const seen = new Set(forgeries.map(([, code]) => code.split(" ")[0]));
    expect(Object.keys(REFUSALS).filter((code) => !seen.has(code))).toEqual(["no_touch", "check_failed"]);
  });

  test("by the sandbox's own key counts for a sandbox tenant", () => {
    expect(verdict(signed(), { sandboxKeys: [bob.blob], sandbox: true })).toBe("accepted");
  });

  test("is not an approval where a signed word of another kind is wanted", () => {
    expect(verdict(signed({ decision: "resolve:ours" }), { decision: "resolve:ours" })).toBe("accepted");
    expect(verdict(signed({ decision: "resolve:ours" }), { decision: "resolve:not-ours" })).toBe("decision 13");
    expect(verdict(signed(), { decision: "resolve:ours" })).toBe("decision 13");
  });

  test("cannot pass where the check itself fails", () => {
    const fails = () => {
      throw new Error("cards cannot be drawn");
    };
    expect(verdict(signed(), { cardHash: fails })).toBe("check_failed 13");
    expect(verdict(signed(), { now: "soon" })).toBe("check_failed 13");
    expect(verdict(signed(), { window: () => ({ maxMs: Number.NaN, until: null }) })).toBe("window_too_long 13");
  });
});

describe("a security key", () => {
  const roster = [entry("bob@example.test", touchKey)];
  const by = (flags: number, change: object = {}) => signed(change, touchKey, { flags });

  test("that nobody touched is refused, though the signature is right", () => {
    expect(verdict(by(0), { roster })).toBe("no_touch 13");
    expect(verdict(by(4), { roster })).toBe("no_touch 13");
  });

  test("shows what its flags say, whatever less the statement claims", () => {
    for (const [flags, assurance] of [
      [1, "touch"],
      [5, "touch_uv"],
    ] as const) {
      expect(verifyApproval(by(flags), { ...ctx, roster })).toMatchObject({ ok: true, assurance });
    }
  });

  test("cannot claim more than its flags say", () => {
    expect(verdict(by(1, { assurance: "touch_uv" }), { roster })).toBe("assurance 13");
    expect(verdict(by(5, { assurance: "touch_uv" }), { roster, minAssurance: "touch_uv" })).toBe("accepted");
    expect(verdict(by(1), { roster, minAssurance: "touch_uv" })).toBe("assurance 13");
  });
});

describe("every byte counts", () => {
  test("flipping a bit in any byte of the statement is refused", () => {
    const envelope = signed();
    const bytes = Buffer.from(envelope.stmt, "base64url");
    for (let i = 0; i < bytes.length; i++) {
      const changed = Buffer.from(bytes);
      changed[i]! ^= 1;
      expect(verdict({ ...envelope, stmt: changed.toString("base64url") }), `byte ${i}`).not.toBe("accepted");
    }
    for (let i = 0; i < envelope.stmt.length; i++) {
      const other = envelope.stmt[i] === "A" ? "B" : "A";
      const stmt = envelope.stmt.slice(0, i) + other + envelope.stmt.slice(i + 1);
      expect(verdict({ ...envelope, stmt }), `character ${i}`).not.toBe("accepted");
    }
  });

  test("flipping a bit in any byte of the signature is refused", () => {
    const envelope = signed();
    const bytes = unarmour("SSH SIGNATURE", envelope.sig, 10_000);
    for (let i = 0; i < bytes.length; i++) {
      const changed = Buffer.from(bytes);
      changed[i]! ^= 1;
      expect(verdict({ ...envelope, sig: armour("SSH SIGNATURE", changed) }), `byte ${i}`).toBe("bad_signature 9");
    }
  });
});

describe("a refusal", () => {
  test("says what is wrong and what to do, with text from outside escaped", () => {
    const one = refusal("other_tenant", "it says acme\u202e");
    expect(one.message).toBe("The approval is for another tenant: it says acme<U+202E>.");
    expect(refusalError(one)).toMatchObject({ code: "other_tenant", exit: 13, message: one.message, hint: one.hint });
    expect(Object.values(REFUSALS).filter(({ message, hint }) => /\.$/.test(message) || !/\.$/.test(hint))).toEqual([]);
  });
});
