import { pendingDecisions } from "../core/approval.ts";
import type { OperationDocument } from "../core/operation.ts";
import { FINISHED, type StateName } from "../core/status.ts";
import { refused } from "../model/errors.ts";
import type { Desk } from "./desk.ts";
import { openHere } from "./open.ts";
import { requesterOf } from "./requester.ts";
import { nameOf } from "./run.ts";
import { statusOf } from "./status.ts";

/** Ends what was approved. A run under way sees it before its next write; nothing is undone. */
export async function stopOperation(desk: Desk, op: string, reason: string | null): Promise<OperationDocument> {
  const opened = await openHere(desk, op);
  const name = nameOf(desk, opened);
  if (name !== "stopped") {
    if (FINISHED.includes(name) || opened.state.rollback)
      throw refused(
        "nothing_to_stop",
        `${opened.id} is ${name}; there is no future step to stop.`,
        `provision status ${opened.id}`,
      );
    desk.journal().append(opened.id, [{ kind: "op.stopped", by: requesterOf(desk.shell.env).id, reason }]);
  }
  const document = await statusOf(desk, opened.id);
  desk.journal().setState(opened.id, document.state);
  return document;
}

export interface Denied {
  operation_id: string;
  decided: number[];
  approval_id: null;
  expires_at: null;
  state: StateName;
}

/** Refuses what is asked now. Anybody may; it takes authority away and is not signed. */
export async function denyOperation(desk: Desk, op: string, reason: string): Promise<Denied> {
  const opened = await openHere(desk, op);
  const { steps, phase } = pendingDecisions(opened.state, desk.shell.now(), opened.authority);
  if (steps.length > 0 && phase === "rollback")
    throw refused(
      "not_deniable",
      `What ${opened.id} asks for is the way back of step ${steps.join(", ")}; it is not denied but left as it is.`,
      `provision resolve ${opened.id} --step ${steps[0]} --undo --as left`,
    );
  if (steps.length > 0)
    desk.journal().append(opened.id, [{ kind: "approval.denied", by: requesterOf(desk.shell.env).id, reason }]);
  const after = await openHere(desk, opened.id);
  const state = nameOf(desk, after);
  desk.journal().setState(opened.id, state);
  return {
    operation_id: opened.id,
    decided: steps,
    approval_id: null,
    expires_at: null,
    state,
  };
}
