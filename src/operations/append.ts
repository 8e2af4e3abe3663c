import type { Payload } from "../model/entry.ts";
import { refused } from "../model/errors.ts";
import type { Desk } from "./desk.ts";
import { type OpenedHere, openHere } from "./open.ts";

const ROUNDS = 20;

/**
 * Appends what a person decided, if it still holds of the operation as it is by then: read, ask `still`, and write only
 * where nothing came in between. A run that goes on meanwhile is no obstacle; a stop or another decision is.
 */
export async function appendIfStill(
  desk: Desk,
  id: string,
  payloads: Payload[],
  still: (now: OpenedHere) => boolean,
): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const now = await openHere(desk, id);
    if (!still(now)) break;
    if (desk.journal().append(id, payloads, undefined, { after: now.state.seq }).ok) return;
  }
  throw refused(
    "changed_meanwhile",
    `${id} changed while this was being decided; nothing was recorded.`,
    `provision status ${id}`,
  );
}
