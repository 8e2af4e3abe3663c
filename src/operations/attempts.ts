import type { Desk } from "./desk.ts";

/** One wire attempt, linked to its step. Several may belong to one change; none of them is a change by itself. */
export interface AttemptLine {
  step: number;
  phase: string;
  try: number;
  attempt: number;
  at: string;
  duration_ms: number;
  answer: string;
  status: number | null;
  provider_request_id: string | null;
}

export function attemptsOf(desk: Desk, id: string): AttemptLine[] {
  return desk
    .journal()
    .read(id)
    .flatMap((entry): AttemptLine[] => {
      if (entry.kind !== "step.transport") return [];
      const { step, phase, attempt, reply, transport } = entry;
      const { started_at: at, duration_ms, status, provider_request_id } = transport;
      return [
        { step, phase, try: entry.try, attempt, at, duration_ms, answer: reply.kind, status, provider_request_id },
      ];
    });
}
