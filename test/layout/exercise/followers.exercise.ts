import type { MessageStore } from '../../../lib/store/message-store.js';
import { StoreExercise } from './store.exercise.js';

const HOUR = 3_600_000;

/** Releases followers of messages that are settled, whose last leases end, or that somebody has settled who does not know followers. */
export class FollowersExercise {
  readonly #common: StoreExercise;

  /** @param abandon - ends a message as somebody does who does not know followers */
  constructor(
    private readonly store: MessageStore,
    private readonly abandon: (end: 'gone' | 'dead') => Promise<unknown>,
  ) {
    this.#common = new StoreExercise(store);
  }

  async run(): Promise<void> {
    const { store } = this;
    const token = await this.#common.take(['a', 'b', 'c', 'd']);
    for (const id of ['a', 'b', 'c', 'none']) await this.#follow(id);
    await store.offer([
      { id: 'd', due: { at: 0 }, onDuplicate: 'replace', body: 'anew' },
      { id: 'c', due: { at: 0 }, onDuplicate: 'follow', body: 'last' },
    ]);
    await store.settle([{ claim: { id: 'a', token }, outcome: { kind: 'ack' } }]);
    await store.settle([{ claim: { id: 'b', token }, outcome: { kind: 'dead', error: '{}' } }]);
    await store.cancel('c');
    await this.#follow('c');
    await store.extend([{ id: 'c', token }], 0);
    const announcer = { scheduler: 'exercise', movedAt: null };
    for (let lost = 0; lost < 2;) {
      const { recovered, deadLettered } = await store.transfer({ limit: 9, announcer });
      lost += recovered + deadLettered.length;
      if (recovered > 0) await store.claim({ token: 'c again', limit: 9, lease: 1 });
    }
    await store.clear();
    for (const end of ['gone', 'dead'] as const) {
      await this.#common.take([end]);
      await this.#follow(end);
      await this.abandon(end);
      await store.repair(30_000);
      await store.clear();
    }
  }

  async #follow(id: string): Promise<void> {
    await this.store.offer([{ id, due: { after: HOUR }, onDuplicate: 'follow', body: 'next' }]);
  }
}
