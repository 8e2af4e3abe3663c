import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ProvisionError } from "../../src/model/errors.ts";
import { canonical } from "../../src/model/json.ts";
import {
  approvalId,
  envelopeOf,
  parseEnvelope,
  parseStatement,
  type Statement,
  signedBytes,
  statementBytes,
} from "../../src/model/statement.ts";

const hash = (letter: string) => `sha256:${letter.repeat(64)}`;

const good: Statement = {
  type: "provision.approval/v1",
  decision: "approve",
  phase: "apply",
  operation_id: "prov_2026_07_24_k3v9q2mz",
  plan_hash: hash("a"),
  card_hash: hash("b"),
  policy_hash: hash("c"),
  tenant: "acme-production",
  steps: [1, 2, 3],
  requester: "os:ana",
  subject_id: null,
  approver: "bob@example.test",
  assurance: "software",
  nonce: Buffer.alloc(16, 7).toString("base64url"),
  not_before: "2026-07-24T10:00:00.000Z",
  not_after: "2026-07-24T11:00:00.000Z",
  journal: { origin: "provision.example/jrn_7f3a", size: 12, root: Buffer.alloc(32, 9).toString("base64") },
};

const bytesOf = (value: unknown) => new TextEncoder().encode(canonical(value));
const text = new TextDecoder().decode(statementBytes(good));

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (fault) {
    if (fault instanceof ProvisionError) return `${fault.code} ${fault.exit}`;
    throw fault;
  }
  return "accepted";
}

const verdict = (value: unknown) => codeOf(() => parseStatement(bytesOf(value)));
const verdictOn = (raw: string) => codeOf(() => parseStatement(new TextEncoder().encode(raw)));

describe("a statement", () => {
  test("comes back from its bytes as it was", () => {
    expect(parseStatement(statementBytes(good))).toEqual(good);
    expect(Object.keys(good)).toHaveLength(17);
  });

  test.each<[string, Partial<Statement>]>([
    ["for a rollback", { phase: "rollback" }],
    ["of a denial", { decision: "deny" }],
    ["that resolves", { decision: "resolve:not-ours" }],
    ["about a bound account", { subject_id: "usr_1938" }],
    ["with a touch", { assurance: "touch_uv" }],
    ["in whole seconds", { not_before: "2026-07-24T10:00:00Z" }],
    ["over an empty journal", { journal: { ...good.journal, size: 0 } }],
  ])("%s is read", (_, change) => {
    expect(verdict({ ...good, ...change })).toBe("accepted");
  });

  test.each(Object.keys(good))("without %s is refused", (key) => {
    const { [key]: _, ...rest } = good as unknown as Record<string, unknown>;
    expect(verdict(rest)).toBe("fields 9");
  });

  test.each<[string, unknown]>([
    ["an unknown field", { ...good, note: "x" }],
    ["a field named __proto__", JSON.parse(`{"__proto__":1,${JSON.stringify(good).slice(1)}`)],
    ["a field beside the journal's", { ...good, journal: { ...good.journal, extra: 1 } }],
    ["no object", [good]],
    ["null", null],
    ["no steps", { ...good, steps: [] }],
    ["steps out of order", { ...good, steps: [2, 1] }],
    ["a step twice", { ...good, steps: [1, 1] }],
    ["step 0", { ...good, steps: [0, 1] }],
    ["half a step", { ...good, steps: [1.5] }],
    ["all steps by a word", { ...good, steps: "all" }],
    ["a hash in capitals", { ...good, plan_hash: hash("A") }],
    ["a short hash", { ...good, card_hash: "sha256:abc" }],
    ["a hash of another kind", { ...good, policy_hash: `sha512:${"a".repeat(64)}` }],
    ["a short operation id", { ...good, operation_id: "k3v9q2mz" }],
    ["a tenant with a blank", { ...good, tenant: "acme production" }],
    ["an empty approver", { ...good, approver: "" }],
    ["an empty subject id", { ...good, subject_id: "" }],
    ["an unknown assurance", { ...good, assurance: "hardware" }],
    ["a nonce of 15 bytes", { ...good, nonce: Buffer.alloc(15).toString("base64url") }],
    ["a nonce in a second spelling", { ...good, nonce: `${"A".repeat(21)}B` }],
    ["a padded nonce", { ...good, nonce: `${good.nonce}==` }],
    [
      "a root in base64url",
      { ...good, journal: { ...good.journal, root: Buffer.alloc(32, 0xff).toString("base64url") } },
    ],
    ["a negative size", { ...good, journal: { ...good.journal, size: -1 } }],
    ["a local time", { ...good, not_before: "2026-07-24T10:00:00+02:00" }],
    ["a day that does not exist", { ...good, not_before: "2026-02-30T10:00:00Z" }],
    ["a date alone", { ...good, not_before: "2026-07-24" }],
    ["an end before its beginning", { ...good, not_after: "2026-07-24T09:00:00Z" }],
    ["an end at its beginning", { ...good, not_after: good.not_before }],
  ])("with %s is refused", (_, value) => {
    expect(verdict(value)).toBe("fields 9");
  });

  test("of another type, decision or phase is refused by its own name", () => {
    expect(verdict({ ...good, type: "provision.approval/v2" })).toBe("type 13");
    expect(verdict({ ...good, decision: "resolve:gone" })).toBe("decision 13");
    expect(verdict({ ...good, phase: "grant" })).toBe("phase 13");
  });

  test("that could not be read again is not written", () => {
    expect(codeOf(() => statementBytes({ ...good, steps: [2, 1] }))).toBe("fields 9");
  });
});

describe("bytes that are not canonical", () => {
  test.each([
    ["a blank", text.replace(":", ": ")],
    ["a line feed at the end", `${text}\n`],
    ["a byte order mark", `\ufeff${text}`],
    ["another order of fields", text.replace(/^\{("[^"]+":"[^"]+"),(.*)\}$/, "{$2,$1}")],
    ["a field twice", text.replace('"decision":"approve"', '"decision":"deny","decision":"approve"')],
    ["a needless escape", text.replace("approve", "\\u0061pprove")],
    ["a number in another spelling", text.replace("[1,2,3]", "[1.0,2,3]")],
    ["a number beyond exactness", text.replace('"size":12', '"size":9007199254740993')],
    ["nesting without end", "[".repeat(50_000)],
    ["too much", `"${"a".repeat(70_000)}"`],
    ["no JSON", "approve"],
    ["nothing", ""],
  ])("with %s are refused", (_, raw) => {
    expect(raw).not.toBe(text);
    expect(verdictOn(raw)).toBe("not_canonical 9");
  });

  test("that are no UTF-8 are refused", () => {
    const broken = Buffer.from(text.replace("os:ana", "os:an\u00e4"), "latin1");
    expect(codeOf(() => parseStatement(broken))).toBe("not_canonical 9");
  });

  test("any bytes are answered by a verdict and nothing else", () => {
    fc.assert(fc.property(fc.uint8Array(), (bytes) => codeOf(() => parseStatement(bytes)) !== "accepted"));
    fc.assert(fc.property(fc.json(), (json) => verdictOn(json) !== "accepted"));
  });
});

describe("an envelope", () => {
  const envelope = envelopeOf(statementBytes(good), "-----BEGIN SSH SIGNATURE-----\n");

  test("gives the signed bytes back", () => {
    expect(Buffer.from(signedBytes(parseEnvelope({ ...envelope }))).equals(statementBytes(good))).toBe(true);
  });

  test.each<[string, unknown]>([
    ["another algorithm", { ...envelope, alg: "webauthn" }],
    ["something beside", { ...envelope, approved: true }],
    ["no signature", { stmt: envelope.stmt, alg: "sshsig" }],
    ["an empty statement", { ...envelope, stmt: "" }],
    ["a padded statement", { ...envelope, stmt: `${envelope.stmt}=` }],
    ["a blank in the statement", { ...envelope, stmt: ` ${envelope.stmt}` }],
    ["a statement in plain base64", { ...envelope, stmt: Buffer.from("\u00ff\u00fe>>??").toString("base64") }],
    ["a list", [envelope]],
    ["a text", "approved"],
    ["nothing", undefined],
  ])("with %s is refused", (_, value) => {
    expect(codeOf(() => parseEnvelope(value))).toBe("fields 9");
  });

  test("has an id of its own, which any change changes", () => {
    expect(approvalId(envelope)).toMatch(/^apr_[0-9a-f]{20}$/);
    expect(approvalId({ ...envelope })).toBe(approvalId(envelope));
    expect(approvalId({ ...envelope, sig: "other" })).not.toBe(approvalId(envelope));
    expect(approvalId({ ...envelope, stmt: "b3RoZXI" })).not.toBe(approvalId(envelope));
  });
});
