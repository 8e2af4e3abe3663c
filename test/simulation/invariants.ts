/** The promises, as far as the machine decides them; each is named by what holds. The number is that of the promise. */
export const INVARIANTS = {
  once: "1: one try of one step changes the tenant at most once",
  request: "1: one announced attempt is at most one request",
  announced: "2: every request was announced in the journal, durably, as this attempt",
  read: "3: a result stands on a read that was made after the write",
  completed: "3: completed means that every step was read as wanted",
  true: "3: a change that is called proven was made by us",
  nothing: "3: a step that is said to have changed nothing left nothing of ours",
  undone: "3: a compensation that is called undone is undone",
  proven: "4: only what was made by us and is proven is taken back",
  others: "5: nobody else's decision is overwritten or removed",
  identity: "5: only the invited person is given anything",
  covered: "6: no write without a decision that covered it then",
  reading: "6: a decision per call counts for its reading alone",
  stopped: "6: nothing is begun after a stop or a denial",
  guarded: "6: what a guard or a rule refuses is not begun",
  giving: "6: a way back that gives authority has a decision of its own",
  forward: "6: nothing goes forward while it is taken back",
  executor: "8: whoever takes over comes to a named state",
  fenced: "8: who lost the lease writes no intent and sends nothing",
  verified: "8: what was confirmed is read again before anything follows it",
  rest: "every history comes to rest in a named state",
  again: "running again at rest changes nothing",
  doubt: "while something of ours is in doubt or in the air, the state says so",
  named: "whatever of ours stands at the end is named",
  back: "rolled back means that every compensation is proven or left",
  accepted: "an invitation that was accepted is never called expired or cancelled",
  forbidden: "a 403 is sent once a try",
  token: "a credential that is no longer accepted is no result of a step",
  asked: "the time that a service asks for is given to it",
  diverged: "nothing is sent by a run that finds the tenant diverged",
  decidable: "what waits for a decision can be decided",
} as const;
export type Invariant = keyof typeof INVARIANTS;

/** Something that must hold, for whoever keeps count. */
export interface Claim {
  invariant: Invariant;
  holds: boolean;
  detail: () => string;
}

export interface Breach {
  /** `crash`: the machine or the simulator fell over; that proves nothing. */
  invariant: Invariant | "crash";
  detail: string;
}

/** What was at stake in one history, and what was broken. */
export class Tally {
  readonly staked = new Set<Invariant>();
  readonly broken: Breach[] = [];

  check(invariant: Invariant, holds: boolean, detail: () => string): void {
    this.staked.add(invariant);
    if (!holds) this.broken.push({ invariant, detail: detail() });
  }
}
