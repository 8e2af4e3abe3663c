import { ProvisionError, refused } from "../model/errors.ts";
import { inCi } from "../operations/requester.ts";
import type { Context } from "./context.ts";
import { confirm } from "./prompt.ts";

export interface Asking {
  /** As the person named the operation. */
  named: string;
  sandbox: boolean;
  yes: boolean;
  /** Steps that are decided one by one; `--yes` covers them on sandbox tenants alone. */
  perCall: readonly number[];
  question: string;
}

/** Shows exactly what will be signed, and gets the person's word. No terminal never means yes. */
export async function askToSign({ out, shell, interactive }: Context, shown: string, asking: Asking): Promise<void> {
  const { sandbox, yes, perCall } = asking;
  if (yes && asking.named.startsWith("@"))
    throw new ProvisionError(
      "usage",
      2,
      `--yes needs the operation's id, not ${asking.named}: what is signed must be named.`,
    );
  if (inCi(shell.env) && !sandbox)
    throw refused(
      "ci_cannot_approve",
      "A CI job never signs a decision: CI is set.",
      "An approver runs it in a terminal.",
    );
  if (yes && perCall.length > 0 && !sandbox)
    throw refused(
      "yes_refused",
      `Step ${perCall.join(", ")} is decided per call, and --yes does not cover that.`,
      "Decide it in a terminal.",
    );
  out.show(`${shown}\n`);
  if (yes) return;
  if (!interactive)
    throw new ProvisionError("answer_needed", 3, "An answer is needed and there is nobody to ask.", {
      hint: perCall.length > 0 && !sandbox ? "Run it in a terminal." : "Add --yes, or run it in a terminal.",
    });
  if (!(await confirm(asking.question)))
    throw refused("not_approved", "Nothing was signed.", "provision deny refuses it for good.");
}
