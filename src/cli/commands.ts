import type { CommandModule } from "./context.ts";

interface Listed {
  summary: string;
  load(): Promise<CommandModule>;
}

/** Every command, with the one line that `--help` shows. A command's file is loaded only when it is asked for. */
export const COMMANDS: Record<string, Listed> = {
  init: { summary: "writes a commented folder to start from", load: () => import("./commands/init.ts") },
  plan: { summary: "makes a frozen plan of a request and stores it", load: () => import("./commands/plan.ts") },
  show: { summary: "shows a plan and its cards", load: () => import("./commands/show.ts") },
  approve: { summary: "shows what is asked, and signs the decision", load: () => import("./commands/approve.ts") },
  deny: { summary: "refuses what is asked", load: () => import("./commands/deny.ts") },
  run: { summary: "carries out what was approved, or goes on", load: () => import("./commands/run.ts") },
  status: { summary: "shows one operation, from the journal", load: () => import("./commands/status.ts") },
  rollback: { summary: "takes back what an operation changed", load: () => import("./commands/rollback.ts") },
  stop: { summary: "stops future steps; undoes nothing", load: () => import("./commands/stop.ts") },
  resolve: { summary: "settles a doubt by an approver's signed word", load: () => import("./commands/resolve.ts") },
  list: { summary: "lists operations", load: () => import("./commands/list.ts") },
  audit: { summary: "checks the journal, without key or network", load: () => import("./commands/audit.ts") },
  trust: { summary: "trusts the configuration that was found here", load: () => import("./commands/trust.ts") },
  sandbox: { summary: "the embedded tenant: start it, and act in it", load: () => import("./commands/sandbox.ts") },
};
