import { stepsText } from "../../core/advice.ts";
import type { OperationDocument } from "../../core/operation.ts";
import { escapeText } from "../../model/text.ts";
import { wrapLine } from "../../model/wrap.ts";
import { columns } from "./table.ts";

/** The table of the steps, and the state as its last line. */
export function statusTable(document: OperationDocument): string {
  const rows = document.steps.map((step) => [
    String(step.step),
    [step.action, step.target].filter(Boolean).join(" "),
    step.result,
    step.undo,
  ]);
  return `${columns(["STEP", "ACTION", "RESULT", "UNDO"], rows, [6, 27, 18])}\nSTATE ${document.state}`;
}

/** Whose doing it is, where that is not said by the code itself. */
const BY = {
  tenant: ", by the tenant",
  policy: ", by the policy",
  plan: ", by the plan",
  clock: ", by the clock",
  approval: "",
  subject: "",
};

/** What stands below the table, for the person at three in the morning. */
export function statusNotes(document: OperationDocument, width = noteWidth()): string {
  const lines: string[] = [];
  const say = (label: string, text: string) =>
    lines.push(...wrapLine(`${label.padEnd(13)}${escapeText(text)}`, width, 13));
  const { subject } = document;
  say("operation", `${document.operation_id} on ${document.tenant}, as of ${document.as_of}`);
  say(
    "subject",
    [
      subject.email ?? subject.login ?? subject.id ?? "",
      subject.remote_id === null ? "not bound to an account yet" : subject.remote_id,
    ].join(", "),
  );
  say("has now", document.has_now.join(", ") || "nothing that this operation has seen");
  say("in flight", inFlight(document));
  if (document.blocked) {
    const { step, code, by, detail, until } = document.blocked;
    const at = document.steps.find((one) => one.step === step)?.transport;
    const request = at?.provider_request_id ? `, request ${at.provider_request_id}` : "";
    say("stands at", `step ${step}: ${code}${BY[by]}${request}${until === null ? "" : `, until ${until}`}`);
    if (detail) say("", detail);
  }
  const { requester } = document;
  say("asked by", `${requester.id} (${requester.via}, ${requester.verified ? "verified" : "not verified"})`);
  for (const approval of document.approvals)
    say(
      "approved",
      `${stepsText(approval.steps)} (${approval.phase}) by ${approval.approver}, until ${approval.not_after}`,
    );
  const { stopped, denied } = document;
  if (stopped && denied?.at !== stopped.at)
    say("stopped", `by ${stopped.by} at ${stopped.at}${because(stopped.reason)}`);
  if (denied) say("denied", `by ${denied.by} at ${denied.at}${because(denied.reason)}`);
  for (const line of document.compensations) {
    const what = [line.action, line.target, line.value].filter(Boolean).join(" ");
    say(
      "way back",
      `step ${line.step}: ${what}${line.result === null ? "" : `, ${line.result}`}${line.detail === null ? "" : ` (${line.detail})`}`,
    );
  }
  for (const effect of document.residual_effects) say("remains", `step ${effect.step}: ${effect.text}`);
  for (const next of document.next)
    lines.push("", `  ${next.command}`, ...wrapLine(`    ${next.effect}; needs ${next.needs}`, width, 4));
  return lines.join("\n");
}

function because(reason: string | null): string {
  return reason === null ? "" : `: ${reason}`;
}

/** As wide as the terminal, and in a pipe as wide as lines are read well. */
function noteWidth(): number {
  return Math.max(40, Math.min(process.stderr.columns ?? 100, 100));
}

function inFlight({ in_flight }: OperationDocument): string {
  if (!in_flight) return "nothing";
  const { step, action, since, holder } = in_flight;
  const by = holder
    ? `by process ${holder.pid} of ${holder.user} on ${holder.host}`
    : "and the process that sent it is gone";
  return `step ${step} (${action}) since ${since}, ${by}`;
}
