import { refusalAsError } from "../core/approval.ts";
import type { OperationDocument } from "../core/operation.ts";
import { STATES } from "../core/status.ts";
import { type ExitCode, ProvisionError } from "../model/errors.ts";
import type { Desk } from "../operations/desk.ts";
import { openHere } from "../operations/open.ts";
import { nameOf, type Ran } from "../operations/run.ts";
import { documentOf } from "../operations/status.ts";
import type { Context } from "./context.ts";
import { errorDocument, errorText } from "./out.ts";
import { statusNotes, statusTable } from "./views/status.ts";

/**
 * Runs the body; where it is refused, the operation is printed all the same, with the refusal beside it. Only an
 * operation that cannot be opened gets the error alone.
 */
export async function withDocument(
  context: Pick<Context, "out">,
  desk: Desk,
  op: string,
  body: () => Promise<Ran>,
): Promise<ExitCode> {
  try {
    const ran = await body();
    return finishRun(context, ran, documentOf(desk, ran.opened));
  } catch (thrown) {
    if (!(thrown instanceof ProvisionError) || thrown.exit === 1) throw thrown;
    const opened = await openHere(desk, op).catch(() => null);
    if (!opened) throw thrown;
    const { code, exit, message, hint, details } = thrown;
    return finishRun(
      context,
      {
        opened,
        name: nameOf(desk, opened),
        refusal: { code, exit, message, details, ...(hint === undefined ? {} : { hint }) },
        interrupted: false,
      },
      documentOf(desk, opened),
    );
  }
}

/** Prints the operation that a run or rollback left, with what refused it beside it, and gives the exit code. */
function finishRun({ out }: Pick<Context, "out">, ran: Ran, document: OperationDocument): ExitCode {
  const { refusal } = ran;
  const error = refusal && refusalAsError(refusal);
  out.answer(error ? { ...document, error: errorDocument(error) } : document, () => statusTable(document));
  if (!out.json) {
    out.say(statusNotes(document));
    if (error) out.say(`\n${errorText(error)}`);
  }
  if (error) return error.exit;
  return ran.interrupted ? 130 : STATES[document.state];
}
