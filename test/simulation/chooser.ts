/** Where a history forks. 0 is the ordinary course. */
export interface Chooser {
  /** A number from 0 to n-1. */
  pick(n: number): number;
  /** The numbers picked so far: the reproduction of this history. */
  path(): number[];
}

/**
 * An odometer over all answers that a world may give: `pick` gives the next of n choices along the path; after a
 * history, `another` advances the last choice that has more. No recursion and no randomness.
 */
export class Odometer implements Chooser {
  private readonly values: number[] = [];
  private readonly sizes: number[] = [];
  private depth = 0;

  pick(n: number): number {
    if (n < 2) return 0;
    const at = this.depth++;
    if (at < this.values.length) {
      if (this.sizes[at] !== n) throw new Error(`choice ${at} had ${this.sizes[at]} answers and now has ${n}`);
      return this.values[at] ?? 0;
    }
    this.values.push(0);
    this.sizes.push(n);
    return 0;
  }

  /** Moves on to the next history; false once all were seen. */
  another(): boolean {
    this.values.length = this.depth;
    this.sizes.length = this.depth;
    this.depth = 0;
    for (;;) {
      const last = this.values.length - 1;
      if (last < 0) return false;
      const value = (this.values[last] ?? 0) + 1;
      if (value < (this.sizes[last] ?? 0)) {
        this.values[last] = value;
        return true;
      }
      this.values.pop();
      this.sizes.pop();
    }
  }

  path(): number[] {
    return this.values.slice(0, this.depth);
  }
}

/** Follows a given path, and the ordinary course beyond it. */
export class Replay implements Chooser {
  private position = 0;
  private readonly given: readonly number[];

  constructor(given: readonly number[]) {
    this.given = given;
  }

  pick(n: number): number {
    return n < 2 ? 0 : (this.given[this.position++] ?? 0);
  }

  path(): number[] {
    return [...this.given];
  }
}

/** Choices by a seeded generator (mulberry32): something other than the ordinary course with the given chance. */
export class Dice implements Chooser {
  private state: number;
  private readonly chance: number;
  private readonly taken: number[] = [];

  constructor(seed: number, chance: number) {
    this.state = seed >>> 0;
    this.chance = chance;
  }

  /** From 0 up to 1. */
  random(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  /** From 0 to n-1, all alike. */
  below(n: number): number {
    return Math.floor(this.random() * n);
  }

  pick(n: number): number {
    if (n < 2) return 0;
    const choice = this.random() < this.chance ? 1 + this.below(n - 1) : 0;
    this.taken.push(choice);
    return choice;
  }

  path(): number[] {
    return [...this.taken];
  }
}
