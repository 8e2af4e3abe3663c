import { openDesk } from "../../operations/desk.ts";
import { listOperations } from "../../operations/list.ts";
import type { CommandModule } from "../context.ts";
import { columns } from "../views/table.ts";

const EXAMPLES = `
Examples:
  $ provision list
  $ provision list --json
`;

export const define: CommandModule["define"] = (command, action) => {
  command.addHelpText("after", EXAMPLES).action(
    action(async ({ out, shell }) => {
      const desk = openDesk(shell);
      try {
        const operations = await listOperations(desk);
        const rows = operations.map((one) => [one.operation_id, one.tenant, one.subject, one.state, one.created_at]);
        out.answer({ operations }, () =>
          rows.length === 0
            ? "There is no operation yet."
            : columns(["OPERATION", "TENANT", "SUBJECT", "STATE", "CREATED"], rows, []),
        );
        if (operations.length === 0) out.say("provision plan <request.yaml> begins one.");
        return 0;
      } finally {
        desk.close();
      }
    }),
  );
};
