import type { MessageStore } from '../../../lib/store/message-store.js';
import type { Offer } from '../../../lib/store/producer-store.js';
import { groupOf } from '../../../lib/message/codec/body-forms.js';
import { StoreExercise } from './store.exercise.js';

const HOUR = 3_600_000;

/**
 * Scans messages in all states, and restores them where their ids are free, and where they are in use. Does the same with a history and kept
 * ids, of which the store has one at most.
 */
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

  /** For a store that remembers one message, and keeps one id. */
  async runPast(): Promise<void> {
    const { store } = this;
    const now = Date.now();
    for (const [place, id] of ['first', 'second'].entries()) {
      const scanned = { id, handledAt: now + place, until: now + HOUR };
      const worker = { id: 'w', host: 'h', pid: 1 };
      const entry = { dueAt: 1, offeredAt: 1, lateness: 0, took: 0, attempt: 1, worker };
      await store.restoreHandled!({ ...scanned, entry, body: Buffer.from('its body') });
      await store.restoreKeptId!(scanned);
      await store.scanHistory!();
      const page = await store.scanKeptIds!();
      await store.scanKeptIds!(`${page.found[0]!.handledAt}:${id}`);
    }
    for (const id of ['first', 'second']) await store.freeId!(id);
    await store.clear();
  }
}
