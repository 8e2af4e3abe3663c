import { resolve } from "node:path";
import { verifyHere } from "../../operations/audit.ts";
import type { CommandModule } from "../context.ts";
import { textOption } from "../options.ts";

const EXAMPLES = `
Checks chain, hashes and root of the whole journal, and the high-water mark beside it. It needs no key and no network.

Examples:
  $ provision audit verify
  $ provision audit verify --journal /mnt/copy/journal.db --json
`;

export const define: CommandModule["define"] = (command, action) => {
  command.addHelpText("after", "\nExamples:\n  $ provision audit verify\n");
  command
    .command("verify")
    .description("checks that the journal was not touched")
    .option("--journal <file>", "a copy of a journal, instead of this folder's")
    .addHelpText("after", EXAMPLES)
    .action(
      action(async ({ out, shell }, options) => {
        const file = textOption(options.journal);
        const found = verifyHere(shell, file === null ? null : resolve(shell.cwd, file));
        out.answer(found, () =>
          [
            ...found.problems.map(({ code, seq }) => `${code}${seq === null ? "" : ` at entry ${seq}`}`),
            `${found.ok ? "OK" : "DAMAGED"}  ${found.entries} entries, head ${found.head === null ? "none" : found.head.root}, ${found.entries - found.anchored} not anchored yet`,
          ].join("\n"),
        );
        return found.ok ? 0 : 9;
      }),
    );
};
