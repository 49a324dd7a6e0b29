import { describe, expect, it } from '@jest/globals';
import type { DueTime, OfferReceipt } from '../../../lib/store/producer-store.js';
import { type ContractQueue, type ContractQueues, defined, HOUR } from '../contract-queue.js';

const WAIT = 2 * HOUR;

async function debounce(queue: ContractQueue, due: DueTime, maxWait?: number): Promise<OfferReceipt> {
  const more = maxWait === undefined ? {} : { maxWait };
  const [receipt] = await queue.secondView.offer([{ id: 'a', due, onDuplicate: 'replace', body: 'J"new"', ...more }]);
  return defined(receipt);
}

export function describeDebouncing(queues: ContractQueues): void {
  describe('offers with a maxWait', () => {
    it('move the due time, but not beyond maxWait after the first offer', async () => {
      const queue = await queues.open();
      expect(await debounce(queue, { after: HOUR }, WAIT)).toMatchObject({ outcome: 'created' });
      const { offeredAt } = await queue.find('a');
      await queue.advance(5);
      const { dueAt } = await debounce(queue, { at: offeredAt + WAIT - 1 }, WAIT);
      expect(dueAt).toBe(offeredAt + WAIT - 1);
      const receipt = await debounce(queue, { after: WAIT }, WAIT);
      expect(receipt).toEqual({ outcome: 'replaced', dueAt: offeredAt + WAIT });
      const message = await queue.find('a');
      expect(message).toMatchObject({ state: 'delayed', dueAt: offeredAt + WAIT, offeredAt });
      expect(message.body.toString()).toBe('J"new"');
      expect(await queue.store.status()).toMatchObject({ counts: { delayed: 1 }, nextDue: offeredAt + WAIT });
    });

    it('are due at once when maxWait is over', async () => {
      const queue = await queues.open();
      await debounce(queue, { after: HOUR }, WAIT);
      const { offeredAt } = await queue.find('a');
      await queue.advance(5);
      expect(await debounce(queue, { after: HOUR }, 1)).toEqual({ outcome: 'replaced', dueAt: offeredAt + 1 });
      expect(await queue.transfer()).toMatchObject({ moved: 1, ready: 1 });
    });

    it('are due after maxWait if their delay is longer', async () => {
      const queue = await queues.open();
      const { dueAt } = await debounce(queue, { after: 3 * WAIT }, WAIT);
      const { offeredAt, ...message } = await queue.find('a');
      expect([dueAt, message.dueAt]).toEqual([offeredAt + WAIT, offeredAt + WAIT]);
    });

    it.each(['ready', 'active', 'dead'] as const)(
      'start a new maxWait when they replace a message that is %s',
      async (state) => {
        const queue = await queues.open();
        await queue.makeIn(state, 'a');
        const before = await queue.find('a');
        await queue.advance(5);
        const { outcome, dueAt } = await debounce(queue, { after: 3 * WAIT }, WAIT);
        const { offeredAt } = await queue.find('a');
        expect(offeredAt).toBeGreaterThan(before.offeredAt);
        expect({ outcome, dueAt }).toEqual({ outcome: 'replaced', dueAt: offeredAt + WAIT });
        expect((await queue.store.status()).counts).toEqual({ delayed: 1, ready: 0, active: 0, dead: 0 });
      },
    );

    it('count maxWait from the first offer of a message that waits for its retry, and reset its attempts', async () => {
      const queue = await queues.open();
      const [claim] = await queue.makeActive(['a']);
      await queue.settle(claim, { kind: 'retry', delay: HOUR });
      const { offeredAt } = await queue.find('a');
      await queue.advance(5);
      expect(await debounce(queue, { after: 3 * WAIT }, WAIT)).toEqual({
        outcome: 'replaced',
        dueAt: offeredAt + WAIT,
      });
      expect(await queue.find('a')).toMatchObject({ failedAttempts: 0, offeredAt });
    });

    it('start a new maxWait after a replacing offer without one', async () => {
      const queue = await queues.open();
      await debounce(queue, { after: HOUR }, WAIT);
      const first = await queue.find('a');
      await queue.advance(5);
      await debounce(queue, { after: HOUR });
      const second = await queue.find('a');
      expect(second.offeredAt).toBeGreaterThan(first.offeredAt);
      expect(await debounce(queue, { after: 3 * WAIT }, WAIT)).toMatchObject({ dueAt: second.offeredAt + WAIT });
    });

    it('take into account earlier offers in the same call', async () => {
      const queue = await queues.open();
      await debounce(queue, { after: HOUR }, WAIT);
      const old = (await queue.find('a')).offeredAt;
      await queue.advance(5);
      const offer = (id: string, after: number, maxWait?: number) =>
        ({ id, due: { after }, onDuplicate: 'replace', body: `J${after}`, ...(maxWait && { maxWait }) }) as const;
      const receipts = await queue.store.offer([
        offer('a', HOUR, WAIT),
        offer('a', 3 * WAIT, WAIT),
        offer('b', HOUR, WAIT),
        offer('b', 3 * WAIT, WAIT),
        offer('c', HOUR, WAIT),
        offer('c', HOUR),
        offer('c', 3 * WAIT, WAIT),
        offer('a', HOUR),
        offer('a', 3 * WAIT, WAIT),
      ]);
      const { offeredAt } = await queue.find('b');
      const now = { outcome: 'replaced', dueAt: offeredAt + WAIT };
      expect([receipts[1], receipts[3], receipts[6], receipts[8]]).toEqual([
        { ...now, dueAt: old + WAIT },
        now,
        now,
        now,
      ]);
      expect(receipts.map(({ outcome }) => outcome).filter((outcome) => outcome === 'created')).toHaveLength(2);
      for (const id of ['a', 'c']) expect(await queue.find(id)).toMatchObject({ offeredAt, dueAt: offeredAt + WAIT });
    });

    it('make the next due time of the queue earlier if maxWait requires it', async () => {
      const queue = await queues.open();
      await queue.offer('a', { after: 3 * HOUR });
      const { offeredAt } = await queue.find('a');
      await debounce(queue, { after: 3 * HOUR }, HOUR);
      expect(await queue.store.status()).toMatchObject({ nextDue: offeredAt + HOUR });
    });
  });
}
