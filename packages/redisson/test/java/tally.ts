import type { TakenMessage } from './java-peer.js';

/** Counts messages that both sides offer and take, and reports problems. Both sides use this machine's clock. */
export class Tally {
  readonly #due = new Map<string, number>();
  readonly #seen = new Map<string, number>();
  readonly #early: string[] = [];

  /** Makes values for messages about to be offered, and notes the earliest instant at which they may come. */
  expect(count: number, by: string, delay: number): string[] {
    const due = Date.now() + delay;
    return Array.from({ length: count }, () => {
      const value = `${by} ${this.#due.size} after ${delay} ms`;
      this.#due.set(value, due);
      return value;
    });
  }

  count(value: string, at: number): void {
    this.#seen.set(value, (this.#seen.get(value) ?? 0) + 1);
    if (at < (this.#due.get(value) ?? Infinity)) this.#early.push(value);
  }

  countAll(messages: readonly TakenMessage[]): void {
    for (const { value, at } of messages) this.count(value.value as string, at);
  }

  get handled(): number {
    return this.#seen.size;
  }

  get isComplete(): boolean {
    return this.#seen.size >= this.#due.size;
  }

  /** Lost, repeated and early messages, up to ten of each. */
  problems(): string[] {
    const lost = [...this.#due.keys()].filter((value) => !this.#seen.has(value));
    const again = [...this.#seen].filter(([, times]) => times > 1).map(([value]) => value);
    const kinds = { lost, again, early: this.#early };
    return Object.entries(kinds).flatMap(([kind, values]) => values.slice(0, 10).map((value) => `${kind}: ${value}`));
  }
}
