import { valueText } from "../../src/core/kinds.ts";
import type { AnyEntry } from "../../src/core/state.ts";

const known = new Map<string, number>();

function numberOf(word: string): number {
  const number = known.get(word);
  if (number !== undefined) return number;
  known.set(word, known.size + 1);
  return known.size;
}

/** Tells histories apart by what happened in them: 53 bits over every move, entry, answer and edit, in order. */
export class Fingerprint {
  private high = 0x811c9dc5;
  private low = 0x9e3779b9;

  add(value: number): void {
    this.high = Math.imul(this.high ^ value, 0x01000193);
    this.high ^= this.high >>> 15;
    this.low = Math.imul(this.low ^ value, 0x85ebca6b);
    this.low ^= this.low >>> 13;
  }

  word(word: string): void {
    this.add(numberOf(word));
  }

  entry(entry: AnyEntry): void {
    this.word(entry.kind);
    switch (entry.kind) {
      case "plan.frozen":
        break;
      case "step.requested":
        this.word(entry.action);
        this.word(entry.guard);
        this.add(entry.attempt);
        break;
      case "step.transport":
        this.word(entry.reply.kind);
        this.add("status" in entry.reply ? (entry.reply.status ?? 0) : 0);
        break;
      case "step.observed":
        this.word(entry.purpose);
        this.word(entry.purpose === "authorship" ? entry.reading.kind : valueText(entry.reading));
        break;
      case "step.receipt":
      case "step.compensated":
        this.word(entry.receipt.result);
        break;
      case "step.resolved":
        this.word(entry.as);
        break;
      case "op.state":
        this.word(entry.event);
        break;
    }
    if ("step" in entry) this.add(entry.step);
  }

  value(): number {
    return (this.high >>> 0) * 0x200000 + ((this.low >>> 0) & 0x1fffff);
  }
}

/** A set of such numbers that takes 16 bytes for each and grows by doubling. */
export class NumberSet {
  size = 0;
  private table = new Float64Array(1 << 12).fill(-1);

  add(value: number): void {
    if (this.size * 2 >= this.table.length) this.grow();
    if (this.insert(this.table, value)) this.size += 1;
  }

  private insert(table: Float64Array, value: number): boolean {
    const mask = table.length - 1;
    let at = (value % 0x7fffffff) & mask;
    for (;;) {
      const there = table[at];
      if (there === value) return false;
      if (there === -1) {
        table[at] = value;
        return true;
      }
      at = (at + 1) & mask;
    }
  }

  private grow(): void {
    const old = this.table;
    this.table = new Float64Array(old.length * 2).fill(-1);
    for (const value of old) if (value !== -1) this.insert(this.table, value);
  }
}
