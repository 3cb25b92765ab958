// Sets of cases by their index, a bit for each: causes ask millions of times how many cases two sets share.

import type { Case } from "./report";

function bits(word: number): number {
  let x = word - ((word >>> 1) & 0x55555555);
  x = (x & 0x33333333) + ((x >>> 2) & 0x33333333);
  return Math.imul((x + (x >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

export class CaseSet {
  private constructor(private readonly words: Int32Array) {}

  static of(cases: Case[], test: (c: Case) => boolean): CaseSet {
    const words = new Int32Array((cases.length + 31) >> 5);
    cases.forEach((c, k) => { if (test(c)) words[k >> 5]! |= 1 << (k & 31); });
    return new CaseSet(words);
  }

  has(index: number): boolean {
    return ((this.words[index >> 5]! >>> (index & 31)) & 1) === 1;
  }

  and(other: CaseSet): CaseSet {
    return new CaseSet(this.words.map((word, k) => word & other.words[k]!));
  }

  without(other: CaseSet): CaseSet {
    return new CaseSet(this.words.map((word, k) => word & ~other.words[k]!));
  }

  size(): number {
    let count = 0;
    for (const word of this.words) count += bits(word);
    return count;
  }

  /** How many cases are in both. */
  common(other: CaseSet): number {
    let count = 0;
    for (let k = 0; k < this.words.length; k += 1) count += bits(this.words[k]! & other.words[k]!);
    return count;
  }

  /** Equal for equal sets, and for no others. */
  key(): string {
    return this.words.join(",");
  }
}
