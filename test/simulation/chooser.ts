/**
 * An odometer over all answers that a world may give. `pick(n)` gives the next of n choices along the path; after a
 * history, `another()` advances the last choice that has more. The path of a failure is its reproduction.
 */
export interface Chooser {
  /** A number from 0 to n-1. 0 is the ordinary course. */
  pick(n: number, what: string): number;
}

export class Odometer implements Chooser {
  private digits: { value: number; of: number; what: string }[] = [];
  private position = 0;

  pick(n: number, what: string): number {
    const digit = this.digits[this.position];
    if (digit) {
      if (digit.of !== n)
        throw new Error(`the history is not reproducible: ${digit.what} had ${digit.of} choices, ${what} has ${n}`);
      this.position += 1;
      return digit.value;
    }
    this.digits.push({ value: 0, of: n, what });
    this.position += 1;
    return 0;
  }

  /** Moves on to the next history; false once all were seen. */
  another(): boolean {
    this.digits.length = this.position;
    this.position = 0;
    for (;;) {
      const last = this.digits.at(-1);
      if (!last) return false;
      if (last.value + 1 < last.of) {
        last.value += 1;
        return true;
      }
      this.digits.pop();
    }
  }

  path(): number[] {
    return this.digits.slice(0, this.position).map((digit) => digit.value);
  }

  story(): string {
    return this.digits
      .slice(0, this.position)
      .filter((digit) => digit.value > 0)
      .map((digit) => `${digit.what}=${digit.value}`)
      .join(" ");
  }
}

/** Follows a given path, and the ordinary course beyond it. */
export class Replay implements Chooser {
  private position = 0;
  private readonly given: readonly number[];

  constructor(given: readonly number[]) {
    this.given = given;
  }

  pick(): number {
    return this.given[this.position++] ?? 0;
  }
}

/** Choices by a seeded generator (mulberry32); adversity with the given chance. */
export class Dice implements Chooser {
  private state: number;
  private readonly chance: number;
  private taken: number[] = [];

  constructor(seed: number, chance: number) {
    this.state = seed >>> 0;
    this.chance = chance;
  }

  random(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  pick(n: number): number {
    const choice = n > 1 && this.random() < this.chance ? 1 + Math.floor(this.random() * (n - 1)) : 0;
    this.taken.push(choice);
    return choice;
  }

  path(): number[] {
    return this.taken;
  }
}
