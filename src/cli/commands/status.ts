import { STATES } from "../../core/status.ts";
import { openDesk } from "../../operations/desk.ts";
import { statusOf } from "../../operations/status.ts";
import type { CommandModule } from "../context.ts";
import { statusNotes, statusTable } from "../views/status.ts";

const EXAMPLES = `
Examples:
  $ provision status @last
  $ provision status k3v9q2mz --json
  $ provision status k3v9q2mz --exit-code
`;

export const define: CommandModule["define"] = (command, action) => {
  command
    .argument("<op>", "the operation: any unique ending of its id, or @last")
    .option("--exit-code", "exits by the operation's state")
    .addHelpText("after", EXAMPLES)
    .action(
      action(async ({ out, shell }, options, [op]) => {
        const desk = openDesk(shell);
        try {
          const document = await statusOf(desk, op as string);
          out.answer(document, () => statusTable(document));
          if (!out.json) out.say(statusNotes(document));
          return options.exitCode === true ? STATES[document.state] : 0;
        } finally {
          desk.close();
        }
      }),
    );
};
