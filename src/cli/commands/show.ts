import { planCards } from "../../core/card.ts";
import { STATES } from "../../core/status.ts";
import { openDesk } from "../../operations/desk.ts";
import { outFile, writePlan } from "../../operations/files.ts";
import { openHere } from "../../operations/open.ts";
import { nameOf } from "../../operations/run.ts";
import type { CommandModule } from "../context.ts";
import { textOption } from "../options.ts";
import { plannedText } from "../views/plan.ts";

const EXAMPLES = `
Examples:
  $ provision show @last
  $ provision show k3v9q2mz --out k3v9q2mz.plan.json
`;

export const define: CommandModule["define"] = (command, action) => {
  command
    .argument("<op>", "the operation: any unique ending of its id, or @last")
    .option("--out <file>", "writes the plan's bytes, for an approver elsewhere")
    .option("--exit-code", "exits by the operation's state")
    .addHelpText("after", EXAMPLES)
    .action(
      action(async ({ out, shell }, options, [op]) => {
        const desk = openDesk(shell);
        try {
          const opened = await openHere(desk, op as string);
          const state = nameOf(desk, opened);
          const cards = planCards(opened.state);
          const name = textOption(options.out);
          if (name !== null) writePlan(outFile(desk, name), opened.planBytes);
          const { id: operation_id, planHash: plan_hash, plan, planBytes } = opened;
          const shown = { operation_id, plan_hash, state, plan, planBytes, cards, notices: [], existing: true };
          out.answer({ schema: "provision.planned/v1", operation_id, plan_hash, state, plan, cards }, () =>
            plannedText(shown),
          );
          return options.exitCode === true ? STATES[state] : 0;
        } finally {
          desk.close();
        }
      }),
    );
};
