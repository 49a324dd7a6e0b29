import { describe, expect, it } from '@jest/globals';
import type { Doorbell } from '../../../lib/store/message-flow.js';
import { type ContractQueue, type ContractQueues, eventually, HOUR, SHORT_LEASE } from '../contract-queue.js';

/** Long enough for a connection to open, short enough to wait for. */
const BRIEF = 500;

export function describeDoorbells(queues: ContractQueues): void {
  describe('a doorbell', () => {
    it('rings for whoever waits when a transfer finds something', async () => {
      const queue = await queues.open();
      const waiting = queue.openDoorbell(queue.secondView).wait(HOUR);
      await queue.makeReady('a');
      expect(await waiting).toBe(true);
    });

    it('keeps one ring for the next who waits', async () => {
      const queue = await queues.open();
      const doorbell = queue.openDoorbell();
      await queue.makeReady('a');
      await queue.makeReady('b');
      expect(await doorbell.wait(HOUR)).toBe(true);
      expect(await ringsWithin(queue, doorbell)).toBe(false);
    });

    it('rings at every transfer that finds ready messages, so that a lost ring is made good', async () => {
      const queue = await queues.open();
      const doorbell = queue.openDoorbell();
      await queue.makeReady('a');
      expect(await doorbell.wait(HOUR)).toBe(true);
      expect(await queue.transfer()).toMatchObject({ moved: 0, ready: 1 });
      expect(await doorbell.wait(HOUR)).toBe(true);
    });

    it('rings for what comes back from an expired lease', async () => {
      const queue = await queues.open();
      const doorbell = queue.openDoorbell();
      await queue.makeActive(['a'], SHORT_LEASE);
      expect(await ringsWithin(queue, doorbell).then(() => ringsWithin(queue, doorbell))).toBe(false);
      expect(await queue.transfer()).toMatchObject({ recovered: 1 });
      expect(await doorbell.wait(HOUR)).toBe(true);
    });

    it('does not ring while nothing is ready', async () => {
      const queue = await queues.open();
      const doorbell = queue.openDoorbell();
      await queue.offer('a', { after: HOUR });
      await queue.transfer();
      await queue.claim();
      expect(await ringsWithin(queue, doorbell)).toBe(false);
    });

    it('wakes one of two who wait', async () => {
      const queue = await queues.open();
      const doorbells = [queue.openDoorbell(), queue.openDoorbell(queue.secondView)];
      let woken = 0;
      const waiting = doorbells.map((doorbell) => doorbell.wait(HOUR).then((rang) => (woken += rang ? 1 : 0)));
      await queue.makeReady('a', 'b');
      await eventually(() => expect(woken).toBe(1));
      await queue.advance(BRIEF);
      expect(woken).toBe(1);
      await Promise.all(doorbells.map((doorbell) => doorbell.close()));
      await Promise.all(waiting);
    });

    it('wakes one after another as long as claims leave something', async () => {
      const queue = await queues.open();
      let woken = 0;
      const doorbells = [queue.store, queue.secondView, queue.store].map((view) => queue.openDoorbell(view));
      const waiting = doorbells.map((doorbell) => doorbell.wait(HOUR).then(() => woken++));
      await queue.makeReady('a', 'b', 'c');
      for (const ringsSoFar of [1, 2, 3]) {
        await eventually(() => expect(woken).toBe(ringsSoFar));
        expect(await queue.claim(1)).toHaveLength(1);
      }
      await Promise.all(waiting);
      expect(await ringsWithin(queue, queue.openDoorbell())).toBe(false);
    });

    it('rings for a claim of limit 0 that finds something', async () => {
      const queue = await queues.open();
      const doorbell = queue.openDoorbell();
      await queue.makeReady('a');
      expect(await doorbell.wait(HOUR)).toBe(true);
      await queue.store.claim({ token: 't', limit: 0, lease: HOUR });
      expect(await doorbell.wait(HOUR)).toBe(true);
    });

    it('rings on request while messages are ready', async () => {
      const queue = await queues.open();
      const doorbell = queue.openDoorbell();
      await queue.store.ring();
      expect(await ringsWithin(queue, doorbell)).toBe(false);
      await queue.makeReady('a');
      expect(await doorbell.wait(HOUR)).toBe(true);
      for (let i = 0; i < 2; i++) await queue.secondView.ring();
      expect(await doorbell.wait(HOUR)).toBe(true);
      expect(await ringsWithin(queue, doorbell)).toBe(false);
    });

    it('is not rung on request while the queue is paused', async () => {
      const queue = await queues.open();
      const doorbell = queue.openDoorbell();
      await queue.makeReady('a');
      expect(await doorbell.wait(HOUR)).toBe(true);
      await queue.store.pause();
      await queue.store.ring();
      expect(await ringsWithin(queue, doorbell)).toBe(false);
    });

    it('is not rung by the claims of a paused queue, which would go round in circles', async () => {
      const queue = await queues.open();
      const doorbell = queue.openDoorbell();
      await queue.makeReady('a');
      expect(await doorbell.wait(HOUR)).toBe(true);
      await queue.store.pause();
      expect(await queue.claim()).toEqual([]);
      expect(await ringsWithin(queue, doorbell)).toBe(false);
    });

    it('is not rung by what is given back while the queue is paused', async () => {
      const queue = await queues.open();
      const doorbell = queue.openDoorbell();
      const [claim, other] = await queue.makeActive(['a', 'b']);
      await queue.store.pause();
      while (await ringsWithin(queue, doorbell));
      await queue.settle(claim, { kind: 'release' });
      await queue.store.claim({ token: 'none', insteadOf: other!.token, limit: 0, lease: HOUR });
      expect(await ringsWithin(queue, doorbell)).toBe(false);
      await queue.store.resume();
      expect(await doorbell.wait(HOUR)).toBe(true);
    });

    it('rings when a queue with ready messages is resumed', async () => {
      const queue = await queues.open();
      const doorbell = queue.openDoorbell();
      await queue.makeReady('a');
      await queue.store.pause();
      expect(await doorbell.wait(HOUR)).toBe(true);
      const waiting = doorbell.wait(HOUR);
      await queue.secondView.resume();
      expect(await waiting).toBe(true);
    });

    it('gives up after its time', async () => {
      const queue = await queues.open();
      const doorbell = queue.openDoorbell();
      const began = await queue.now();
      const waiting = doorbell.wait(BRIEF);
      await queue.advance(BRIEF);
      expect(await waiting).toBe(false);
      expect(await queue.now()).toBeGreaterThanOrEqual(began + BRIEF - 1);
      await queue.makeReady('a');
      expect(await doorbell.wait(HOUR)).toBe(true);
    });

    it('that is closed ends the wait', async () => {
      const queue = await queues.open();
      const doorbell = queue.openDoorbell();
      const waiting = doorbell.wait(HOUR);
      await doorbell.close();
      expect(await waiting).toBe(false);
      await doorbell.close();
    });

    it('that is closed while it waits takes no ring from the others', async () => {
      const queue = await queues.open();
      const closed = queue.openDoorbell();
      const waiting = closed.wait(HOUR);
      const other = queue.openDoorbell().wait(HOUR);
      await closed.close();
      await waiting;
      await queue.makeReady('a');
      expect(await other).toBe(true);
    });
  });
}

async function ringsWithin(queue: ContractQueue, doorbell: Doorbell): Promise<boolean> {
  const waiting = doorbell.wait(BRIEF);
  await queue.advance(BRIEF);
  return waiting;
}
