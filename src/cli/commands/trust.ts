import { trustHere } from "../../operations/trust.ts";
import type { CommandModule } from "../context.ts";

const EXAMPLES = `
A configuration that is found by walking up may have come with a clone. Until it is trusted, its commands, foreign
addresses and files outside its folder are not used. A changed file has to be trusted again.

Examples:
  $ provision trust
`;

export const define: CommandModule["define"] = (command, action) => {
  command.addHelpText("after", EXAMPLES).action(
    action(async ({ out, shell }) => {
      const path = trustHere(shell);
      out.answer({ trusted: path }, () => `Trusted: ${path}`);
      return 0;
    }),
  );
};
