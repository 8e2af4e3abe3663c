import { refusalAsError } from "../../core/approval.ts";
import { FINISHED, STATES } from "../../core/status.ts";
import type { ExitCode } from "../../model/errors.ts";
import { type AttemptLine, attemptsOf } from "../../operations/attempts.ts";
import { type Desk, openDesk } from "../../operations/desk.ts";
import { listOperations } from "../../operations/list.ts";
import { openHere } from "../../operations/open.ts";
import { type Compared, refresh } from "../../operations/refresh.ts";
import { documentOf } from "../../operations/status.ts";
import type { CommandModule } from "../context.ts";
import { errorDocument, errorText, type Out } from "../out.ts";
import { statusNotes, statusTable } from "../views/status.ts";
import { columns } from "../views/table.ts";

const EXAMPLES = `
Without an operation it lists those that are not finished. What it says is the journal's, as of the time it names;
--refresh compares it with the tenant.

Examples:
  $ provision status
  $ provision status @last
  $ provision status k3v9q2mz --refresh
  $ provision status k3v9q2mz --attempts --json
`;

export const define: CommandModule["define"] = (command, action) => {
  command
    .argument("[op]", "the operation: any unique ending of its id, or @last")
    .option("--refresh", "reads the tenant, and exits 6 where it differs from the receipts")
    .option("--attempts", "lists every request that was sent, with its answer")
    .option("--exit-code", "exits by the operation's state")
    .addHelpText("after", EXAMPLES)
    .action(
      action(async ({ out, shell }, options, [op]) => {
        const desk = openDesk(shell);
        try {
          if (op === undefined) return await openOnes(desk, out);
          const opened = await openHere(desk, op);
          const document = documentOf(desk, opened);
          const compared = options.refresh === true ? await refresh(desk, opened) : null;
          const attempts = options.attempts === true ? attemptsOf(desk, opened.id) : null;
          const error = opened.authority.word ? refusalAsError(opened.authority.word) : null;
          const more = {
            ...(compared && { refreshed: compared }),
            ...(attempts && { attempts }),
            ...(error && { error: errorDocument(error) }),
          };
          out.answer({ ...document, ...more }, () =>
            [
              ...(compared ? [comparedTable(compared), ""] : []),
              ...(attempts ? [attemptsTable(attempts), ""] : []),
              statusTable(document),
            ].join("\n"),
          );
          if (!out.json) out.say(statusNotes(document));
          if (error && !out.json) out.say(`\n${errorText(error)}`);
          if (error) return error.exit;
          const exit = compared ? exitOf(compared) : 0;
          return exit === 0 && options.exitCode === true ? STATES[document.state] : exit;
        } finally {
          desk.close();
        }
      }),
    );
};

async function openOnes(desk: Desk, out: Out): Promise<ExitCode> {
  const operations = (await listOperations(desk)).filter(
    ({ state }) => !(FINISHED as readonly string[]).includes(state),
  );
  const rows = operations.map((one) => [one.operation_id, one.tenant, one.subject, one.state, one.created_at]);
  out.answer({ operations }, () =>
    rows.length === 0
      ? "No operation is open."
      : columns(["OPERATION", "TENANT", "SUBJECT", "STATE", "CREATED"], rows, []),
  );
  return 0;
}

function exitOf(compared: readonly Compared[]): ExitCode {
  if (compared.some(({ verdict }) => verdict === "different")) return 6;
  return compared.some(({ verdict }) => verdict === "unreadable") ? 12 : 0;
}

function comparedTable(compared: readonly Compared[]): string {
  if (compared.length === 0) return "No step is confirmed yet; there is nothing to compare.";
  const rows = compared.map((one) => [
    String(one.step),
    [one.action, one.target].filter(Boolean).join(" "),
    one.verdict,
    one.found,
  ]);
  return columns(["STEP", "ACTION", "TENANT", "FOUND"], rows, [6, 27, 18]);
}

function attemptsTable(attempts: readonly AttemptLine[]): string {
  if (attempts.length === 0) return "Nothing was sent yet.";
  const rows = attempts.map((one) => [
    String(one.step),
    one.phase,
    `${one.try}.${one.attempt}`,
    one.at,
    `${one.duration_ms} ms`,
    `${one.answer} ${one.status ?? ""}`.trim(),
    one.provider_request_id ?? "",
  ]);
  return columns(["STEP", "WAY", "TRY", "SENT", "TOOK", "ANSWER", "REQUEST"], rows, [6, 10, 6]);
}
