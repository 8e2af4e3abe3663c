import { openDesk } from "../../operations/desk.ts";
import { retryStep } from "../../operations/retry.ts";
import { runOperation } from "../../operations/run.ts";
import type { CommandModule } from "../context.ts";
import { withDocument } from "../finish.ts";
import { durationOption, numberOption } from "../options.ts";

const EXAMPLES = `
Examples:
  $ provision run @last
  $ provision run k3v9q2mz --wait 10m
  $ provision run k3v9q2mz --retry-step 5
`;

export const define: CommandModule["define"] = (command, action) => {
  command
    .argument("<op>", "the operation: any unique ending of its id, or @last")
    .option("--wait <duration>", "waits so long, in all, for the invitation to be accepted and for decisions")
    .option("--retry-step <n>", "opens a new try of a denied, rejected, conflicting or not-applied step")
    .addHelpText("after", EXAMPLES)
    .action(
      action(async (context, options, [op]) => {
        const desk = openDesk(context.shell);
        try {
          const retry = numberOption("--retry-step", options.retryStep, { min: 1, max: 9999 });
          const waitMs = durationOption("--wait", options.wait);
          return await withDocument(context, desk, op as string, async () => {
            if (retry !== null) await retryStep(desk, op as string, retry);
            return runOperation(desk, op as string, { waitMs });
          });
        } finally {
          desk.close();
        }
      }),
    );
};
