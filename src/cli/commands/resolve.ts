import type { Resolution } from "../../core/resolve.ts";
import { STATES } from "../../core/status.ts";
import { ProvisionError } from "../../model/errors.ts";
import { openDesk } from "../../operations/desk.ts";
import { giveWord, wordAbout } from "../../operations/resolve.ts";
import { askToSign } from "../ask.ts";
import type { CommandModule } from "../context.ts";
import { numberOption, textOption } from "../options.ts";
import { statusNotes, statusTable } from "../views/status.ts";

const EXAMPLES = `
A named approver's signed word for what no exact read can settle.

Examples:
  $ provision resolve k3v9q2mz --step 4 --as applied
  $ provision resolve k3v9q2mz --step 4 --as not-ours
  $ provision resolve k3v9q2mz --step 4 --undo --as left
`;

const FORWARD = ["applied", "not-applied", "ours", "not-ours"];

export const define: CommandModule["define"] = (command, action) => {
  command
    .argument("<op>", "the operation: any unique ending of its id, or @last (not with --yes)")
    .requiredOption("--step <n>", "the step that it is about")
    .requiredOption("--as <word>", `${FORWARD.join(", ")}; with --undo: left`)
    .option("--undo", "about the step's compensation")
    .option("--yes", "signs without asking; on sandbox tenants only")
    .option("--key <file>", "the approver's private key, or the .pub of a key that the ssh agent holds")
    .option("--exit-code", "exits by the operation's state")
    .addHelpText("after", EXAMPLES)
    .action(
      action(async (context, options, [op]) => {
        const { out, shell } = context;
        const desk = openDesk(shell);
        try {
          const step = numberOption("--step", options.step, { min: 1, max: 9999 }) ?? 0;
          const word = await wordAbout(desk, op as string, step, wordOption(options.as, options.undo === true));
          const sandbox = word.opened.plan.provider === "sandbox";
          const about = {
            named: op as string,
            sandbox,
            yes: options.yes === true,
            perCall: [step],
            question: "Sign this word? [y/N] ",
          };
          await askToSign(context, word.card, about);
          const document = await giveWord(desk, word, { keyFile: textOption(options.key), ask: context.interactive });
          out.answer(document, () => statusTable(document));
          if (!out.json) out.say(statusNotes(document));
          return options.exitCode === true ? STATES[document.state] : 0;
        } finally {
          desk.close();
        }
      }),
    );
};

function wordOption(value: unknown, undo: boolean): Resolution {
  const allowed = undo ? ["left"] : FORWARD;
  if (allowed.includes(String(value))) return value as Resolution;
  const message = `--as takes ${allowed.join(", ")}${undo ? " together with --undo" : ""}.`;
  throw new ProvisionError("usage", 2, message, {
    details: [{ path: "--as", code: "malformed", found: value, allowed }],
  });
}
