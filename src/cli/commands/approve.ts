import { stepsText } from "../../core/advice.ts";
import { STATES } from "../../core/status.ts";
import { ProvisionError } from "../../model/errors.ts";
import { askedNow, decide, type Question } from "../../operations/approve.ts";
import { openDesk } from "../../operations/desk.ts";
import { type Asking, askToSign } from "../ask.ts";
import type { CommandModule } from "../context.ts";
import { durationOption, stepsOption, textOption } from "../options.ts";
import { cardsText } from "../views/plan.ts";

const EXAMPLES = `
Examples:
  $ provision approve @last
  $ provision approve k3v9q2mz --steps 1,3 --expires 1h
  $ provision approve k3v9q2mz --key ~/.ssh/id_ed25519
  $ provision approve k3v9q2mz --phase rollback
`;

export const define: CommandModule["define"] = (command, action) => {
  command
    .argument("<op>", "the operation: any unique ending of its id, or @last (not with --yes)")
    .option("--steps <list>", "decides these steps only, as in 1,3")
    .option("--expires <duration>", "shortens how long the decision is valid, as in 1h")
    .option("--yes", "signs without asking; outside the sandbox never for what is decided per call")
    .option("--key <file>", "the approver's private key, or the .pub of a key that the ssh agent holds")
    .option("--phase <phase>", "rollback: decides compensations that give authority back")
    .option("--exit-code", "exits by the operation's state")
    .addHelpText("after", EXAMPLES)
    .action(
      action(async (context, options, [op]) => {
        const { out, shell } = context;
        const desk = openDesk(shell);
        try {
          const phase = phaseOption(options.phase);
          const question = await askedNow(desk, op as string, { steps: stepsOption(options.steps), phase });
          if (question.steps.length > 0)
            await askToSign(context, cardsText(question.cards), asking(op as string, question, options.yes === true));
          else out.say("Nothing is to be decided now.");
          const decided = await decide(desk, question, {
            keyFile: textOption(options.key),
            windowMs: durationOption("--expires", options.expires),
            ask: context.interactive,
          });
          const { approver, ...document } = decided;
          out.answer(document, () =>
            decided.decided.length === 0
              ? `STATE ${decided.state}`
              : `Approved ${stepsText(decided.decided)} as ${approver}, until ${decided.expires_at}.\nSTATE ${decided.state}`,
          );
          return options.exitCode === true ? STATES[decided.state] : 0;
        } finally {
          desk.close();
        }
      }),
    );
};

function phaseOption(value: unknown): "apply" | "rollback" | null {
  if (value === undefined) return null;
  if (value === "rollback" || value === "apply") return value;
  throw new ProvisionError("usage", 2, "--phase takes apply or rollback.", {
    details: [{ path: "--phase", code: "malformed", found: value, allowed: ["apply", "rollback"] }],
  });
}

function asking(named: string, { opened, cards, steps }: Question, yes: boolean): Asking {
  const many = steps.length === 1 ? "this step" : `these ${steps.length} steps`;
  return {
    named,
    sandbox: opened.plan.provider === "sandbox",
    yes,
    perCall: cards.filter((card) => card.gate === "call").map(({ step }) => step),
    question: `Approve ${many}? [y/N] `,
  };
}
