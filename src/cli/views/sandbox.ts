import type { Json } from "../../model/json.ts";
import { escapeText } from "../../model/text.ts";

/** What the sandbox says it did, in a line. */
export function doneText(done: Json): string {
  if (done === null || typeof done !== "object" || Array.isArray(done)) return String(done);
  if (typeof done.done === "string") return done.done;
  if (Array.isArray(done.faults))
    return done.faults.length === 0 ? "No fault is set." : done.faults.map(faultText).join("\n");
  if (typeof done.kind === "string") return `Set: ${faultText(done)}`;
  const who = [done.email, done.user_id ?? done.id].filter((word) => typeof word === "string").join(" ");
  return escapeText(`${who}: ${whatOf(done)}${done.changed === false ? " (it was so already)" : ""}`);
}

function whatOf(done: { [key: string]: Json }): string {
  if (typeof done.group_id === "string")
    return done.direct === true ? `direct member of ${done.group_id}` : `no direct member of ${done.group_id}`;
  if (typeof done.state === "string") return `invitation ${done.id} ${done.state}${redeemer(done.accepted_by ?? null)}`;
  if (typeof done.status === "string") return done.status;
  return typeof done.role === "string" ? `role ${done.role}` : JSON.stringify(done);
}

function redeemer(by: Json): string {
  return by !== null && typeof by === "object" && !Array.isArray(by) ? ` by ${by.id} (${by.email})` : "";
}

function faultText(fault: Json): string {
  if (fault === null || typeof fault !== "object" || Array.isArray(fault)) return String(fault);
  const only = typeof fault.action === "string" ? ` on ${fault.action}` : "";
  const times = typeof fault.times === "number" ? `, ${fault.times === 1 ? "once" : `${fault.times} times`}` : "";
  const after = typeof fault.after === "number" && fault.after > 0 ? `, after ${fault.after} others` : "";
  return escapeText(`${fault.text ?? fault.kind}${only}${times}${after}`);
}
