import { ProvisionError } from "../model/errors.ts";
import type { Plan } from "../model/plan.ts";
import type { Desk } from "./desk.ts";
import { openHere, openOperation } from "./open.ts";
import { nameOf } from "./run.ts";

export interface ListedOperation {
  operation_id: string;
  tenant: string;
  subject: string;
  /** By its entries now; as last listed, where they cannot be judged here. */
  state: string;
  created_at: string;
}

/** Every operation, oldest first, each as its entries tell it. */
export async function listOperations(desk: Desk): Promise<ListedOperation[]> {
  const listed: ListedOperation[] = [];
  for (const { op, state } of desk.journal().list()) {
    const { plan, name } = await seen(desk, op, state);
    const { subject, tenant, created_at } = plan;
    listed.push({
      operation_id: op,
      tenant,
      subject: subject.email ?? subject.login ?? subject.id ?? "",
      state: name,
      created_at,
    });
  }
  return listed;
}

/** Where the folder no longer knows its tenant, or a file is missing, the operation is listed as it was last seen. */
async function seen(desk: Desk, op: string, listed: string | null): Promise<{ plan: Plan; name: string }> {
  try {
    const opened = await openHere(desk, op);
    return { plan: opened.plan, name: nameOf(desk, opened) };
  } catch (error) {
    if (!(error instanceof ProvisionError) || error.exit !== 2) throw error;
    return { plan: openOperation(desk.journal(), op).plan, name: listed ?? "unknown" };
  }
}
