import { openDesk } from "../../operations/desk.ts";
import { previewRollback, type RollbackPreview, rollbackOperation } from "../../operations/rollback.ts";
import type { CommandModule } from "../context.ts";
import { withDocument } from "../finish.ts";
import { numberOption } from "../options.ts";
import { cardsText } from "../views/plan.ts";
import { columns } from "../views/table.ts";

const EXAMPLES = `
Examples:
  $ provision rollback @last --dry-run
  $ provision rollback k3v9q2mz
  $ provision rollback k3v9q2mz --to-step 3
`;

export const define: CommandModule["define"] = (command, action) => {
  command
    .argument("<op>", "the operation: any unique ending of its id, or @last")
    .option("--dry-run", "shows the compensations and what they ask, and does nothing")
    .option("--to-step <n>", "keeps steps 1 to n")
    .addHelpText("after", EXAMPLES)
    .action(
      action(async (context, options, [op]) => {
        const desk = openDesk(context.shell);
        try {
          const toStep = numberOption("--to-step", options.toStep, { min: 0, max: 9999 }) ?? 0;
          if (options.dryRun === true) {
            const preview = await previewRollback(desk, op as string, toStep);
            context.out.answer(preview, () => previewText(preview));
            return 0;
          }
          return await withDocument(context, desk, op as string, () =>
            rollbackOperation(desk, op as string, { toStep, waitMs: null }),
          );
        } finally {
          desk.close();
        }
      }),
    );
};

function previewText({ compensations, residual_effects, cards }: RollbackPreview): string {
  const rows = compensations.map((line) => [
    String(line.step),
    [line.action, line.target, line.value].filter(Boolean).join(" "),
    line.gate === "call" ? "asks" : "covered",
    line.detail ?? "",
  ]);
  const table =
    rows.length === 0
      ? "There is nothing to take back."
      : columns(["STEP", "COMPENSATION", "GATE", ""], rows, [6, 27, 9]);
  const remains = residual_effects.map((effect) => `remains  step ${effect.step}: ${effect.text}`);
  return [table, ...remains, ...(cards.length === 0 ? [] : ["", cardsText(cards)])].join("\n");
}
