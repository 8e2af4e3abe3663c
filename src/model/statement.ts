import { z } from "zod";
import type { Envelope } from "./entry.ts";
import { type ProvisionError, refused, unverified } from "./errors.ts";
import { ID, OPERATION_ID } from "./ids.ts";
import { canonical, digest, parseCanonical } from "./json.ts";
import { bounded, escapeText } from "./text.ts";

export const STATEMENT_TYPE = "provision.approval/v1";

/** What a signed statement may say. A denial needs no signature, but one may be signed. */
export const DECISIONS = [
  "approve",
  "deny",
  "resolve:applied",
  "resolve:not-applied",
  "resolve:ours",
  "resolve:not-ours",
  "resolve:left",
] as const;
export type Decision = (typeof DECISIONS)[number];

const PHASES = ["apply", "rollback"] as const;

/** What the signature itself shows of the person: nothing, a touch of the key, or a touch and a check of who it was. */
export const ASSURANCES = ["software", "touch", "touch_uv"] as const;
export type Assurance = (typeof ASSURANCES)[number];

/** More than any plan's approval needs; what is longer is not read at all. */
const LONGEST = 65_536;
const SHA256 = /^sha256:[0-9a-f]{64}$/;
const hash = z.string().regex(SHA256);
const someone = z.string().min(1).max(256);

/** A point in time in UTC, whole seconds or milliseconds, that exists in the calendar. */
const instant = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/)
  .refine((text) => {
    const time = new Date(text);
    return !Number.isNaN(time.getTime()) && time.toISOString().slice(0, 19) === text.slice(0, 19);
  });

/** Unpadded base64url, or padded base64, of exactly so many bytes, in the one spelling that encoding gives. */
function encoded(encoding: "base64" | "base64url", bytes: number) {
  return z.string().refine((text) => decoded(text, encoding)?.length === bytes);
}

const statementSchema = z
  .strictObject({
    type: z.literal(STATEMENT_TYPE),
    decision: z.enum(DECISIONS),
    phase: z.enum(PHASES),
    operation_id: z.string().regex(OPERATION_ID),
    plan_hash: hash,
    card_hash: hash,
    policy_hash: hash,
    tenant: z.string().regex(ID),
    steps: z
      .array(z.int().min(1))
      .min(1)
      .max(1000)
      .refine((steps) => steps.every((step, i) => i === 0 || step > steps[i - 1]!)),
    requester: someone,
    subject_id: someone.nullable(),
    approver: someone,
    assurance: z.enum(ASSURANCES),
    nonce: encoded("base64url", 16),
    not_before: instant,
    not_after: instant,
    journal: z.strictObject({ origin: someone, size: z.int().min(0), root: encoded("base64", 32) }),
  })
  .refine(({ not_before, not_after }) => Date.parse(not_before) < Date.parse(not_after), { path: ["not_after"] });

/**
 * What an approver signs: one decision on one plan, its steps and the cards shown, by one person, in one window of
 * time, together with how far the journal reached, so that each approval also witnesses the journal.
 */
export type Statement = z.infer<typeof statementSchema>;

/**
 * Reads the bytes of a statement. They must be canonical (RFC 8785) and hold exactly the known fields.
 * Throws `not_canonical` or `fields` (exit 9); `type`, `decision` or `phase` (exit 13) where only that one is foreign.
 */
export function parseStatement(bytes: Uint8Array): Statement {
  const value = readCanonical(bytes);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw fields("it is no object");
  const known = Object.keys(statementSchema.shape);
  const strange = Object.keys(value).filter((key) => !known.includes(key));
  const missing = known.filter((key) => !Object.hasOwn(value, key));
  if (strange.length > 0) throw fields(`unknown field ${bounded(escapeText(strange[0]!), 40)}`);
  if (missing.length > 0) throw fields(`${missing[0]} is missing`);
  if (value.type !== STATEMENT_TYPE) throw refused("type", `The statement is not of type ${STATEMENT_TYPE}.`);
  if (!DECISIONS.some((word) => word === value.decision)) {
    throw refused("decision", `The statement's decision is none of ${DECISIONS.join(", ")}.`);
  }
  if (!PHASES.some((word) => word === value.phase)) {
    throw refused("phase", `The statement's phase is none of ${PHASES.join(", ")}.`);
  }
  const parsed = statementSchema.safeParse(value);
  if (parsed.error !== undefined) throw fields(`${parsed.error.issues[0]?.path.join(".") ?? "a field"} is malformed`);
  return parsed.data;
}

function readCanonical(bytes: Uint8Array) {
  try {
    if (bytes.length > LONGEST) throw new RangeError("too long");
    return parseCanonical(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    throw unverified("not_canonical", "The statement's bytes are not canonical JSON (RFC 8785).");
  }
}

function fields(why: string): ProvisionError {
  return unverified("fields", `The approval does not hold exactly the fields of ${STATEMENT_TYPE}: ${why}.`);
}

/** The bytes to sign and keep. Throws what `parseStatement` throws, so that nothing is signed that could not be read. */
export function statementBytes(statement: Statement): Uint8Array {
  const bytes = new TextEncoder().encode(canonical(statement));
  parseStatement(bytes);
  return bytes;
}

const envelopeSchema = z.strictObject({
  stmt: z
    .string()
    .min(1)
    .max(2 * LONGEST)
    .refine((text) => decoded(text, "base64url") !== null),
  alg: z.literal("sshsig"),
  sig: z.string().min(1).max(LONGEST),
});

/** Reads what claims to be an approval from elsewhere. Throws `fields` (exit 9). */
export function parseEnvelope(value: unknown): Envelope {
  const parsed = envelopeSchema.safeParse(value);
  if (parsed.error !== undefined)
    throw fields(`${parsed.error.issues[0]?.path.join(".") || "the envelope"} is malformed`);
  return parsed.data;
}

export function envelopeOf(statement: Uint8Array, armoured: string): Envelope {
  return { stmt: Buffer.from(statement).toString("base64url"), alg: "sshsig", sig: armoured };
}

/** The statement's bytes as they were signed. Throws `fields` (exit 9). */
export function signedBytes(envelope: Envelope): Uint8Array {
  const bytes = decoded(envelope.stmt, "base64url");
  if (bytes === null) throw fields("stmt is malformed");
  return bytes;
}

/** Names one signed statement: `apr_` and 80 bits of the hash over the envelope. */
export function approvalId(envelope: Envelope): string {
  return `apr_${digest("approval", canonical(envelope)).slice(0, 20)}`;
}

/** Null unless the text is what encoding its bytes gives; the usual decoders accept many spellings of the same bytes. */
function decoded(text: string, encoding: "base64" | "base64url"): Uint8Array | null {
  const bytes = Buffer.from(text, encoding);
  return bytes.toString(encoding) === text ? bytes : null;
}
