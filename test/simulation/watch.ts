import type { AnyEntry } from "../../src/core/state.ts";
import type { Phase } from "../../src/model/entry.ts";
import { isWrite, type Step, type WriteStep } from "../../src/model/plan.ts";
import type { Observed, Reading } from "../../src/model/reading.ts";
import { Decisions } from "./decisions.ts";
import { type Invariant, Tally } from "./invariants.ts";
import { expectedIn, wantedIn } from "./reads.ts";
import { mayReplace } from "./replaces.ts";
import type { Stage } from "./stage.ts";
import { newTrack, type Track } from "./track.ts";
import { type Applied, type Request, SUBJECT, targetOf } from "./truth.ts";

type Of<K extends AnyEntry["kind"]> = Extract<AnyEntry, { kind: K }>;

/** Looks on, and knows the truth. Judges each request, change and entry as it comes; the rest is judged at the end. */
export class Watch {
  readonly tally = new Tally();
  readonly decisions: Decisions;
  /** What persons said by a signed word, by step. */
  readonly words = new Map<number, string>();
  /** Requests that arrived. */
  arrivals = 0;
  overtaken = 0;
  rollingBack = false;
  /** The epoch of the newest run that read what contradicts the plan. */
  divergedIn = 0;
  private readonly theatre: Stage;
  /** By step: forward, and back. */
  private readonly tracks: Record<Phase, (Track | undefined)[]> = { apply: [], rollback: [] };
  private readonly byKey = new Map<string, Track>();
  /** The version of each thing that was read last under a lease, and when. */
  private readonly looked = new Map<string, { version: number; at: number }>();

  constructor(theatre: Stage) {
    this.theatre = theatre;
    this.decisions = new Decisions(theatre);
  }

  readonly check = (invariant: Invariant, holds: boolean, detail: () => string): void => {
    this.tally.check(invariant, holds, detail);
  };

  track(step: number, phase: Phase): Track {
    const tracks = this.tracks[phase];
    let track = tracks[step];
    if (!track) {
      track = newTrack();
      tracks[step] = track;
    }
    return track;
  }

  private forget(step: number, phase: Phase): void {
    this.tracks[phase][step] = undefined;
  }

  /** An answer said more than was done by then; only the service's own record could tell whose a change is. */
  liedAbout(key: string): void {
    const track = this.byKey.get(key);
    if (track) track.lied = true;
  }

  read(move: { step: number; phase: Phase }, step: Step, version: number, epoch: number): void {
    this.looked.set(`${epoch} ${targetOf(step)}`, { version, at: this.theatre.clock });
    this.theatre.print.add(version);
    this.theatre.print.add(move.step);
  }

  /** A request leaves an executor that works under `epoch`. */
  sent({ key, step, phase }: Request, attempt: number, epoch: number, holder: number): void {
    const track = this.track(step.step, phase);
    const about = () => `step ${step.step} ${phase}, attempt ${attempt}`;
    this.check("announced", track.key === key && track.intents.includes(attempt) && epoch === holder, about);
    this.check("request", !track.sent.includes(attempt), about);
    if (this.overtaken > 0) this.check("fenced", holder === this.theatre.epoch, about);
    const { known } = track;
    if (known.forbidden) this.check("forbidden", false, about);
    if (known.askedFor > 0) this.check("asked", this.theatre.clock >= known.askedFor, about);
    if (this.rollingBack) this.check("forward", phase === "rollback", about);
    if (phase === "apply" && this.divergedIn === epoch) this.check("diverged", false, about);
    for (const { invariant, holds, detail } of track.claims) this.check(invariant, holds, detail);
    track.claims = [];
    track.sent.push(attempt);
    track.sentAt = this.theatre.clock;
    track.looked = this.looked.get(`${epoch} ${targetOf(step)}`) ?? null;
  }

  arrival(): void {
    this.arrivals += 1;
  }

  applied(change: Applied, request: Request): void {
    const { step, phase, from } = change;
    const track = this.byKey.get(change.key) ?? this.track(step, phase);
    track.changes += 1;
    const { abilities } = this.theatre.world;
    const { keys, guard } = abilities;
    const { rivals } = this.theatre.world;
    if (track.changes === 1) track.rivals = rivals;
    // Without keys and guards, what somebody took back again cannot be told from what never happened.
    const distinguishes = keys || (guard === "if_match" && request.ifVersion !== null) || rivals === track.rivals;
    const about = () => `${change.target}: ${from.value} → ${change.to.value}, step ${step} ${phase}`;
    if (distinguishes && track.intents.length > 1) this.check("once", track.changes === 1, about);
    const told = track.lied || this.track(step, "apply").lied;
    if (from.owner === "rival" && !told && (distinguishes || track.changes === 1))
      this.check("others", mayReplace(change, request, track, abilities, this.words.get(step)), about);
    if (phase === "rollback" && from.owner !== "rival" && !told) this.check("proven", from.owner === "us", about);
    const account = this.theatre.world.at("account");
    const found = this.theatre.plan.subject.id === undefined && account.email !== null;
    if (found && request.step.kind !== "invite" && request.step.kind !== "cancel_invitation")
      this.check("identity", account.email === SUBJECT, about);
  }

  entry(entry: AnyEntry): void {
    this.decisions.entry(entry);
    switch (entry.kind) {
      case "lease.taken":
        this.overtaken += 1;
        break;
      case "step.requested":
        this.intent(entry);
        break;
      case "step.transport":
        this.moved(entry, entry.seq);
        this.answered(entry);
        break;
      case "step.observed":
        this.observed(entry);
        break;
      case "step.receipt":
        this.receipt(entry);
        break;
      case "step.compensated":
        this.compensated(entry);
        break;
      case "step.retried":
        this.retried(entry.step);
        break;
      case "step.resolved":
        this.words.set(entry.step, entry.as);
        if (entry.as === "not-applied") this.forget(entry.step, "apply");
        break;
      case "op.state":
        if (entry.event === "rollback") this.rollingBack = true;
        if (entry.event === "paused") this.closeAttempts();
        break;
      case "subject.bound": {
        const by = this.theatre.world.at("account");
        this.check("identity", by.id !== entry.subject_id || by.email === SUBJECT, () => `${by.email} was bound`);
        break;
      }
    }
  }

  private closeAttempts(): void {
    for (const tracks of Object.values(this.tracks))
      for (const track of tracks) if (track) track.closed = Math.max(0, ...track.intents);
  }

  private answered({ step, phase, reply, attempt }: Of<"step.transport">): void {
    const track = this.track(step, phase);
    // An answer that comes once the step was begun anew is of another day.
    if (attempt <= track.closed) return;
    if (reply.kind === "denied" && reply.status === 401) this.check("token", true, () => "");
    if (reply.kind === "denied" && reply.status === 403) {
      track.forbidden = true;
      this.check("forbidden", true, () => "");
    }
    if (reply.kind === "throttled" && reply.retryAt !== null) track.askedFor = Date.parse(reply.retryAt);
  }

  private moved({ step, phase }: { step: number; phase: Phase }, seq: number): void {
    const track = this.track(step, phase);
    track.movedAt = seq;
    track.seen = null;
  }

  private intent(entry: Of<"step.requested">): void {
    const { plan } = this.theatre;
    if (entry.phase === "rollback") this.mayBeTakenBack(entry.step);
    else this.mustBeVerified(entry);
    const track = this.track(entry.step, entry.phase);
    const fresh = track.try === entry.try ? track : this.renew(entry);
    if (fresh.intents.length > 0) this.check("once", fresh.key === entry.key, () => "one try has two keys");
    fresh.intents.push(entry.attempt);
    // What another brings to the journal later is seen by the next move, and not by the one under way.
    fresh.known = { forbidden: fresh.forbidden, askedFor: fresh.askedFor };
    this.moved(entry, entry.seq);
    if (this.overtaken > 1)
      this.check("fenced", entry.epoch === this.theatre.epoch, () => `an intent of epoch ${entry.epoch}`);
    if (fresh.refused) this.check("guarded", false, () => `step ${entry.step} was refused by a guard`);
    fresh.claims = this.decisions.judge(entry, plan.steps.find(isWrite)?.step ?? 0);
  }

  private renew({ step, phase, key, try: number }: Of<"step.requested">): Track {
    const { refused, verifiedIn } = this.track(step, phase);
    this.forget(step, phase);
    const track = Object.assign(this.track(step, phase), { try: number, key, refused, verifiedIn });
    this.byKey.set(key, track);
    return track;
  }

  /** A compensation needs a receipt that says ours, and proven, or a person's word. */
  private mayBeTakenBack(step: number): void {
    const receipt = this.theatre.state.steps[step - 1]?.receipt;
    const holds = receipt?.ours === true && receipt.attribution === "proven" && receipt.compensation !== null;
    this.check("proven", holds, () => `step ${step} reads ${receipt?.result}, ${receipt?.attribution}`);
  }

  /** What an earlier run confirmed is read in this one ahead of a write that follows it. */
  private mustBeVerified(entry: Of<"step.requested">): void {
    const { steps } = this.theatre.state;
    for (const { plan, receipt, receiptEpoch } of steps.slice(0, entry.step - 1)) {
      if (!isWrite(plan) || plan.kind === "invite" || !receipt?.ours || receiptEpoch === entry.epoch) continue;
      const { verifiedIn } = this.track(plan.step, "apply");
      this.check("verified", verifiedIn === entry.epoch, () => `step ${plan.step} ahead of step ${entry.step}`);
    }
  }

  private observed(entry: Of<"step.observed">): void {
    // What was read under another lease is evidence and steers nothing.
    if (entry.purpose === "authorship" || entry.epoch !== this.theatre.epoch) return;
    const track = this.track(entry.step, entry.phase);
    if (entry.purpose === "before") {
      track.refused = entry.refusal !== undefined;
      if (track.refused) this.check("guarded", true, () => "");
    }
    if (entry.purpose === "verify") track.verifiedIn = entry.epoch;
    const plan = this.theatre.plan.steps[entry.step - 1];
    if (plan && isWrite(plan) && entry.phase === "apply" && entry.purpose !== "settle")
      this.contradicts(plan, entry.purpose, entry.reading, entry.epoch);
    if (entry.purpose === "settle") track.seen = entry.reading;
  }

  /** Once a reading contradicts plan or receipt, this run sends nothing more. */
  private contradicts(plan: WriteStep, purpose: "before" | "verify", reading: Reading<Observed>, epoch: number): void {
    if (reading.kind === "unreadable") return;
    const fits = wantedIn(plan, reading) || (purpose === "before" && expectedIn(plan, reading));
    if (fits) return;
    this.divergedIn = epoch;
    this.check("diverged", true, () => "");
  }

  private receipt({ step, receipt }: Of<"step.receipt">): void {
    const track = this.track(step, "apply");
    const plan = this.theatre.plan.steps[step - 1];
    if (!plan || !isWrite(plan) || track.key === null) return;
    const about = () => `step ${step} reads ${receipt.result}, ${receipt.attribution}`;
    if (receipt.status === 401) this.check("token", receipt.result !== "denied", about);
    if (receipt.ours) {
      const again = this.theatre.state.steps[step - 1]?.receipt?.ours === true;
      if (!again) this.check("read", track.seen !== null && wantedIn(plan, track.seen), about);
      if (receipt.attribution === "proven" && !track.lied) this.check("true", track.changes > 0, about);
    } else if (receipt.result !== "unknown") this.check("nothing", !this.stands(plan, track.key), about);
  }

  private compensated({ step, receipt }: Of<"step.compensated">): void {
    const plan = this.theatre.plan.steps[step - 1];
    if (!plan || !isWrite(plan)) return;
    const { key, lied } = this.track(step, "apply");
    const back = this.track(step, "rollback");
    const about = () => `step ${step}: ${receipt.result}`;
    if (receipt.result === "undone" || receipt.result === "already gone") {
      if (!lied && !back.lied) this.check("undone", key === null || !this.stands(plan, key), about);
    } else if (receipt.result !== "unknown" && back.key !== null)
      this.check("nothing", !this.stands(plan, back.key), about);
  }

  /** What our request with this key made is what is there now. */
  stands(plan: WriteStep, key: string): boolean {
    const there = this.theatre.world.at(targetOf(plan));
    if (targetOf(plan) !== "invitation") return there.owner === "us" && there.key === key;
    if (there.endedBy === key) return true;
    return there.key === key && (there.value === "pending" || there.value === "accepted");
  }

  private retried(number: number): void {
    const { rollback, steps } = this.theatre.state;
    const open = steps.map(({ plan }) => plan.step);
    const reopened = open.filter((n) => n === number || (rollback !== null && n > rollback.toStep));
    for (const step of reopened) {
      this.forget(step, "apply");
      this.forget(step, "rollback");
      this.words.delete(step);
    }
    this.decisions.reopened(reopened);
    this.rollingBack = false;
  }
}
