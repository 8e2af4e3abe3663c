import { inDoubt } from "../core/progress.ts";
import { settledUndo } from "../core/resolved.ts";
import { compensations } from "../core/undo.ts";
import { ProvisionError } from "../model/errors.ts";
import type { CredentialClass } from "../model/provider.ts";
import type { Desk } from "./desk.ts";
import { classFor } from "./guarding.ts";
import type { OpenedHere } from "./open.ts";
import { openSessions } from "./sessions.ts";

/**
 * Tries every credential that the way back would need, by a read, before the way back begins: with a dead one it would
 * end half done. With nothing to take back none is needed. What else may go wrong with these reads is no reason to stay; the run itself meets it and pauses.
 *
 * Exit 12 `credential_dead`; exit 2 where a credential cannot be had at all. Nothing was recorded, and nothing sent.
 */
export async function proveCredentials(desk: Desk, opened: OpenedHere, toStep: number): Promise<void> {
  const { id, tenant, state } = opened;
  const back = compensations(state, toStep).filter(
    ({ step, receipt }) => !settledUndo(step.undone?.result ?? "") && receipt.attribution === "proven",
  );
  if (back.length === 0 && !state.steps.some(inDoubt)) return;
  const sessions = openSessions(desk, tenant, desk.journal().fingerprintKey(id));
  const writing = back.map((one) => classFor(one.back, sessions.credentials.has("privileged")));
  try {
    for (const credential of new Set<CredentialClass>(["read", ...writing])) {
      const self = await sessions.open(credential, () => {}).self();
      if (self.kind !== "unreadable" || self.reason !== "unauthenticated") continue;
      const message = `The ${credential} credential of ${tenant.resolved.name} is dead: ${self.detail}. The rollback of ${id} was not begun, and nothing was sent.`;
      const hint = `Renew the source of the ${credential} credential, then: provision rollback ${id}`;
      throw new ProvisionError("credential_dead", 12, message, { hint });
    }
  } finally {
    await sessions.close();
  }
}
