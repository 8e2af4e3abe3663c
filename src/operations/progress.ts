import { actionOf, targetOf } from "../core/kinds.ts";
import type { Surroundings } from "../runtime/execute.ts";
import type { Progress } from "./shell.ts";

type Event = Parameters<Surroundings["progress"]>[0];

/** Shorter waits come and go with every poll and tell nobody anything. */
const WORTH_SAYING_MS = 1_000;

/** What a person watching wants to hear of an event; null for most. */
export function progressOf(event: Event, now: number): Progress | null {
  if (event.kind === "wait") {
    const ms = event.until - now;
    return ms < WORTH_SAYING_MS ? null : { kind: "wait", seconds: Math.ceil(ms / 1000), why: event.why };
  }
  const { entry, state } = event;
  if (!("step" in entry) || typeof entry.step !== "number") return null;
  const plan = state.plan.steps[entry.step - 1];
  if (!plan) return null;
  const said = word(entry);
  return said && { kind: "step", step: entry.step, action: actionOf(plan.kind), target: targetOf(plan), ...said };
}

function word(entry: Extract<Event, { kind: "entry" }>["entry"]): { word: string; detail: string | null } | null {
  switch (entry.kind) {
    case "step.requested":
      return { word: entry.attempt > 1 ? `sending again (attempt ${entry.attempt})` : "sending", detail: null };
    case "step.transport":
      return entry.reply.kind === "accepted"
        ? null
        : { word: `answer: ${entry.reply.kind}`, detail: entry.reply.detail };
    case "step.receipt":
      return { word: entry.receipt.result, detail: entry.receipt.ours ? null : entry.receipt.detail };
    case "step.compensated":
      return { word: entry.receipt.result, detail: entry.receipt.detail };
    case "step.observed":
      return entry.reading.kind === "unreadable" ? { word: "cannot be read", detail: entry.reading.detail } : null;
    case "subject.bound":
      return { word: `bound to ${entry.subject_id}`, detail: null };
    default:
      return null;
  }
}
