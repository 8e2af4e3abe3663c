import { valueText } from "../../src/core/kinds.ts";
import type { AnyEntry } from "../../src/core/state.ts";

/** One entry in a line of a story. */
export function lineOf(entry: AnyEntry): string {
  const head = `${entry.at.slice(8, 23)} ${entry.seq} ${entry.kind}`;
  switch (entry.kind) {
    case "step.requested":
      return `${head} ${entry.step} ${entry.phase} try ${entry.try} attempt ${entry.attempt} on ${valueText(entry.before)} ${entry.if_version}`;
    case "step.transport":
      return `${head} ${entry.step} ${entry.phase} attempt ${entry.attempt}: ${JSON.stringify(entry.reply)}`;
    case "step.observed": {
      const shown = entry.purpose === "authorship" ? JSON.stringify(entry.reading) : valueText(entry.reading);
      const version = "version" in entry.reading ? entry.reading.version : "";
      return `${head} ${entry.step} ${entry.phase} ${entry.purpose} (${entry.read_at.slice(17, 23)}): ${shown} ${version}`;
    }
    case "step.receipt":
    case "step.compensated": {
      const { result, code } = entry.receipt;
      const whose = "attribution" in entry.receipt ? entry.receipt.attribution : "";
      return `${head} ${entry.step}: ${result} ${whose} (${code})`;
    }
    case "step.retried":
      return `${head} ${entry.step}`;
    case "step.resolved":
      return `${head} ${entry.step} as ${entry.as}`;
    case "approval.recorded":
      return `${head} ${entry.approval.phase} ${entry.approval.steps} until ${entry.approval.not_after}`;
    case "approval.requested":
    case "approval.spent":
      return `${head} ${entry.steps}`;
    case "op.state":
      return `${head} ${entry.event} ${entry.detail}`;
    case "subject.bound":
      return `${head} ${entry.subject_id}`;
    case "lease.taken":
      return `${head} ${entry.epoch}`;
    default:
      return head;
  }
}
