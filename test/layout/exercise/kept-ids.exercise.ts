import { expect } from '@jest/globals';
import type { Outcome } from '../../../lib/store/consumer-store.js';
import type { MessageStore } from '../../../lib/store/message-store.js';

const HOUR = 3_600_000;

/** Keeps more ids than a queue may, with the short path and with the complete one, and asks for them. */
export class KeptIdsExercise {
  #tokens = 0;

  /** @param store - keeps one id */
  constructor(private readonly store: MessageStore) {}

  async run(): Promise<void> {
    const { store } = this;
    await this.#handle(['a'], { kind: 'ack' });
    await this.#handle(['b', 'c'], { kind: 'retry', delay: HOUR });
    await this.#handle(['d', 'e'], { kind: 'ack', lateBy: 1 });
    const receipts = await this.#offer(['d', 'new']);
    expect(receipts.map(({ outcome }) => outcome)).toEqual(['handled', 'created']);
    expect((await this.#offer(['d'])).map(({ outcome }) => outcome)).toEqual(['handled']);
    expect(await store.freeId!('a')).toBe(false);
    expect(await store.freeId!('d')).toBe(true);
    await store.clear();
  }

  /** Handles the first of the messages. The others end with another outcome, in the same call. */
  async #handle(ids: readonly string[], other: Outcome): Promise<void> {
    const { store } = this;
    const token = `kept-${this.#tokens++}`;
    await this.#offer(ids);
    await store.transfer({ limit: 9 });
    await store.claim({ token, limit: 9, lease: HOUR });
    await store.settle(
      ids.map((id, i) => ({ claim: { id, token }, outcome: i === 0 ? { kind: 'ack' as const } : other })),
    );
  }

  #offer(ids: readonly string[]) {
    return this.store.offer(ids.map((id) => ({ id, due: { at: 0 }, onDuplicate: 'keep', body: `body of ${id}` })));
  }
}
