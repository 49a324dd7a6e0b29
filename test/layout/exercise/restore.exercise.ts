import type { MessageStore } from '../../../lib/store/message-store.js';
import type { Offer } from '../../../lib/store/producer-store.js';
import { groupOf } from '../../../lib/message/codec/body-forms.js';
import { StoreExercise } from './store.exercise.js';

const HOUR = 3_600_000;

/** Scans messages in all states, and restores them where their ids are free, and where they are in use. */
export class RestoreExercise {
  readonly #common: StoreExercise;

  constructor(private readonly store: MessageStore) {
    this.#common = new StoreExercise(store);
  }

  async run(): Promise<void> {
    const { store } = this;
    const token = await this.#common.take(['dead', 'retried', 'followed']);
    await store.offer([{ id: 'followed', due: { after: HOUR }, onDuplicate: 'follow', body: 'next' }]);
    await store.settle([
      { claim: { id: 'dead', token }, outcome: { kind: 'dead', error: '{}' } },
      { claim: { id: 'retried', token }, outcome: { kind: 'retry', delay: HOUR } },
    ]);
    await this.#common.offer('ready', { at: 0 });
    await this.#common.offer('waiting', { at: 0 });
    await store.transfer({ limit: 9 });
    const { messages } = await store.scan!();
    const offers = messages.map(({ id, dueAt, body, ...past }): Offer => {
      const group = groupOf(body);
      return { id, due: { at: dueAt }, onDuplicate: 'replace', body, past, ...(group !== undefined && { group }) };
    });
    await store.offer(offers);
    await store.clear();
    await store.offer(offers);
    await store.clear();
  }
}
