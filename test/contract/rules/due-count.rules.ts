import { describe, expect, it } from '@jest/globals';
import { type ContractQueue, type ContractQueues, HOUR, numberedIds } from '../contract-queue.js';

export function describeDueCounts(queues: ContractQueues): void {
  describe('counts by due time', () => {
    /** Offers one message per due time, and returns a time before all of them. */
    async function offerAt(queue: ContractQueue, ...dues: readonly number[]): Promise<number> {
      const start = Math.floor(await queue.now()) + HOUR;
      for (const [i, due] of dues.entries()) await queue.offer(`m${i}`, { at: start + due });
      return start;
    }

    it('a range of due times includes its start, but not its end', async () => {
      const queue = await queues.open();
      const start = await offerAt(queue, 0, 9, 10, 10, 19, 20, 30);
      expect(await queue.store.countDue([start + 10, start + 20])).toEqual([2, 3, 2]);
      expect(await queue.store.countDue([start, start + 1, start + 1, start + 31])).toEqual([0, 1, 0, 6, 0]);
      expect(await queue.store.countDue([start + 10])).toEqual([2, 5]);
    });

    it('messages due at the same millisecond are counted there, however many', async () => {
      const queue = await queues.open();
      const at = Math.floor(await queue.now()) + HOUR;
      const body = queue.codec.encode({ type: '', payload: 1, headers: {} });
      const ids = numberedIds(3000);
      for (let i = 0; i < ids.length; i += 1000) {
        const offers = ids.slice(i, i + 1000).map((id) => ({ id, due: { at }, onDuplicate: 'reject' as const, body }));
        await queue.store.offer(offers);
      }
      expect(await queue.store.countDue([at, at + 1])).toEqual([0, 3000, 0]);
    });

    it('counts with 401 times', async () => {
      const queue = await queues.open();
      const start = await offerAt(queue, 0, 399, 400);
      const times = Array.from({ length: 401 }, (_, i) => start + i);
      const counts = await queue.store.countDue(times);
      expect(counts).toHaveLength(402);
      expect([counts[1], counts[400], counts[401]]).toEqual([1, 1, 1]);
    });

    it('only delayed messages are counted, where they are delayed to', async () => {
      const queue = await queues.open();
      const now = Math.floor(await queue.now());
      await queue.makeDead('dead');
      await queue.makeActive(['active']);
      await queue.makeReady('ready');
      await queue.offer('due, but not transferred', { at: now - HOUR });
      await queue.offer('moved', { after: 10 * HOUR });
      await queue.store.reschedule('moved', { at: now + HOUR });
      await queue.offer('cancelled', { after: HOUR });
      await queue.store.cancel('cancelled');
      expect(await queue.store.countDue([now - HOUR, now + HOUR, now + HOUR + 1])).toEqual([0, 1, 1, 0]);
    });

    it('a message that waits for a retry is counted', async () => {
      const queue = await queues.open();
      const [claim] = await queue.makeActive(['a']);
      await queue.settle(claim, { kind: 'retry', delay: HOUR });
      const now = Math.floor(await queue.now());
      expect(await queue.store.countDue([now, now + 2 * HOUR])).toEqual([0, 1, 0]);
    });
  });
}
