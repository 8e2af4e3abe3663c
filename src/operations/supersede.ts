import { began } from "../core/fold.ts";
import { overlap } from "../core/overlap.ts";
import { FINISHED, stateOf } from "../core/status.ts";
import { ProvisionError } from "../model/errors.ts";
import { shortId } from "../model/ids.ts";
import type { Plan } from "../model/plan.ts";
import { authorityFor } from "./authority.ts";
import type { Desk, TenantDesk } from "./desk.ts";
import { openOperation } from "./open.ts";

/**
 * A new plan takes the place of older ones for the same person that touch the same thing and have not begun. One that
 * has begun and is not finished is in the way. Exit 13 `operation_open`, and nothing is superseded.
 */
export function supersede(desk: Desk, tenant: TenantDesk, plan: Plan, subjects: readonly string[]): void {
  const journal = desk.journal();
  const open = journal.bySubject(subjects).flatMap((id) => {
    const opened = openOperation(journal, id);
    if (opened.plan.tenant !== plan.tenant || !overlap(opened.plan, plan)) return [];
    const name = stateOf(opened.state, desk.shell.now(), authorityFor(desk, tenant, opened.state));
    return FINISHED.includes(name) ? [] : [{ ...opened, name }];
  });
  const begun = open.find(({ state }) => began(state));
  if (begun) {
    const message = `The operation ${begun.id} for the same person has begun and is ${begun.name}; it touches the same thing.`;
    const hint = `provision status ${shortId(begun.id)}`;
    throw new ProvisionError("operation_open", 13, message, {
      hint,
      details: [{ path: "subject", code: "operation_open", found: begun.id }],
    });
  }
  for (const { id, state } of open) {
    const entry = { kind: "op.state", event: "superseded", detail: `by ${plan.operation_id}` } as const;
    if (journal.append(id, [entry], undefined, { after: state.seq }).ok) journal.setState(id, "superseded");
  }
}
