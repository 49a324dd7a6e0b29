import { describe, expect, it } from '@jest/globals';
import type { Outcome } from '../../../lib/store/consumer-store.js';
import { until } from '../../support/until.js';
import { type ContractQueue, type ContractQueues, defined, HOUR, SHORT_LEASE, SOME_TIME } from '../contract-queue.js';
import { listen } from '../listen.js';

/** The due time of a message whose announcement is the last, ms since 1970. */
const END = 1;

export function describeWatching(queues: ContractQueues): void {
  describe('announcements', () => {
    it('a watcher learns that it is listening only after watchDue has returned', async () => {
      const queue = await queues.open();
      let listening = 0;
      const stop = queue.store.watchDue({ onEarlierDue: () => undefined, onListening: () => listening++ });
      expect(listening).toBe(0);
      await until(() => listening > 0);
      stop();
    });

    it('every process learns of a new earliest due time, but not of later ones', async () => {
      const queue = await queues.open();
      const here = await listen(queue);
      const there = await listen(queue, queue.secondView);
      const base = Math.floor(await queue.now()) + HOUR;
      await queue.offer('first', { at: base + 50 });
      await queue.offer('later', { at: base + 60 });
      await queue.offer('same', { at: base + 50 });
      await queue.offer('earlier', { at: base + 40 }, { view: queue.secondView });
      await queue.offer('earlier', { at: base + 30 }, { onDuplicate: 'keep' });
      await queue.offer('earlier', { at: base + 20 }, { onDuplicate: 'reject' });
      await queue.offer('earliest', { at: base + 10 });
      const expected = [base + 50, base + 40, base + 10];
      for (const { dueTimes } of [here, there]) {
        await until(() => dueTimes.length >= expected.length);
        expect(dueTimes).toEqual(expected);
      }
      [here, there].forEach(({ stop }) => stop());
    });

    it('many offers in one call are announced once, with the earliest due time', async () => {
      const queue = await queues.open();
      const { dueTimes, stop } = await listen(queue);
      const base = Math.floor(await queue.now()) + HOUR;
      const body = queue.codec.encode({ type: '', payload: 1, headers: {} });
      await queue.store.offer(
        [5, 3, 4].map((offset) => ({ id: `${offset}`, due: { at: base + offset }, onDuplicate: 'reject', body })),
      );
      await expectAnnounced(queue, dueTimes, [base + 3]);
      stop();
    });

    it('every process learns of an announced transfer and of what the queue waits for next', async () => {
      const queue = await queues.open();
      const here = await listen(queue);
      const there = await listen(queue, queue.secondView);
      const transfer = (scheduler: string, movedAt: number | null) =>
        queue.secondView.transfer({ limit: 10, announcer: { scheduler, movedAt } });
      const idle = await transfer('idle', 7.125);
      await queue.offerDue('a', 'b');
      await queue.transfer();
      await queue.offerDue('c');
      const moving = await transfer('mover', null);
      await queue.claim();
      const { dueAt } = await queue.offer('later', { after: HOUR / 2 });
      await transfer('idle', null);
      for (const { transfers } of [here, there]) {
        await until(() => transfers.length >= 3);
        expect(transfers).toEqual([
          { scheduler: 'idle', at: idle.at, movedAt: 7.125, ready: 0, nextAt: null, nextIn: null },
          {
            scheduler: 'mover',
            at: moving.at,
            movedAt: moving.at,
            ready: queue.hasBacklogs ? 1 : 3,
            nextAt: null,
            nextIn: null,
          },
          { scheduler: 'idle', at: SOME_TIME, movedAt: null, ready: 0, nextAt: dueAt, nextIn: SOME_TIME },
        ]);
      }
      [here, there].forEach(({ stop }) => stop());
    });

    it('a scheduler that recovers an expired lease counts as having moved a message', async () => {
      const queue = await queues.open();
      const { transfers, stop } = await listen(queue);
      await queue.makeActive(['a'], SHORT_LEASE);
      await queue.advance(SHORT_LEASE + 5);
      const { at } = await queue.store.transfer({ limit: 10, announcer: { scheduler: 's', movedAt: null } });
      await until(() => transfers.length > 0);
      expect(transfers).toMatchObject([{ movedAt: at, ready: 1 }]);
      stop();
    });

    it('an announcement contains the wait, which is never negative', async () => {
      const queue = await queues.open();
      const waits: number[] = [];
      let listening = false;
      const stop = queue.store.watchDue({
        onEarlierDue: ({ dueIn }) => waits.push(dueIn),
        onListening: () => {
          listening = true;
        },
      });
      await until(() => listening);
      await queue.offer('a', { after: HOUR });
      await queue.offer('b', { at: 1 });
      await until(() => waits.length >= 2);
      expect(waits).toHaveLength(2);
      expect(waits[0]).toBeGreaterThan(HOUR - 1000);
      expect(waits[0]).toBeLessThanOrEqual(HOUR + 1);
      expect(waits[1]).toBe(0);
      stop();
    });

    it('a message rescheduled to be due earliest is announced', async () => {
      const queue = await queues.open();
      const base = Math.floor(await queue.now()) + HOUR;
      await queue.offer('a', { at: base + 100 });
      await queue.offer('b', { at: base + 200 });
      const { dueTimes, stop } = await listen(queue);
      await queue.store.reschedule('b', { at: base + 150 });
      await queue.store.reschedule('b', { at: base + 50 });
      await queue.store.reschedule('b', { at: base + 300 });
      await expectAnnounced(queue, dueTimes, [base + 50]);
      stop();
    });

    it('a replaced message is announced if its replacement is due earliest', async () => {
      const queue = await queues.open();
      const base = Math.floor(await queue.now()) + HOUR;
      await queue.offer('a', { at: base + 100 });
      const { dueTimes, stop } = await listen(queue);
      await queue.offer('a', { at: base + 200 }, { onDuplicate: 'replace' });
      await queue.offer('a', { at: base + 50 }, { onDuplicate: 'replace' });
      await expectAnnounced(queue, dueTimes, [base + 50]);
      stop();
    });

    it.each(['retry', 'defer', 'again'] as const)(
      'a message that becomes the earliest through %s is announced',
      async (kind) => {
        const queue = await queues.open();
        const [first, second] = await queue.makeActive(['a', 'b']);
        const { dueTimes, stop } = await listen(queue);
        await queue.settle(first, { kind, delay: HOUR } as Outcome);
        await queue.settle(second, { kind, delay: 2 * HOUR } as Outcome);
        await expectAnnounced(queue, dueTimes, [(await queue.find('a')).dueAt]);
        stop();
      },
    );

    it('a redriven dead letter is announced', async () => {
      const queue = await queues.open();
      await queue.makeDead('a');
      await queue.offer('b', { after: HOUR });
      const { dueTimes, stop } = await listen(queue);
      await queue.store.redrive({ id: 'a' });
      await expectAnnounced(queue, dueTimes, [(await queue.find('a')).dueAt]);
      stop();
    });

    it('a change that makes the earliest due time later is not announced', async () => {
      const queue = await queues.open();
      await queue.offerDue('a');
      await queue.offer('b', { after: HOUR });
      await queue.offer('c', { after: 2 * HOUR });
      const { dueTimes, stop } = await listen(queue);
      await queue.transfer();
      await queue.store.cancel('b');
      await queue.store.clear();
      await expectAnnounced(queue, dueTimes, []);
      stop();
    });

    it('a watcher that has stopped receives nothing, and the others still do', async () => {
      const queue = await queues.open();
      const leaving = await listen(queue);
      const staying = await listen(queue);
      leaving.stop();
      leaving.stop();
      const { dueAt } = await queue.offer('a', { after: HOUR });
      await until(() => staying.dueTimes.length > 0);
      expect(staying.dueTimes).toEqual([dueAt]);
      expect(leaving.dueTimes).toEqual([]);
      staying.stop();
    });
  });
}

/**
 * Announcements of a subscription keep their order, so once a last one of our own arrives, none before it is still on its way; those of
 * another subscription may be.
 */
async function expectAnnounced(
  queue: ContractQueue,
  dueTimes: readonly number[],
  expected: readonly number[],
): Promise<void> {
  await queue.offer('the end', { at: END });
  const beforeEnd = () => dueTimes.filter((dueAt) => dueAt !== END);
  await until(() => dueTimes.includes(END) && (queue.subscriptions === 1 || beforeEnd().length >= expected.length));
  expect(beforeEnd()).toEqual(expected.map(defined));
}
