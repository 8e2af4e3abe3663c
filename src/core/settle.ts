import type { Attribution } from "../model/receipt.ts";
import type { Reply } from "../model/reply.ts";
import type { Resend } from "./approval.ts";
import type { Standing } from "./kinds.ts";
import { rereadAt, toldBy } from "./move.ts";
import { backoff, type Limits, pollDelay, settleWindow } from "./pace.ts";
import { type Attempt, isOpen, type Seen, type Work } from "./state.ts";

export type Outcome = "done" | "already" | "denied" | "rejected" | "conflict" | "no_effect" | "unknown";

/** What is to be done about a write that was sent, or may have been. */
export type Judgement =
  /** `same`: what was sent before may have been done, so the very same write is repeated. */
  | { do: "send"; same: boolean }
  | { do: "observe" }
  | { do: "ask_authorship" }
  | { do: "wait"; until: number }
  | { do: "conclude"; outcome: Outcome; attribution: Attribution | null; code: string; detail: string }
  | { do: "pause"; code: string; detail: string; until: number | null };

export interface Settling {
  work: Work;
  epoch: number;
  now: number;
  limits: Limits;
  /** Where this reading stands; only called for readings that proved something. */
  standing(seen: Seen): Standing;
  /** The service remembers keys: a resend with the same key cannot double the change, and proves whose it is. */
  keys: boolean;
  /** The tenant's own record can name the author of a change. */
  authorship: boolean;
  /** Until when the service asked for time, whichever attempt it answered. */
  asked: number | null;
  /** The target was made by this run moments ago, and may not be visible yet. */
  recent: boolean;
  /**
   * `held`: nothing may be sent before somebody decides or mends something, for the reason given; the step is left for
   * then. `over`: the way forward has ended; only what happened is to be found out.
   */
  resend: Resend;
}

/** The reply table: reply × what reads show → what to do. The newest reply decides, in the light of those before it. */
export function judge(s: Settling): Judgement {
  const { work } = s;
  const reply: Reply = isOpen(work)
    ? { kind: "lost", detail: "the process ended before an answer was recorded" }
    : (live(work).at(-1)?.reply ?? { kind: "lost", detail: "no attempt is recorded" });
  if (is401(reply) && unrefreshed(s) && s.resend === "allowed") return { do: "send", same: mayHaveApplied(s) };
  const seen = work.seen.at(-1);
  if (!seen) return { do: "observe" };
  if (seen.reading.kind === "unreadable") return unreadable(s, reply);
  const standing = s.standing(seen);
  if (standing === "wanted") return wanted(s, reply);
  return notWanted(s, reply, seen, standing);
}

/** Attempts of which it is not proven that nothing came. */
function live(work: Work): Attempt[] {
  return work.attempts.filter(({ attempt }) => attempt > work.closed);
}

/** This run was refused its token once, and has not tried with a fresh one. */
function unrefreshed(s: Settling): boolean {
  return ofRun(s).at(-1) === s.work.attempts.at(-1) && ofRun(s).filter(({ reply }) => is401(reply)).length === 1;
}

function ofRun(s: Settling) {
  return s.work.attempts.filter((attempt) => attempt.epoch === s.epoch);
}

/** Some attempt of this try may have changed something: it was answered with success, or its answer is not known. */
function mayHaveApplied(s: Settling): boolean {
  return isLost(s) || live(s.work).some(({ reply }) => reply.kind === "accepted");
}

/** Of some attempt no answer came. */
function isLost(s: Settling): boolean {
  return isOpen(s.work) || live(s.work).some(({ reply }) => reply.kind === "lost");
}

function wanted(s: Settling, reply: Reply): Judgement {
  const accepted = live(s.work).flatMap(({ reply }) => (reply.kind === "accepted" ? [reply] : []));
  const done = conclude("done", "proven", "accepted", "accepted, and a read shows it");
  if (accepted.some((each) => !each.asynchronous)) return done;
  if (reply.kind === "not_sent" && !mayHaveApplied(s))
    return conclude("already", null, "not_ours", "nothing of ours reached the service, and a read shows it");
  if (s.authorship && s.work.authorship === null) return { do: "ask_authorship" };
  const author = s.work.authorship;
  if (author?.kind === "found")
    return author.value === "ours"
      ? conclude("done", "proven", "named", "the tenant's own record names our request")
      : settledNow(s, conclude("already", null, "not_ours", "the tenant's own record names another author"));
  if (accepted.length > 0) return done;
  // The answer that got lost is given again to the same key.
  const once = s.work.announced - s.work.closed < 2;
  if (s.keys && s.resend === "allowed" && isLost(s) && once && withinBudget(s)) return { do: "send", same: true };
  const why = "absent before our request and there after it; no record names its author";
  return settledNow(s, conclude("done", "presumed", "presumed", why));
}

/** What holds once nothing of ours can arrive any more: a late request would undo what somebody decides meanwhile. */
function settledNow(s: Settling, then: Judgement): Judgement {
  const seen = s.work.seen.at(-1);
  return (seen && proven(s, seen)) ?? then;
}

function unreadable(s: Settling, reply: Reply): Judgement {
  const last = s.work.seen.at(-1) as Seen;
  const again = withinTime(s) ? rereadAt(s.work, last, s) : null;
  if (again !== null) return after(s, again);
  const reason = last.reading.kind === "unreadable" ? `${last.reading.reason}: ${last.reading.detail}` : "";
  if (!mayHaveApplied(s) && (reply.kind === "not_sent" || reply.kind === "throttled" || is401(reply)))
    return {
      do: "pause",
      code: "unreadable",
      detail: `nothing was changed, and the tenant cannot be read (${reason})`,
      until: toldBy(last),
    };
  return conclude("unknown", null, "unreadable", `it may have happened, and no read settles it (${reason})`);
}

function notWanted(s: Settling, reply: Reply, seen: Seen, standing: Standing): Judgement {
  switch (reply.kind) {
    case "accepted":
      return afterAccepted(s, reply, seen, standing);
    case "lost":
      return afterLost(s, seen, standing, reply.retryAt === undefined ? null : Date.parse(reply.retryAt));
    case "not_sent":
      if (standing === "other") return otherValue(s, seen);
      if (reply.dead && ofRun(s).at(-1)?.reply === reply) return leave(s, "unauthenticated", reply.detail, null);
      return resend(s, "not_sent", `nothing reached the service (${reply.detail})`, null);
    case "throttled":
      if (standing === "other") return otherValue(s, seen);
      return resend(s, "throttled", reply.detail, reply.retryAt === null ? null : Date.parse(reply.retryAt));
    case "gone":
      if (s.recent && standing === "expected" && withinBudget(s) && s.resend === "allowed")
        return resend(s, reply.code, reply.detail, null);
      return proven(s, seen) ?? conclude("conflict", null, reply.code, reply.detail);
    case "conflict":
      return proven(s, seen) ?? conclude("conflict", null, reply.code, reply.detail);
    case "rejected":
      return proven(s, seen) ?? conclude("rejected", null, reply.code, reply.detail);
    case "denied":
      if (reply.status === 401) {
        if (standing === "other") return otherValue(s, seen);
        const why = `the credential is no longer accepted (${reply.detail})`;
        // A run that comes later has read its credential anew.
        if (s.work.attempts.at(-1)?.epoch !== s.epoch) return resend(s, "unauthenticated", why, null);
        return leave(s, "unauthenticated", why, null);
      }
      return proven(s, seen) ?? conclude("denied", null, reply.code, reply.detail);
    default:
      reply satisfies never;
      return conclude("unknown", null, "unknown", "an answer of unknown kind");
  }
}

function afterAccepted(
  s: Settling,
  reply: Extract<Reply, { kind: "accepted" }>,
  seen: Seen,
  standing: Standing,
): Judgement {
  const window = settleWindow(s.limits, reply.asynchronous === true);
  const end = answeredAt(s) + window;
  if (Date.parse(seen.at) < end) return after(s, Math.min(end, poll(s, seen, window / 4)));
  const open = proven(s, seen);
  if (open) return open;
  if (standing === "other")
    return conclude(
      "conflict",
      null,
      "changed_since",
      "accepted, and what a read shows is neither what was there nor what was asked",
    );
  if (reply.asynchronous)
    return conclude("unknown", null, "asynchronous", "accepted to be done later, and not seen yet");
  return conclude("no_effect", null, "no_effect", "accepted, and complete reads show nothing of it");
}

function afterLost(s: Settling, seen: Seen, standing: Standing, told: number | null): Judgement {
  if (standing === "other" || moved(s, seen)) return otherValue(s, seen);
  const detail = "the answer was lost, and complete reads show that nothing happened";
  if (s.keys && s.resend === "allowed" && withinBudget(s)) return resend(s, "lost", detail, told);
  return proven(s, seen) ?? resend(s, "lost", detail, told);
}

/** It reads as before, in another version: somebody decided since, perhaps against a change of ours. */
function moved({ work }: Settling, { reading }: Seen): boolean {
  const before = versionIn(work.intent?.before);
  const now = versionIn(reading);
  return before !== null && now !== null && before !== now;
}

function versionIn(reading: Seen["reading"] | undefined): string | null {
  return reading === undefined || reading.kind === "unreadable" ? null : (reading.version ?? null);
}

function otherValue(s: Settling, seen: Seen): Judgement {
  return (
    proven(s, seen) ??
    conclude("conflict", null, "changed_since", "what a read shows is neither what was there nor what was asked")
  );
}

/**
 * Null once the absence is proven: a complete read that began after every request that is or may be in the air has
 * either arrived or died, and after the time that reads may lag. Until then, what to do to get such a read.
 */
function proven(s: Settling, seen: Seen): Judgement | null {
  const at = provenFrom(s);
  if (Date.parse(seen.at) >= at) return null;
  return after(s, Math.min(at, poll(s, seen, s.limits.requestMs)));
}

/** When to look again: counted from the last look, so that waiting for it does not put it off. */
function poll(s: Settling, seen: Seen, cap: number): number {
  return Date.parse(seen.at) + pollDelay(s.work.seen.length, cap);
}

function provenFrom(s: Settling): number {
  const { requestMs, settleMs } = s.limits;
  const open = isOpen(s.work);
  const since = Date.parse(s.work.doubtSince ?? s.work.intent?.at ?? "");
  return Math.max(inAirUntil(s.work, s.limits), open ? since + requestMs + settleMs : answeredAt(s) + settleMs);
}

/** Until when a request whose answer was lost, or said "later", may still arrive and be seen; 0 where none can. */
export function inAirUntil(work: Work, { requestMs, settleMs, asyncMs }: Limits): number {
  const inAir = live(work).flatMap(({ reply, transport }) => {
    const started = Date.parse(transport.started_at);
    if (reply.kind === "lost") return [started + requestMs + settleMs];
    return reply.kind === "accepted" && reply.asynchronous ? [started + transport.duration_ms + asyncMs] : [];
  });
  return Math.max(0, ...inAir);
}

function answeredAt(s: Settling): number {
  const last = live(s.work).at(-1);
  return last ? Date.parse(last.transport.started_at) + last.transport.duration_ms : 0;
}

function resend(s: Settling, code: string, detail: string, named: number | null): Judgement {
  const told = s.asked === null ? named : Math.max(named ?? 0, s.asked);
  const at = told ?? answeredAt(s) + backoff(Math.max(1, ofRun(s).length), s.limits);
  if (s.resend === "over") return leave(s, code, detail, null);
  if (told !== null && told - s.now > s.limits.retryAfterMs) return leave(s, code, detail, told);
  if (typeof s.resend === "object") return leave(s, "held", `${detail}; ${s.resend.held}`, null);
  if (!withinBudget(s)) return leave(s, code, `${detail}; the attempts of this run are used up`, told);
  const seen = s.work.seen.at(-1);
  if (s.now < at) return { do: "wait", until: at };
  return seen && Date.parse(seen.at) >= at ? { do: "send", same: mayHaveApplied(s) } : { do: "observe" };
}

/** Leaves a step for a later run, or for good, once it is proven that nothing came of it. */
function leave(s: Settling, code: string, detail: string, until: number | null): Judgement {
  if (s.resend !== "over") return settledNow(s, { do: "pause", code, detail, until });
  return settledNow(s, conclude("no_effect", null, code, `${detail}; nothing of it took effect`));
}

function after(s: Settling, until: number): Judgement {
  return s.now < until ? { do: "wait", until } : { do: "observe" };
}

function withinBudget(s: Settling): boolean {
  return ofRun(s).length < s.limits.attempts && withinTime(s);
}

function withinTime(s: Settling): boolean {
  return s.work.startedAt === null || s.now - Date.parse(s.work.startedAt) < s.limits.elapsedMs;
}

function is401(reply: Reply): boolean {
  return reply.kind === "denied" && reply.status === 401;
}

function conclude(outcome: Outcome, attribution: Attribution | null, code: string, detail: string): Judgement {
  return { do: "conclude", outcome, attribution, code, detail };
}
