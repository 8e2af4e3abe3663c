import type { OperationDocument } from "../core/operation.ts";
import { STATES } from "../core/status.ts";
import { type ExitCode, ProvisionError } from "../model/errors.ts";
import type { Ran } from "../operations/run.ts";
import type { Context } from "./context.ts";
import { errorDocument, errorText } from "./out.ts";
import { statusNotes, statusTable } from "./views/status.ts";

/** Prints the operation that a run or rollback left, with what refused it beside it, and gives the exit code. */
export function finishRun(
  { out, signals }: Pick<Context, "out" | "signals">,
  ran: Ran,
  document: OperationDocument,
): ExitCode {
  const { refusal } = ran;
  const error =
    refusal &&
    new ProvisionError(
      refusal.code,
      refusal.exit,
      refusal.message,
      refusal.hint === undefined ? {} : { hint: refusal.hint },
    );
  out.answer(error ? { ...document, error: errorDocument(error) } : document, () => statusTable(document));
  if (!out.json) {
    out.say(statusNotes(document));
    if (error) out.say(`\n${errorText(error)}`);
  }
  if (error) return error.exit;
  return signals.interrupted ? 130 : STATES[document.state];
}
