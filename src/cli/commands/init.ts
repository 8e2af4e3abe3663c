import { initFolder } from "../../operations/init.ts";
import type { CommandModule } from "../context.ts";

const EXAMPLES = `
Examples:
  $ provision init --provider sandbox
  $ provision -C access init
`;

export const define: CommandModule["define"] = (command, action) => {
  command
    .option("--provider <name>", "what the tenant in it is", "sandbox")
    .addHelpText("after", EXAMPLES)
    .action(
      action(async ({ out, shell }, options) => {
        const written = initFolder(shell, String(options.provider));
        out.answer(written, () =>
          [`Wrote into ${written.folder}:`, ...written.files.map((file) => `  ${file}`)].join("\n"),
        );
        out.say("\nNext:\n  provision sandbox start &\n  provision plan plans/joiner.yaml");
        return 0;
      }),
    );
};
