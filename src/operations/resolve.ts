import { refusalAsError } from "../core/approval.ts";
import type { OperationDocument } from "../core/operation.ts";
import { type Resolution, resolveCard, resolveCardHash, unresolvable } from "../core/resolve.ts";
import { envelopeOf, type Statement, statementBytes } from "../model/statement.ts";
import { appendIfStill } from "./append.ts";
import { statementHead } from "./approve.ts";
import type { Desk } from "./desk.ts";
import { type OpenedHere, openToAct } from "./open.ts";
import { chooseKey } from "./signer.ts";
import { statusOf } from "./status.ts";
import { verifyWord, WORD_MS } from "./words.ts";

export interface Word {
  opened: OpenedHere;
  step: number;
  as: Resolution;
  card: string;
}

/** What somebody is about to put their name to. Exit 13 where nothing about this step is open. */
export async function wordAbout(desk: Desk, op: string, step: number, as: Resolution): Promise<Word> {
  const opened = await openToAct(desk, op);
  const refusal = unresolvable(opened.state, step, as);
  if (refusal) throw refusalAsError(refusal);
  return { opened, step, as, card: resolveCard(opened.state, step, as) };
}

/** A named approver's signed word for what no exact read can settle. Its nonce counts once, as with approvals. */
export async function giveWord(
  desk: Desk,
  word: Word,
  options: { keyFile: string | null; ask: boolean },
): Promise<OperationDocument> {
  const { opened, step, as } = word;
  const { state, plan } = opened;
  const signer = await chooseKey(desk, plan.provider === "sandbox", desk.roster(), options);
  const phase = as === "left" ? "rollback" : "apply";
  const card = resolveCardHash(state, step, as);
  const now = desk.shell.now();
  const statement: Statement = {
    ...statementHead(desk, opened, signer.entry),
    decision: `resolve:${as}`,
    phase,
    card_hash: card,
    steps: [step],
    not_before: new Date(now).toISOString(),
    not_after: new Date(now + WORD_MS).toISOString(),
  };
  const bytes = statementBytes(statement);
  const envelope = envelopeOf(bytes, await signer.sign(bytes));
  const said = { step, as, envelope, approver: signer.entry.principal, nonce: statement.nonce };
  const found = verifyWord(desk, opened.tenant, state, { ...said, at: statement.not_before });
  if (found) {
    desk
      .journal()
      .append(opened.id, [
        { kind: "approval.refused", code: found.code, by: signer.entry.principal, detail: found.message },
      ]);
    throw refusalAsError(found);
  }
  // What was on the card is what the word is about; where that changed meanwhile, it was said of something else.
  const same = ({ state: now }: OpenedHere) =>
    unresolvable(now, step, as) === null && resolveCardHash(now, step, as) === card;
  await appendIfStill(desk, opened.id, [{ kind: "step.resolved", ...said }], same);
  const document = await statusOf(desk, opened.id);
  desk.journal().setState(opened.id, document.state);
  return document;
}
