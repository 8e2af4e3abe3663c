import { LONGEST_NAME } from "./catalog.ts";
import { normaliseEmail } from "./email.ts";

export const KINDS = ["joiner", "change", "leaver"] as const;
export type Kind = (typeof KINDS)[number];

/** What can be read of a request however malformed the rest is, so that every fault is told at once. */
export interface Sketch {
  kind: Kind | null;
  tenant: string | null;
  role: string | null;
  groups: { path: string; name: string }[];
  licenses: { path: string; name: string }[];
  /** A-label of the subject's address, where that half is sound. */
  domain: string | null;
  sendEmail: boolean | null;
}

/** Reads what is sound and leaves the rest; judges nothing. */
export function sketchOf(input: unknown): Sketch {
  const top = isMapping(input) ? input : {};
  const inner = (key: string): Record<string, unknown> => (isMapping(top[key]) ? top[key] : {});
  const places = (list: string) => [
    ...named(top[list], list),
    ...["add", "remove", "exactly"].flatMap((key) => named(inner(key)[list], `${key}.${list}`)),
  ];
  const email = inner("subject").email;
  const checked = typeof email === "string" ? normaliseEmail(email) : null;
  const sendEmail = inner("invitation").send_email;
  return {
    kind: KINDS.find((kind) => kind === top.kind) ?? null,
    tenant: nameOr(top.tenant),
    role: nameOr(top.role),
    groups: places("groups"),
    licenses: places("licenses"),
    domain: checked?.domain ?? null,
    sendEmail: typeof sendEmail === "boolean" ? sendEmail : null,
  };
}

function named(list: unknown, path: string): { path: string; name: string }[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((one, at) => {
    const name = nameOr(one);
    return name === null ? [] : [{ path: `${path}[${at}]`, name }];
  });
}

function nameOr(value: unknown): string | null {
  return typeof value === "string" && value !== "" && value.length <= LONGEST_NAME ? value : null;
}

export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
