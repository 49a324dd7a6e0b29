import { describe, expect, it } from '@jest/globals';
import { type ContractQueues, HOUR, numberedIds, SOME_TIME } from '../contract-queue.js';

export function describeTransfers(queues: ContractQueues): void {
  describe('transfers', () => {
    it('a transfer finds nothing in an empty queue', async () => {
      const queue = await queues.open();
      expect(await queue.transfer()).toEqual({
        moved: 0,
        recovered: 0,
        deadLettered: [],
        dropped: 0,
        more: false,
        ready: 0,
        nextIn: null,
        nextAt: null,
        at: SOME_TIME,
      });
    });

    it('a transfer moves due messages and leaves the others delayed', async () => {
      const queue = await queues.open();
      await queue.offerDue('a', 'b');
      await queue.offer('c', { after: HOUR });
      expect(await queue.transfer()).toMatchObject({ moved: 2, recovered: 0, deadLettered: [], more: false, ready: 2 });
      expect(await queue.stateOf('a')).toBe('ready');
      expect(await queue.stateOf('b')).toBe('ready');
      expect(await queue.stateOf('c')).toBe('delayed');
      expect(await queue.transfer()).toMatchObject({ moved: 0, ready: 2 });
    });

    it('a transfer never moves a message early and never skips a due one', async () => {
      const queue = await queues.open();
      for (const delay of [0, 1, 7, 20]) {
        const offered = await queue.now();
        const { dueAt } = await queue.offer(`${delay}`, { after: delay });
        expect(dueAt).toBeGreaterThanOrEqual(Math.floor(offered) + delay);
        let justBefore: number;
        let moved: number;
        do {
          justBefore = await queue.now();
          moved = (await queue.transfer()).moved;
          expect(moved === 0 || (await queue.now()) >= dueAt).toBe(true);
          expect(moved === 1 || justBefore < dueAt).toBe(true);
          await queue.advance(1);
        } while (moved === 0);
      }
    });

    it('a transfer never moves a message early because another one is due', async () => {
      const queue = await queues.open();
      const base = Math.ceil(await queue.now()) + 5;
      const ids = numberedIds(40);
      for (const [index, id] of ids.entries()) {
        await queue.offer(id, { at: base + index });
      }
      for (let left = ids.length; left > 0;) {
        const { at } = await queue.transferSomething();
        const { messages } = await queue.store.claim({ token: queue.newToken(), limit: 1000, lease: HOUR });
        const latest = Math.max(...messages.map(({ dueAt }) => dueAt));
        expect(latest).toBeLessThanOrEqual(at);
        left -= messages.length;
      }
    });

    it('a transfer moves the earliest messages first, up to its limit, and reports whether more are due', async () => {
      const queue = await queues.open();
      const ids = numberedIds(5);
      await queue.offerDue(...ids);
      expect(await queue.transfer(2)).toMatchObject({ moved: 2, more: true, ready: 2 });
      expect((await queue.claim()).map(({ id }) => id)).toEqual(ids.slice(0, 2));
      expect(await queue.transfer(2)).toMatchObject({ moved: 2, more: true, ready: 2 });
      expect(await queue.transfer(2)).toMatchObject({ moved: 1, more: false, ready: 3 });
      expect((await queue.claim()).map(({ id }) => id)).toEqual(ids.slice(2));
    });

    it('a transfer reports when the next message falls due', async () => {
      const queue = await queues.open();
      const { dueAt } = await queue.offer('a', { after: HOUR });
      await queue.offer('b', { after: 2 * HOUR });
      await queue.offerDue('c');
      const before = await queue.now();
      const { nextIn, nextAt } = await queue.transfer();
      const after = await queue.now();
      expect(nextAt).toBe(dueAt);
      expect(nextIn).toBeGreaterThanOrEqual(dueAt - after - 1);
      expect(nextIn).toBeLessThanOrEqual(dueAt - before + 1);
    });

    it('a transfer reports when the next lease ends if that is earlier', async () => {
      const queue = await queues.open();
      await queue.makeActive(['a'], HOUR);
      await queue.makeActive(['b'], 2 * HOUR);
      await queue.offer('c', { after: 3 * HOUR });
      const { leasedUntil } = await queue.find('a');
      const { nextIn, nextAt } = await queue.transfer();
      expect(nextAt).toBe(leasedUntil);
      expect(nextIn).toBeLessThanOrEqual(HOUR + 1);
      expect(nextIn).toBeGreaterThan(0);
    });

    it('a transfer that leaves due messages behind reports a wait of zero', async () => {
      const queue = await queues.open();
      await queue.offerDue('a', 'b');
      const { nextIn, nextAt } = await queue.transfer(1);
      expect(nextIn).toBe(0);
      expect(nextAt).toBe((await queue.find('b')).dueAt);
    });

    it('concurrent transfers move each message exactly once', async () => {
      const queue = await queues.open();
      const ids = numberedIds(100);
      await queue.offerDue(...ids);
      const reports = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          (index % 2 === 0 ? queue.store : queue.secondView).transfer({ limit: 7 }),
        ),
      );
      expect(reports.reduce((sum, { moved }) => sum + moved, 0)).toBe(100);
      expect((await queue.claim()).map(({ id }) => id)).toEqual(ids);
    });
  });
}
