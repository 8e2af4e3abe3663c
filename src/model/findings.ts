import type { z } from "zod";
import type { Finding } from "./errors.ts";
import { nearest } from "./nearest.ts";

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/**
 * Everything that a schema holds against an input, one finding for each, none cut off. With the schema at hand an
 * unknown key is told together with the known ones, the likeliest first.
 *
 * A refinement may name its own `code` and `allowed` in the `params` of its issue.
 */
export function findingsOf(error: z.core.$ZodError, input: unknown, schema?: z.core.$ZodType): Finding[] {
  return error.issues.flatMap((issue) => of(issue, [], input, schema)).sort(byPlace(input));
}

/** `tenants.acme.credentials.command[0]`; a key that is no plain word stands in quotes. The root is `$`. */
export function pathText(path: Path): string {
  const text = path.reduce<string>((before, part) => {
    if (typeof part === "number") return `${before}[${part}]`;
    const key = String(part);
    if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(key)) return `${before}[${JSON.stringify(key)}]`;
    return before === "" ? key : `${before}.${key}`;
  }, "");
  return text === "" ? "$" : text;
}

function of(issue: Issue, above: Path, input: unknown, schema: z.core.$ZodType | undefined): Finding[] {
  const path = [...above, ...issue.path];
  const found = at(input, path);
  const where = pathText(path);
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => unknownKey(key, path, schema));
    case "invalid_type":
      if (found === undefined) return [{ path: where, code: "missing", allowed: issue.expected }];
      return [{ path: where, code: "wrong_type", found, allowed: issue.expected }];
    case "invalid_value":
      return [
        { path: where, code: found === undefined ? "missing" : "not_allowed", ...given(found), allowed: issue.values },
      ];
    case "invalid_union":
      return ofUnion(issue, path, input, schema);
    case "invalid_key":
      return [{ path: where, code: "malformed_key", found: path.at(-1), ...reason(issue.issues[0]) }];
    case "too_big":
      return [{ path: where, code: "too_big", ...given(found), allowed: `at most ${issue.maximum}` }];
    case "too_small":
      return [{ path: where, code: "too_small", ...given(found), allowed: `at least ${issue.minimum}` }];
    case "custom":
      return [{ path: where, code: "not_allowed", ...given(found), ...reason(issue) }];
    default:
      return [{ path: where, code: "malformed", ...given(found), ...reason(issue) }];
  }
}

/** Code, allowed and message that a refinement chose for itself. */
function reason(issue: Issue | undefined): Partial<Finding> {
  if (issue === undefined) return {};
  const params = issue.code === "custom" ? (issue.params ?? {}) : {};
  const allowed = params.allowed ?? (issue.code === "invalid_format" ? (issue.pattern ?? issue.format) : undefined);
  return {
    ...(typeof params.code === "string" && { code: params.code }),
    ...(allowed !== undefined && { allowed }),
    ...(issue.message !== "Invalid input" && { message: issue.message }),
  };
}

function given(found: unknown): { found?: unknown } {
  return found === undefined ? {} : { found };
}

function unknownKey(key: string, path: Path, schema: z.core.$ZodType | undefined): Finding {
  const known = keysAt(schema, path);
  const finding: Finding = { path: pathText([...path, key]), code: "unknown_key", found: key };
  if (known.length === 0) return finding;
  const likely = nearest(key, known, known.length);
  return { ...finding, allowed: likely, message: `${JSON.stringify(key)} is not known; the nearest is ${likely[0]}` };
}

/** Of the branches of a union the one is told whose outer shape fits; where none or several do, what they would take. */
function ofUnion(issue: z.core.$ZodIssueInvalidUnion, path: Path, input: unknown, schema?: z.core.$ZodType): Finding[] {
  const found = at(input, path);
  if (issue.errors.length === 0 && "options" in issue) {
    return [{ path: pathText(path), code: "not_allowed", ...given(found), allowed: issue.options }];
  }
  const fitting = issue.errors.filter((branch) => !branch.some((one) => one.path.length === 0 && isShape(one)));
  if (fitting.length === 1) return (fitting[0] ?? []).flatMap((one) => of(one, path, input, schema));
  const shapes = issue.errors
    .flat()
    .flatMap((one) => (one.code === "invalid_type" ? [pathText([...one.path, one.expected])] : []));
  const code = found === undefined ? "missing" : "not_allowed";
  return [{ path: pathText(path), code, ...given(found), allowed: [...new Set(shapes)] }];
}

function isShape(issue: Issue): boolean {
  return issue.code === "invalid_type" || issue.code === "unrecognized_keys" || issue.code === "invalid_value";
}

function at(input: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, part) => {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return undefined;
    return (value as Record<PropertyKey, unknown>)[part];
  }, input);
}

/** Findings in the order in which the input was written. */
function byPlace(input: unknown): (a: Finding, b: Finding) => number {
  const order = new Map<string, number>();
  const visit = (value: unknown, path: Path): void => {
    order.set(pathText(path), order.size);
    if (typeof value !== "object" || value === null) return;
    for (const [key, inner] of Object.entries(value)) visit(inner, [...path, Array.isArray(value) ? Number(key) : key]);
  };
  visit(input, []);
  return (a, b) => (order.get(a.path) ?? order.size) - (order.get(b.path) ?? order.size);
}

function keysAt(schema: z.core.$ZodType | undefined, path: Path): string[] {
  const here = path.reduce<z.core.$ZodType[]>(
    (types, part) => types.flatMap((type) => inside(type, part)),
    open(schema),
  );
  return here.flatMap((type) => (isObject(type) ? Object.keys(type._zod.def.shape) : []));
}

function inside(type: z.core.$ZodType, part: PropertyKey): z.core.$ZodType[] {
  const { def } = (type as z.core.$ZodTypes)._zod;
  if (def.type === "object") return open(def.shape[String(part)]);
  if (def.type === "record") return open(def.valueType);
  if (def.type === "array") return open(def.element);
  return [];
}

/** Takes off what wraps a type (optional, default, refinement by pipe) and spreads unions. */
function open(type: z.core.$ZodType | undefined): z.core.$ZodType[] {
  if (type === undefined) return [];
  const { def } = (type as z.core.$ZodTypes)._zod;
  if (def.type === "union") return def.options.flatMap(open);
  if (def.type === "pipe") return open(def.in);
  if ("innerType" in def) return open(def.innerType);
  return [type];
}

function isObject(type: z.core.$ZodType): type is z.core.$ZodObject {
  return (type as z.core.$ZodTypes)._zod.def.type === "object";
}
