import { describe, expect, it } from '@jest/globals';
import { type ContractQueues, HOUR } from '../contract-queue.js';

export function describeLateCalls(queues: ContractQueues, canChange: boolean): void {
  describe('a call with a deadline', () => {
    const past = () => performance.now() - 1000;
    const future = () => performance.now() + HOUR;
    const offerOf = (id: string, notAfter: number) => ({
      id,
      due: { after: HOUR },
      onDuplicate: 'replace' as const,
      body: 'J1',
      notAfter,
    });

    it('changes nothing if it arrives after the deadline, whatever it asks for', async () => {
      const queue = await queues.open();
      await queue.offer('a', { after: HOUR });
      const before = await queue.look('a');
      const { store } = queue;
      const { body } = await queue.find('a');
      await expect(store.offer([offerOf('a', past()), offerOf('b', past())])).rejects.toThrow();
      await expect(store.offer([{ ...offerOf('c', past()), onDuplicate: 'keep' }])).rejects.toThrow();
      await expect(store.cancel('a', past())).rejects.toThrow();
      await expect(store.reschedule('a', { after: 1 }, past())).rejects.toThrow();
      if (canChange) {
        const change = { due: { after: 1 }, from: body, to: 'J2', notAfter: past() };
        await expect(store.change!('a', change)).rejects.toThrow();
      }
      expect(await queue.look('a')).toEqual(before);
      expect(await store.status()).toMatchObject({ counts: { delayed: 1 } });
    });

    it('takes effect if it arrives in time', async () => {
      const queue = await queues.open();
      const { store } = queue;
      await store.offer([offerOf('a', future()), offerOf('b', future())]);
      expect(await store.reschedule('a', { after: 2 * HOUR }, future())).toBe(true);
      expect(await store.cancel('b', future())).toBe(true);
      expect(await store.status()).toMatchObject({ counts: { delayed: 1 } });
    });
  });
}
