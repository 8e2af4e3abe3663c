import { STATES } from "../../core/status.ts";
import { openDesk } from "../../operations/desk.ts";
import { denyOperation } from "../../operations/stop.ts";
import type { CommandModule } from "../context.ts";

const EXAMPLES = `
Before anything was changed the operation is then cancelled, later it is stopped.

Examples:
  $ provision deny k3v9q2mz --reason "not in this team"
`;

export const define: CommandModule["define"] = (command, action) => {
  command
    .argument("<op>", "the operation: any unique ending of its id, or @last")
    .requiredOption("--reason <text>", "why")
    .option("--exit-code", "exits by the operation's state")
    .addHelpText("after", EXAMPLES)
    .action(
      action(async ({ out, shell }, options, [op]) => {
        const desk = openDesk(shell);
        try {
          const denied = await denyOperation(desk, op as string, String(options.reason));
          out.answer(denied, () =>
            denied.decided.length === 0
              ? `Nothing is to be decided now.\nSTATE ${denied.state}`
              : `Denied steps ${denied.decided.join(", ")}.\nSTATE ${denied.state}`,
          );
          return options.exitCode === true ? STATES[denied.state] : 0;
        } finally {
          desk.close();
        }
      }),
    );
};
