import type { RequestRow, StateDocument } from "../../providers/sandbox/tenant/views.ts";
import type { Entry } from "../../src/model/entry.ts";
import type { Operation } from "./desk.ts";

/** Results that say: this very operation changed the tenant. */
const OURS = ["pending", "accepted", "changed", "added", "assigned"];

/** Everything that an operation's document says and the tenant's own record does not, or the other way round. */
export function disagreements(
  document: Operation,
  entries: readonly Entry[],
  requests: readonly RequestRow[],
): string[] {
  const op = document.operation_id;
  const found: string[] = [];
  const applied = (step: number, phase: "apply" | "rollback") => {
    const keys = new Set(
      entries.flatMap((entry) =>
        entry.kind === "step.requested" && entry.step === step && entry.phase === phase ? [entry.key] : [],
      ),
    );
    return requests.filter((row) => row.applied && keys.has(row.idempotency_key ?? "")).length;
  };
  for (const { step, result, receipt, undo } of document.steps) {
    const wanted = OURS.includes(result) && receipt !== null && receipt.attribution !== null ? 1 : 0;
    if (applied(step, "apply") !== wanted)
      found.push(`${op} step ${step} is ${result}, applied ${applied(step, "apply")}`);
    const back = undo === "undone" ? 1 : 0;
    if (applied(step, "rollback") !== back)
      found.push(`${op} step ${step} is ${undo}, applied ${applied(step, "rollback")}`);
  }
  return found;
}

/** What one person holds by the tenant's word: role and direct groups; null for whoever is not there. */
export function holdingsOf({ users, groups }: StateDocument, email: string): string | null {
  const user = users.find((one) => one.email.toLowerCase() === email.toLowerCase());
  if (!user) return null;
  const held = groups.filter(({ members }) => members.some((one) => one.user_id === user.id && one.via === "direct"));
  return [user.role, user.status, ...held.map(({ name }) => name)].join(" ");
}

/** What an operation that is at its end says that its person holds, by its own last words about each thing. */
export function saidToHold({ steps }: Operation): { role: string | null; engineering: boolean | null } {
  const role = steps.find(({ action }) => action === "role.set");
  const group = steps.find(({ action }) => action === "group.add");
  const roleNow = role?.undo === "undone" ? role.receipt?.before : role?.receipt?.after;
  const inGroup = group && ["added", "already_present"].includes(group.result) ? group.undo !== "undone" : null;
  return { role: typeof roleNow === "string" ? roleNow : null, engineering: inGroup };
}
