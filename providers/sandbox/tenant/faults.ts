import type { ActionWord } from "./outcome.ts";
import { ACTIONS } from "./outcome.ts";

/** Which requests a fault makes sense for, and whether it needs a number behind a colon (and of what). */
const KINDS = {
  lost_before_commit: { for: "write" },
  lost_after_commit: { for: "write" },
  commit_late: { for: "write", number: "milliseconds" },
  status: { for: "any", number: "a status from 200 to 599" },
  throttle: { for: "any", number: "seconds" },
  throttle_by_text: { for: "any" },
  delay: { for: "any", number: "milliseconds" },
  async: { for: "write", number: "milliseconds" },
  stale_reads: { for: "read", number: "how many reads" },
  truncate_page: { for: "page" },
  ignore_if_match: { for: "guarded" },
  success_without_effect: { for: "write" },
  error_though_applied: { for: "write" },
  masked_403_as_404: { for: "any" },
  reset_mid_body: { for: "any" },
  malformed_body: { for: "any" },
} as const satisfies Record<string, { for: "any" | "write" | "read" | "page" | "guarded"; number?: string }>;
export type FaultKind = keyof typeof KINDS;
export const FAULT_KINDS = Object.keys(KINDS) as FaultKind[];

export interface Fault {
  id: number;
  /** As it was set: `commit_late:200`. */
  text: string;
  kind: FaultKind;
  number: number;
  /** A word such as `group.add`, or with the group's name or id behind it; null: every request it makes sense for. */
  action: string | null;
  /** How many more requests it strikes. */
  times: number;
  /** How many that match it lets pass first. */
  after: number;
}

/** What a request is, as far as faults care. */
export interface Struck {
  write: boolean;
  /** A read that a replica answers, and so one that can be stale. */
  replica: boolean;
  action: ActionWord | null;
  /** The action with what it is about, in the ways that a person may write it. */
  labels: readonly string[];
  guarded: boolean;
  /** The answer is a page with at least one item on it. */
  page?: boolean;
}

/** Parses `commit_late:200`. @returns the fault, or a sentence that says what is wrong */
export function parseFault(
  text: string,
  options: { action?: string | undefined; times?: number | undefined; after?: number | undefined },
): Omit<Fault, "id"> | string {
  const [kind = "", argument, ...more] = text.split(":");
  const known = FAULT_KINDS.find((one) => one === kind);
  if (known === undefined || more.length > 0) return `There is no fault ${text}. There are: ${FAULT_KINDS.join(", ")}.`;
  const wants = "number" in KINDS[known] ? KINDS[known].number : undefined;
  if (wants === undefined && argument !== undefined) return `${kind} takes no number.`;
  if (wants !== undefined && !/^\d{1,7}$/.test(argument ?? "")) return `${kind} needs ${wants}: ${kind}:NUMBER.`;
  const number = Number(argument ?? 0);
  if (known === "status" && (number < 200 || number > 599)) return `${kind} needs ${wants}.`;
  const { action = null, times = 1, after = 0 } = options;
  if (action !== null && !ACTIONS.some((word) => word === action.split(" ")[0]))
    return `No request of a tenant client is ${action}. There are: ${ACTIONS.join(", ")}.`;
  return { text, kind: known, number, action, times, after };
}

/** Whether the request is one that this fault is meant for. */
export function matches(fault: Fault, request: Struck): boolean {
  if (fault.action !== null && !request.labels.includes(fault.action)) return false;
  const domain = KINDS[fault.kind].for;
  if (domain === "any") return true;
  if (domain === "guarded") return request.guarded;
  if (domain === "write" || fault.action !== null) return request.write;
  return domain === "page" ? request.page === true : request.replica;
}
