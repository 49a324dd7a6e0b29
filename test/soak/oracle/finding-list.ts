import type { Findings } from './verdict.js';

const MAX_EXAMPLES = 20;

/** Counts findings and keeps the first few. */
export class FindingList implements Findings {
  count = 0;
  readonly examples: string[] = [];

  add(n: number, what: string): void {
    this.count++;
    if (this.examples.length < MAX_EXAMPLES) this.examples.push(`message ${n}: ${what}`);
  }

  toJSON(): Findings {
    return { count: this.count, examples: this.examples };
  }
}
