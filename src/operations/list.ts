import type { StateName } from "../core/status.ts";
import type { Desk } from "./desk.ts";
import { openHere } from "./open.ts";
import { nameOf } from "./run.ts";

export interface ListedOperation {
  operation_id: string;
  tenant: string;
  subject: string;
  state: StateName;
  created_at: string;
}

/** Every operation, oldest first, each as its entries tell it. */
export async function listOperations(desk: Desk): Promise<ListedOperation[]> {
  const listed: ListedOperation[] = [];
  for (const { op } of desk.journal().list()) {
    const opened = await openHere(desk, op);
    const { subject, tenant, created_at } = opened.plan;
    listed.push({
      operation_id: op,
      tenant,
      subject: subject.email ?? subject.login ?? subject.id ?? "",
      state: nameOf(desk, opened),
      created_at,
    });
  }
  return listed;
}
