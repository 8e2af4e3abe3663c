import type { Command } from "commander";
import type { Json } from "../../model/json.ts";
import { askSandbox } from "../../operations/sandbox.ts";
import type { Action, CommandModule } from "../context.ts";
import { numberOption, textOption } from "../options.ts";
import { doneText } from "../views/sandbox.ts";
import { defineServing } from "./sandbox-serve.ts";

const EXAMPLES = `
Examples:
  $ provision sandbox start &
  $ provision sandbox accept priya@example.test
  $ provision sandbox accept priya@example.test --as other@example.test
  $ provision sandbox edit role priya@example.test admin
  $ provision sandbox fault lost_after_commit --action invitation.create
  $ provision sandbox state --json
`;

/** Everything that happens in the tenant without our doing. */
export const define: CommandModule["define"] = (command, action) => {
  command.addHelpText("after", EXAMPLES);
  defineServing(command, action);
  people(command, action);
  edits(command, action);
  faults(command, action);
  command
    .command("state")
    .description("the whole truth of the tenant, as JSON")
    .action(
      action(async ({ out, shell }) => {
        const state = await askSandbox(shell, "GET", "state");
        out.answer(state, () => JSON.stringify(state, null, 2));
        return 0;
      }),
    );
  post(command.command("reset").description("puts the tenant back to its beginning"), action, () => ["reset", {}]);
};

type Body = { [key: string]: Json };

/** A command that tells the tenant one thing and prints what it did. */
function post(
  command: Command,
  action: Action,
  make: (args: readonly string[], options: Record<string, unknown>) => [string, Body],
): void {
  command.action(
    action(async ({ out, shell }, options, args) => {
      const [path, body] = make(args, options);
      const done = await askSandbox(shell, "POST", path, body);
      out.answer(done, () => doneText(done));
      return 0;
    }),
  );
}

function people(command: Command, action: Action): void {
  const accept = command
    .command("accept")
    .argument("<email>")
    .option("--as <email>", "redeems it with another account")
    .description("the invited person accepts");
  post(accept, action, ([email], options) => {
    const other = textOption(options.as);
    return ["accept", { email: email as string, ...(other === null ? {} : { as: other }) }];
  });
  post(command.command("decline").argument("<email>").description("the invited person declines"), action, ([email]) => [
    "decline",
    { email: email as string },
  ]);
}

function edits(command: Command, action: Action): void {
  const edit = command.command("edit").description("what another administrator does meanwhile");
  post(
    edit.command("role").argument("<email>").argument("<role>").description("sets a role"),
    action,
    ([email, role]) => ["edit/role", { email: email as string, role: role as string }],
  );
  post(
    edit
      .command("group")
      .argument("<email>")
      .argument("<change>", "add or remove")
      .argument("<group>")
      .description("adds to or removes from a group"),
    action,
    ([email, op, group]) => ["edit/group", { email: email as string, op: op as string, group: group as string }],
  );
  post(
    edit
      .command("user")
      .argument("<email>")
      .argument("<change>", "suspend, restore, delete or rename")
      .argument("[new]", "the new address")
      .description("changes an account"),
    action,
    ([email, op, to]) => [
      "edit/user",
      { email: email as string, op: op as string, ...(to === undefined ? {} : { to }) },
    ],
  );
}

function faults(command: Command, action: Action): void {
  const fault = command
    .command("fault")
    .argument("<kind>", "list, clear, or a kind such as lost_after_commit, status:503, throttle:2, commit_late:300")
    .option("--action <action>", "only for this action, such as role.set")
    .option("--times <n>", "how often")
    .option("--after <n>", "lets so many pass first")
    .description("sets what goes wrong");
  fault.action(
    action(async ({ out, shell }, options, [kind]) => {
      const done = await changeFaults(shell, kind as string, options);
      out.answer(done, () => doneText(done));
      return 0;
    }),
  );
}

function changeFaults(
  shell: Parameters<typeof askSandbox>[0],
  kind: string,
  options: Record<string, unknown>,
): Promise<Json> {
  if (kind === "list") return askSandbox(shell, "GET", "faults");
  if (kind === "clear") return askSandbox(shell, "DELETE", "faults");
  const name = textOption(options.action);
  const times = numberOption("--times", options.times, { min: 1, max: 1_000_000 });
  const after = numberOption("--after", options.after, { min: 0, max: 1_000_000 });
  return askSandbox(shell, "POST", "faults", {
    kind,
    ...(name === null ? {} : { action: name }),
    ...(times === null ? {} : { times }),
    ...(after === null ? {} : { after }),
  });
}
