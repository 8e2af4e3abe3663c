import { STATES } from "../../core/status.ts";
import { openDesk } from "../../operations/desk.ts";
import { stopOperation } from "../../operations/stop.ts";
import type { CommandModule } from "../context.ts";
import { textOption } from "../options.ts";
import { statusNotes, statusTable } from "../views/status.ts";

const EXAMPLES = `
Stops future steps, also of a run that is under way. It undoes nothing: what was changed stands until a rollback.

Examples:
  $ provision stop k3v9q2mz --reason "wrong person"
`;

export const define: CommandModule["define"] = (command, action) => {
  command
    .alias("revoke")
    .argument("<op>", "the operation: any unique ending of its id, or @last")
    .option("--reason <text>", "why")
    .option("--exit-code", "exits by the operation's state")
    .addHelpText("after", EXAMPLES)
    .action(
      action(async ({ out, shell }, options, [op]) => {
        const desk = openDesk(shell);
        try {
          const document = await stopOperation(desk, op as string, textOption(options.reason));
          out.answer(document, () => statusTable(document));
          if (!out.json) out.say(`Stopped. Nothing was undone.\n${statusNotes(document)}`);
          return options.exitCode === true ? STATES[document.state] : 0;
        } finally {
          desk.close();
        }
      }),
    );
};
