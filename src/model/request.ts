import { z } from "zod";
import { LONGEST_NAME } from "./catalog.ts";
import { PositiveDuration } from "./duration.ts";
import { normaliseEmail } from "./email.ts";
import type { Finding } from "./errors.ts";
import { findingsOf } from "./findings.ts";
import { ID } from "./ids.ts";
import { nearest } from "./nearest.ts";
import { isMapping, KINDS, type Sketch, sketchOf } from "./sketch.ts";

const WEEK_MS = 604_800_000;
/** Names in one list: each becomes a step that people read. */
const LONGEST_LIST = 1000;

const name = z.string().min(1).max(LONGEST_NAME);
const names = z
  .array(name)
  .max(LONGEST_LIST)
  .superRefine((list, context) => {
    const seen = new Set<string>();
    list.forEach((found, at) => {
      if (seen.has(found)) context.addIssue({ code: "custom", path: [at], params: { code: "repeated" } });
      seen.add(found);
    });
  });
/** Shown to people, escaped where it is shown; only what no file could carry unchanged is refused. */
const note = (longest: number) =>
  z
    .string()
    .min(1)
    .max(longest)
    .refine((text) => !/\p{Cs}/u.test(text), { params: { code: "lone_surrogate" } })
    .optional();

const subject = z
  .strictObject({
    email: z.string().optional(),
    login: z.string().regex(ID).optional(),
    id: z.string().regex(ID).optional(),
  })
  .refine((keys) => Object.values(keys).some((key) => key !== undefined), {
    params: { code: "missing", allowed: ["email", "login", "id"] },
  });

const common = {
  schema: z.literal("provision.request/v1").optional(),
  tenant: name,
  subject,
  ticket: note(128),
  reason: note(4000),
};
const preconditions = z.strictObject({ account_absent: z.boolean().optional() }).default({});
const lists = z.strictObject({ groups: names.default([]), licenses: names.default([]) });

export const joinerSchema = z.strictObject({
  ...common,
  kind: z.literal("joiner"),
  /** Mail cannot be taken back, so that it is always stated whether one is sent. */
  invitation: z.strictObject({
    send_email: z.boolean(),
    accept_within: PositiveDuration.default(WEEK_MS),
    on_deadline: z.enum(["stop", "cancel"]).default("stop"),
  }),
  role: name,
  groups: names.default([]),
  licenses: names.default([]),
  preconditions,
});

export const changeSchema = z.strictObject({
  ...common,
  kind: z.literal("change"),
  role: name.optional(),
  add: lists.optional(),
  remove: lists.optional(),
  /** Removes what is not named, but only groups of the catalogue that carry one of these labels. */
  exactly: z.strictObject({ groups: names, within: z.array(name).min(1).max(LONGEST_LIST) }).optional(),
  preconditions,
});

export const leaverSchema = z.strictObject({
  ...common,
  kind: z.literal("leaver"),
  groups: z.union([z.literal("all"), names]).default("all"),
  licenses: z.union([z.literal("all"), names]).default("all"),
  delete: z.boolean().default(false),
});

export const requestSchema = z.discriminatedUnion("kind", [joinerSchema, changeSchema, leaverSchema]);
export type JoinerRequest = z.infer<typeof joinerSchema>;
export type Request = z.infer<typeof requestSchema>;

export interface ParsedRequest {
  /** Null where there are findings. */
  request: Request | null;
  sketch: Sketch;
  findings: Finding[];
}

/** Checks everything that needs no tenant: shape, values, the address. All faults, each with its place. */
export function parseRequest(input: unknown): ParsedRequest {
  const sketch = sketchOf(input);
  if (!isMapping(input)) {
    return { request: null, sketch, findings: [{ path: "$", code: "not_a_map", allowed: "a mapping with kind:" }] };
  }
  if (!sketch.kind) return { request: null, sketch, findings: unknownKind(input) };
  const schema = { joiner: joinerSchema, change: changeSchema, leaver: leaverSchema }[sketch.kind];
  const { error, data } = schema.safeParse(input);
  const shape = error ? findingsOf(error, input, schema).map((one) => bareList(one, sketch)) : [];
  const address = addressFaults(input.subject);
  const findings = [...shape, ...address.findings, ...(data ? contradictions(data) : [])];
  if (!data || findings.length > 0) return { request: null, sketch, findings };
  const request: Request = data;
  if (address.email === null) return { request, sketch, findings };
  return { request: { ...request, subject: { ...request.subject, email: address.email } }, sketch, findings };
}

function unknownKind(input: Record<string, unknown>): Finding[] {
  const found = input.kind;
  if (found === undefined) return [{ path: "kind", code: "missing", allowed: KINDS }];
  if (typeof found !== "string") return [{ path: "kind", code: "wrong_type", found, allowed: KINDS }];
  return [{ path: "kind", code: "unknown_kind", found, allowed: nearest(found, KINDS) }];
}

/** In a change a bare list could mean "exactly these", and would then take away what it does not name. */
function bareList(finding: Finding, sketch: Sketch): Finding {
  const bare = finding.code === "unknown_key" && (finding.path === "groups" || finding.path === "licenses");
  if (sketch.kind !== "change" || !bare) return finding;
  const message = `A change does not take a bare list: say add: { ${finding.path}: […] } or remove: { ${finding.path}: […] }.`;
  return { path: finding.path, code: "bare_list", allowed: ["add", "remove", "exactly"], message };
}

function addressFaults(subject: unknown): { email: string | null; findings: Finding[] } {
  const found = isMapping(subject) ? subject.email : undefined;
  if (typeof found !== "string") return { email: null, findings: [] };
  const checked = normaliseEmail(found);
  if (checked.ok) return { email: checked.email, findings: [] };
  const findings = checked.faults.map(({ code, message }) => ({ path: "subject.email", code, found, message }));
  return { email: null, findings };
}

/** What is well formed and still says two things, or nothing. */
function contradictions(request: Request): Finding[] {
  if (request.kind !== "change") return [];
  const { role, add, remove, exactly } = request;
  if (!role && !add && !remove && !exactly) {
    return [{ path: "$", code: "nothing_asked", allowed: ["role", "add", "remove", "exactly"] }];
  }
  const both = (list: "groups" | "licenses"): Finding[] =>
    (remove?.[list] ?? []).flatMap((found, at) => {
      const wanted = add?.[list].includes(found) || (list === "groups" && exactly?.groups.includes(found));
      return wanted ? [{ path: `remove.${list}[${at}]`, code: "contradiction", found }] : [];
    });
  return [...both("groups"), ...both("licenses")];
}
