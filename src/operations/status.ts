import { type OperationDocument, operationDocument } from "../core/operation.ts";
import type { Holder } from "../model/entry.ts";
import { livenessOf } from "../runtime/process.ts";
import type { Desk } from "./desk.ts";
import { type OpenedHere, openHere } from "./open.ts";

/** Who runs the operation now; a holder that is known to be dead counts as nobody. */
export function holderOf(desk: Desk, id: string): Holder | null {
  const held = desk.journal().leaseOf(id);
  return held && livenessOf(held.holder) !== "dead" ? held.holder : null;
}

/** One operation, from the journal alone. */
export async function statusOf(desk: Desk, op: string): Promise<OperationDocument> {
  return documentOf(desk, await openHere(desk, op));
}

export function documentOf(
  desk: Desk,
  { id, state, authority }: Pick<OpenedHere, "id" | "state" | "authority">,
): OperationDocument {
  return operationDocument(state, desk.shell.now(), authority, holderOf(desk, id));
}
