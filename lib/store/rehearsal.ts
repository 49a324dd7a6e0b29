import { formatCursor } from './dead-letter.cursor.js';
import type { DelayedValues, MessageStore, Offer, StoreLimits } from './message-store.js';

/** A queue, and a store like its own, but with keys of its own, to rehearse on. */
export interface Rehearsal {
  readonly queue: string;
  readonly store: MessageStore;
}

/** What keeps the keys of a rehearsal apart from those of the queue itself. */
export const REHEARSAL_SCOPE = 'rehearsal:';

export const REHEARSAL_LIMITS: StoreLimits = {
  attempts: 2,
  maxDeadLetters: 1,
  maxMessages: null,
};

/**
 * Does once, on a store of its own, all that a store is asked to do, so that a missing permission shows at the start and not
 * when the first message fails.
 *
 * What comes out is not looked at: other processes may rehearse at the same time. It leaves nothing behind.
 *
 * @throws DelayQueueError `STORE_REFUSED`
 */
export async function rehearse(store: MessageStore): Promise<void> {
  const id = 'rehearsal';
  const claim = { id, token: `${id}-3` };
  const offer = { id, due: { at: 0 }, onDuplicate: 'replace', body: 'rehearsal' } as const;
  const takeAndSettle = async (outcome: Parameters<MessageStore['settle']>[0][number]['outcome']) => {
    await store.transfer({ scheduler: id, limit: 1 });
    await store.claim({ token: id, limit: 1, lease: 1000 });
    await store.claim({ token: `${id}-2`, insteadOf: id, limit: 1, lease: 1000 });
    await store.claim({ token: id + '-3', insteadOf: `${id}-2`, limit: 1, lease: 1000 });
    await store.extend([claim], 1000);
    await store.settle([{ claim, outcome }]);
  };

  try {
    await store.offer([offer]);
    await store.transfer({ scheduler: id, limit: 1 });
    // In the place of one that is ready.
    await store.offer([offer]);
    await store.find(id);
    await takeAndSettle({ kind: 'retry', delay: 0 });
    // In the past, or the next transfer would come a fraction of a millisecond too early.
    await store.reschedule(id, { at: 0 });
    await takeAndSettle({ kind: 'dead', error: '{"name":"Rehearsal","message":""}' });
    await store.listDead({ cursor: formatCursor({ diedAt: 1, id: 'none' }), limit: 1 });
    await store.redrive({ id });
    await store.cancel(id);
    await store.discard({ id });
    if (store.delayedValues) await rehearseValues(store, store.delayedValues, offer);
    await store.pause();
    await store.resume();
    await store.status();
  } finally {
    await store.clear();
  }
}

async function rehearseValues(store: MessageStore, values: DelayedValues, offer: Offer): Promise<void> {
  await store.offer([offer]);
  await values.count();
  await values.list({ limit: 1 });
  await values.contains(offer.body);
  await values.remove(offer.body);
  await store.offer([offer]);
  await values.takeFirst();
}
