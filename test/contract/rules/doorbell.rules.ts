import { describe, expect, it } from '@jest/globals';
import type { Doorbell } from '../../../lib/store/consumer-store.js';
import { type ContractQueue, type ContractQueues, HOUR, SHORT_LEASE } from '../contract-queue.js';
import { until } from '../../support/until.js';

/** Long enough for a connection to open, short enough for a test to wait. */
const BRIEF = 500;
/** The same once a doorbell has waited, and its connection is open. */
const BRIEFER = 150;

export function describeDoorbells(queues: ContractQueues): void {
  describe('doorbells', () => {
    it('a transfer that moves a message wakes a consumer waiting in another process', async () => {
      const queue = await queues.open();
      const waiting = queue.openDoorbell(queue.secondView).wait(HOUR);
      await queue.makeReady('a');
      expect(await waiting).toBe(true);
    });

    it('rings that nobody waits for add up to a single one', async () => {
      const queue = await queues.open();
      const doorbell = queue.openDoorbell();
      await queue.makeReady('a');
      await queue.makeReady('b');
      expect(await doorbell.wait(HOUR)).toBe(true);
      expect(await ringsAgain(queue, doorbell)).toBe(false);
    });

    it('every transfer rings while messages are ready, which replaces a lost ring', async () => {
      const queue = await queues.open();
      const doorbell = queue.openDoorbell();
      await queue.makeReady('a');
      expect(await doorbell.wait(HOUR)).toBe(true);
      expect(await queue.transfer()).toMatchObject({ moved: 0, ready: 1 });
      expect(await doorbell.wait(HOUR)).toBe(true);
    });

    it('a message recovered from an expired lease rings the doorbell', async () => {
      const queue = await queues.open();
      const doorbell = queue.openDoorbell();
      await queue.makeActive(['a'], SHORT_LEASE);
      expect(await ringsWithin(queue, doorbell).then(() => ringsAgain(queue, doorbell))).toBe(false);
      expect(await queue.transfer()).toMatchObject({ recovered: 1 });
      expect(await doorbell.wait(HOUR)).toBe(true);
    });

    it('the doorbell stays silent while nothing is ready', async () => {
      const queue = await queues.open();
      const doorbell = queue.openDoorbell();
      await queue.offer('a', { after: HOUR });
      await queue.transfer();
      await queue.claim();
      expect(await ringsWithin(queue, doorbell)).toBe(false);
    });

    it('a ring wakes only one of two waiting consumers', async () => {
      const queue = await queues.open();
      const doorbells = [queue.openDoorbell(), queue.openDoorbell(queue.secondView)];
      let woken = 0;
      const waiting = doorbells.map((doorbell) => doorbell.wait(HOUR).then((rang) => (woken += rang ? 1 : 0)));
      await queue.makeReady('a', 'b');
      await until(() => woken > 0);
      await queue.advance(BRIEF);
      expect(woken).toBe(1);
      await Promise.all(doorbells.map((doorbell) => doorbell.close()));
      await Promise.all(waiting);
    });

    it('claims that leave ready messages wake the waiting consumers one by one', async () => {
      const queue = await queues.open();
      let woken = 0;
      const doorbells = [queue.store, queue.secondView, queue.store].map((view) => queue.openDoorbell(view));
      const waiting = doorbells.map((doorbell) => doorbell.wait(HOUR).then(() => woken++));
      await queue.makeReady('a', 'b', 'c');
      for (const ringsSoFar of [1, 2, 3]) {
        await until(() => woken >= ringsSoFar);
        expect(woken).toBe(ringsSoFar);
        expect(await queue.claim(1)).toHaveLength(1);
      }
      await Promise.all(waiting);
      expect(await ringsWithin(queue, queue.openDoorbell())).toBe(false);
    });

    it('a claim with limit 0 rings the doorbell again while messages are ready', async () => {
      const queue = await queues.open();
      const doorbell = queue.openDoorbell();
      await queue.makeReady('a');
      expect(await doorbell.wait(HOUR)).toBe(true);
      await queue.store.claim({ token: 't', limit: 0, lease: HOUR });
      expect(await doorbell.wait(HOUR)).toBe(true);
    });

    it('ring() rings the doorbell only while messages are ready', async () => {
      const queue = await queues.open();
      const doorbell = queue.openDoorbell();
      await queue.store.ring();
      expect(await ringsWithin(queue, doorbell)).toBe(false);
      await queue.makeReady('a');
      expect(await doorbell.wait(HOUR)).toBe(true);
      for (let i = 0; i < 2; i++) await queue.secondView.ring();
      expect(await doorbell.wait(HOUR)).toBe(true);
      expect(await ringsAgain(queue, doorbell)).toBe(false);
    });

    it('ring() does nothing while the queue is paused', async () => {
      const queue = await queues.open();
      const doorbell = queue.openDoorbell();
      await queue.makeReady('a');
      expect(await doorbell.wait(HOUR)).toBe(true);
      await queue.store.pause();
      await queue.store.ring();
      expect(await ringsAgain(queue, doorbell)).toBe(false);
    });

    it('a claim of a paused queue does not ring, so consumers do not wake each other forever', async () => {
      const queue = await queues.open();
      const doorbell = queue.openDoorbell();
      await queue.makeReady('a');
      expect(await doorbell.wait(HOUR)).toBe(true);
      await queue.store.pause();
      expect(await queue.claim()).toEqual([]);
      expect(await ringsAgain(queue, doorbell)).toBe(false);
    });

    it('messages given back to a paused queue ring only once it is resumed', async () => {
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

    it('resuming a queue with ready messages rings the doorbell', async () => {
      const queue = await queues.open();
      const doorbell = queue.openDoorbell();
      await queue.makeReady('a');
      await queue.store.pause();
      expect(await doorbell.wait(HOUR)).toBe(true);
      const waiting = doorbell.wait(HOUR);
      await queue.secondView.resume();
      expect(await waiting).toBe(true);
    });

    it('a wait ends without a ring after its timeout, and the next one can still be rung', async () => {
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

    it('closing a doorbell ends its wait without a ring', async () => {
      const queue = await queues.open();
      const doorbell = queue.openDoorbell();
      const waiting = doorbell.wait(HOUR);
      await doorbell.close();
      expect(await waiting).toBe(false);
      await doorbell.close();
    });

    it('a ring for a consumer that has left wakes another one', async () => {
      const queue = await queues.open();
      const left = queue.openDoorbell();
      const waiting = left.wait(HOUR);
      await queue.advance(BRIEF);
      left.leave();
      expect(await waiting).toBe(false);
      await queue.makeReady('a');
      expect(await ringsWithin(queue, queue.openDoorbell(queue.secondView))).toBe(true);
    });

    it('a doorbell closed during its wait takes no ring from others', async () => {
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

async function ringsWithin(queue: ContractQueue, doorbell: Doorbell, ms = BRIEF): Promise<boolean> {
  const waiting = doorbell.wait(ms);
  await queue.advance(ms);
  return waiting;
}

/** Of a doorbell that has waited before. */
const ringsAgain = (queue: ContractQueue, doorbell: Doorbell) => ringsWithin(queue, doorbell, BRIEFER);
