import { STATES } from "../../core/status.ts";
import { openDesk } from "../../operations/desk.ts";
import { outFile, readRequest, writePlan } from "../../operations/files.ts";
import { planRequest } from "../../operations/plan.ts";
import type { CommandModule } from "../context.ts";
import { textOption } from "../options.ts";
import { plannedText } from "../views/plan.ts";

const EXAMPLES = `
Examples:
  $ provision plan plans/joiner.yaml
  $ provision plan plans/joiner.yaml --dry-run
  $ provision plan - --json < plans/joiner.yaml
  $ provision plan plans/joiner.yaml --out joiner.plan.json
`;

export const define: CommandModule["define"] = (command, action) => {
  command
    .argument("<request>", "the request, a YAML file; - reads standard input")
    .option("--out <file>", "writes the plan's bytes into this file too")
    .option("--dry-run", "stores nothing and prints no operation id")
    .option("--new", "makes another operation, also where the same intent is not finished")
    .option("--exit-code", "exits by the operation's state")
    .addHelpText("after", EXAMPLES)
    .action(
      action(async ({ out, shell }, options, [file]) => {
        const desk = openDesk(shell);
        try {
          const name = textOption(options.out);
          const target = name === null ? null : outFile(desk, name);
          const request = await readRequest(desk, file as string);
          const planned = await planRequest(desk, request, {
            dryRun: options.dryRun === true,
            fresh: options.new === true,
          });
          if (target !== null) writePlan(target, planned.planBytes);
          for (const notice of planned.notices) out.say(`Note: ${notice}`);
          if (planned.existing)
            out.say(`Note: this was planned before and is not finished; --new makes another operation.`);
          const { operation_id, plan_hash, state, plan, cards } = planned;
          const ids = operation_id === null ? {} : { operation_id };
          out.answer({ schema: "provision.planned/v1", ...ids, plan_hash, state, plan, cards }, () =>
            plannedText(planned),
          );
          return options.exitCode === true ? STATES[state] : 0;
        } finally {
          desk.close();
        }
      }),
    );
};
