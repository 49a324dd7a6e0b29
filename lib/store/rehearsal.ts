import { formatCursor } from './dead-letter.cursor.js';
import type { MessageStore } from './message-store.js';

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
  const claim = { id, token: id };
  const offer = {
    id,
    due: { at: 0 },
    onDuplicate: 'replace',
    body: store.codec.encode({ payload: null, headers: {} }),
  } as const;
  const takeAndSettle = async (outcome: Parameters<MessageStore['settle']>[0][number]['outcome']) => {
    await store.transfer({ scheduler: id, limit: 1 });
    await store.claim({ token: id, limit: 1, lease: 1000 });
    await store.claim({ token: id, limit: 1, lease: 1000, repeated: true });
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
    await store.pause();
    await store.resume();
    await store.status();
  } finally {
    await store.clear();
  }
}
