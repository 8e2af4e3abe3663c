import type { Card } from "../../core/card.ts";
import { shortId } from "../../model/ids.ts";
import type { Planned } from "../../operations/plan.ts";

/** A card a step, then what was frozen and how to go on. */
export function plannedText(planned: Planned): string {
  const { plan, operation_id, plan_hash, state } = planned;
  const lines = [cardsText(planned.cards), ""];
  lines.push(`PLAN  ${plan_hash}`);
  if (operation_id === null) return [...lines, "DRY RUN  nothing was stored"].join("\n");
  lines.push(`OPERATION ${operation_id}`, `STATE ${state}`);
  const count = plan.steps.length;
  return [...lines, "", `  ${count} steps. To decide: provision approve ${shortId(operation_id)}`].join("\n");
}

export function cardsText(cards: readonly Card[]): string {
  return cards.map(({ text }) => text).join("\n\n");
}
