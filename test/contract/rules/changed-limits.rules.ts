import { describe, expect, it } from '@jest/globals';
import type { ClaimReport } from '../../../lib/store/consumer-store.js';
import { type ContractQueue, type ContractQueues, HOUR } from '../contract-queue.js';

/** Long enough for a signal to arrive. */
const SOON = 5000;

export function describeChangedLimits(queues: ContractQueues): void {
  describe('a queue whose limits change', () => {
    it('keeps to a lower global concurrency from the next claim on, and takes nothing back', async () => {
      const queue = await queues.open({ globalConcurrency: 3 });
      await queue.makeReady('a', 'b', 'c', 'd');
      const [a, b] = await queue.claim(2);
      queue.limit({ globalConcurrency: 1 });
      expect(await claimed(queue)).toEqual([]);
      expect(await queue.settle(a, { kind: 'ack' })).toBe(true);
      expect(await claimed(queue)).toEqual([]);
      expect(await queue.settle(b, { kind: 'ack' })).toBe(true);
      expect(await claimed(queue)).toEqual(['c']);
    });

    it('keeps to a higher global concurrency, or to none, from the next claim on', async () => {
      const queue = await queues.open({ globalConcurrency: 1 });
      await queue.makeReady('a', 'b', 'c', 'd', 'e');
      expect(await claimed(queue)).toEqual(['a']);
      queue.limit({ globalConcurrency: 3 });
      expect(await claimed(queue)).toEqual(['b', 'c']);
      queue.limit({ globalConcurrency: null });
      expect(await claimed(queue)).toEqual(['d', 'e']);
    });

    it('counts what was claimed with the former rate', async () => {
      const queue = await queues.open({ rate: { max: 2, per: HOUR } });
      await queue.makeReady('a', 'b', 'c', 'd');
      expect(await claimed(queue)).toEqual(['a', 'b']);
      queue.limit({ rate: { max: 3, per: HOUR } });
      expect(await claimed(queue)).toEqual(['c']);
      queue.limit({ rate: { max: 1, per: HOUR } });
      expect(await claimed(queue)).toEqual([]);
      queue.limit({ rate: null });
      expect(await claimed(queue)).toEqual(['d']);
    });

    it('tells a consumer to wait for a higher rate, although another one was told to wait for the former', async () => {
      const queue = await queues.open({ rate: { max: 1, per: HOUR } });
      await queue.makeReady('a', 'b');
      expect((await claim(queue)).claimAgainIn).toBeGreaterThan(0);
      queue.limit({ rate: { max: 2, per: HOUR } });
      expect(await claimed(queue)).toEqual(['b']);
      await queue.makeReady('c');
      expect((await claim(queue)).claimAgainIn).toBeGreaterThan(0);
    });

    it('tells a consumer to wait for a rate with a shorter period', async () => {
      const queue = await queues.open({ rate: { max: 1, per: HOUR } });
      await queue.makeReady('a', 'b');
      expect((await claim(queue)).claimAgainIn).toBeGreaterThan(0);
      queue.limit({ rate: { max: 1, per: 30_000 } });
      const { claimAgainIn } = await claim(queue);
      expect(claimAgainIn).toBeGreaterThan(0);
      expect(claimAgainIn).toBeLessThanOrEqual(30_000);
    });

    it('wakes a consumer for what falls due, although another one was told to wait for the former rate', async () => {
      const queue = await queues.open({ rate: { max: 1, per: HOUR } });
      await queue.makeReady('a', 'b');
      expect((await claim(queue)).claimAgainIn).toBeGreaterThan(0);
      await queue.offer('b', { after: HOUR }, { onDuplicate: 'replace' });
      queue.limit({ rate: { max: 9, per: HOUR } });
      expect(await claimed(queue)).toEqual([]);
      const waiting = queue.openWakeSignal().wait(SOON);
      await queue.makeReady('c');
      expect(await waiting).toBe(true);
    });
  });
}

function claim(queue: ContractQueue): Promise<ClaimReport> {
  return queue.store.claim({ token: queue.newToken(), limit: 9, lease: HOUR });
}

async function claimed(queue: ContractQueue): Promise<string[]> {
  return (await claim(queue)).messages.map(({ id }) => id);
}
