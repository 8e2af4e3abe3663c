import type { Payload } from "../model/entry.ts";
import { ProvisionError } from "../model/errors.ts";
import type { Answer, Aside } from "../runtime/journal/journal.ts";
import type { Shell } from "./shell.ts";

/**
 * Appends as `append` does. Where that fails with an answer in hand, the answer is printed and kept beside the journal
 * ahead of anything else: it must not be lost with this process.
 */
export function keepingAnswers<T>(
  append: (payloads: Payload[], seq: number) => T,
  aside: Aside,
  shell: Pick<Shell, "progress">,
): (payloads: Payload[], seq: number) => T {
  return (payloads, seq) => {
    try {
      return append(payloads, seq);
    } catch (error) {
      const kept = payloads.filter(isAnswer).map((answer) => keep(answer, aside, shell));
      throw kept.length === 0 ? error : withAnswer(error, kept.join(" "));
    }
  };
}

function isAnswer(payload: Payload): payload is Answer {
  return payload.kind === "step.transport";
}

function keep(answer: Answer, aside: Aside, shell: Pick<Shell, "progress">): string {
  const why = aside.keep(answer);
  const where =
    why === undefined
      ? `It is kept in ${aside.path}, and the next run takes it in.`
      : `It could not be kept in ${aside.path} either (${why}): copy this line.`;
  shell.progress({ kind: "unrecorded", text: `Not in the journal: ${told(answer)}. ${where}` });
  return why === undefined
    ? `What the service answered to step ${answer.step} is kept in ${aside.path}, and the next run takes it in.`
    : `What the service answered to step ${answer.step} stands on stderr alone.`;
}

/** Everything that somebody needs who asks the service what became of the request. */
function told({ step, phase, try: number, attempt, reply, transport }: Answer): string {
  const direction = phase === "apply" ? "" : ", on the way back";
  const facts = [
    `HTTP ${transport.status ?? "none"}`,
    `request ${transport.provider_request_id ?? "without an id"}`,
    `sent ${transport.started_at}`,
  ];
  const detail = "detail" in reply && reply.detail !== "" ? `: ${reply.detail}` : "";
  return `step ${step}${direction}, try ${number}, attempt ${attempt} was answered ${reply.kind} (${facts.join(", ")})${detail}`;
}

function withAnswer(error: unknown, hint: string): unknown {
  if (!(error instanceof ProvisionError)) return error;
  const { code, exit, message, details } = error;
  return new ProvisionError(code, exit, message, {
    details,
    hint: error.hint === undefined ? hint : `${error.hint} ${hint}`,
  });
}
