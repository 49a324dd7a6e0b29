import { describe, expect, it } from '@jest/globals';
import type { WakeSignal } from '../../../lib/store/consumer-store.js';
import { type ContractQueue, type ContractQueues, HOUR, SHORT_LEASE } from '../contract-queue.js';
import { until } from '../../support/until.js';

/** Long enough for a connection to open, short enough for a test to wait. */
const BRIEF = 500;
/** The same once a consumer has waited, and its connection is open. */
const BRIEFER = 150;

export function describeWakeSignals(queues: ContractQueues): void {
  describe('wake-up signals', () => {
    it('a transfer that moves a message wakes a consumer waiting in another process', async () => {
      const queue = await queues.open();
      const waiting = queue.openWakeSignal(queue.secondView).wait(HOUR);
      await queue.makeReady('a');
      expect(await waiting).toBe(true);
    });

    it('signals that nobody waits for merge into one', async () => {
      const queue = await queues.open();
      const signal = queue.openWakeSignal();
      await queue.makeReady('a');
      await queue.makeReady('b');
      expect(await signal.wait(HOUR)).toBe(true);
      expect(await wokenAgain(queue, signal)).toBe(false);
    });

    it('every transfer wakes a consumer while messages are ready, to make up for a lost signal', async () => {
      const queue = await queues.open();
      const signal = queue.openWakeSignal();
      await queue.makeReady('a');
      expect(await signal.wait(HOUR)).toBe(true);
      expect(await queue.transfer()).toMatchObject({ moved: 0, ready: 1 });
      expect(await signal.wait(HOUR)).toBe(true);
    });

    it('a message recovered from an expired lease wakes a consumer', async () => {
      const queue = await queues.open();
      const signal = queue.openWakeSignal();
      await queue.makeActive(['a'], SHORT_LEASE);
      expect(await wokenWithin(queue, signal).then(() => wokenAgain(queue, signal))).toBe(false);
      expect(await queue.transfer()).toMatchObject({ recovered: 1 });
      expect(await signal.wait(HOUR)).toBe(true);
    });

    it('no consumer is woken while nothing is ready', async () => {
      const queue = await queues.open();
      const signal = queue.openWakeSignal();
      await queue.offer('a', { after: HOUR });
      await queue.transfer();
      await queue.claim();
      expect(await wokenWithin(queue, signal)).toBe(false);
    });

    it('a signal wakes only one of two waiting consumers', async () => {
      const queue = await queues.open();
      const signals = [queue.openWakeSignal(), queue.openWakeSignal(queue.secondView)];
      let woken = 0;
      const waiting = signals.map((signal) => signal.wait(HOUR).then((isAwake) => (woken += isAwake ? 1 : 0)));
      await queue.makeReady('a', 'b');
      await until(() => woken > 0);
      await queue.advance(BRIEF);
      expect(woken).toBe(1);
      await Promise.all(signals.map((signal) => signal.close()));
      await Promise.all(waiting);
    });

    it('claims that leave ready messages wake the waiting consumers one by one', async () => {
      const queue = await queues.open();
      let woken = 0;
      const signals = [queue.store, queue.secondView, queue.store].map((view) => queue.openWakeSignal(view));
      const waiting = signals.map((signal) => signal.wait(HOUR).then(() => woken++));
      await queue.makeReady('a', 'b', 'c');
      for (const wokenSoFar of [1, 2, 3]) {
        await until(() => woken >= wokenSoFar);
        expect(woken).toBe(wokenSoFar);
        expect(await queue.claim(1)).toHaveLength(1);
      }
      await Promise.all(waiting);
      expect(await wokenWithin(queue, queue.openWakeSignal())).toBe(false);
    });

    it('a claim with limit 0 wakes a consumer again while messages are ready', async () => {
      const queue = await queues.open();
      const signal = queue.openWakeSignal();
      await queue.makeReady('a');
      expect(await signal.wait(HOUR)).toBe(true);
      await queue.store.claim({ token: 't', limit: 0, lease: HOUR });
      expect(await signal.wait(HOUR)).toBe(true);
    });

    it('wake() wakes a consumer only while messages are ready', async () => {
      const queue = await queues.open();
      const signal = queue.openWakeSignal();
      await queue.store.wake();
      expect(await wokenWithin(queue, signal)).toBe(false);
      await queue.makeReady('a');
      expect(await signal.wait(HOUR)).toBe(true);
      for (let i = 0; i < 2; i++) await queue.secondView.wake();
      expect(await signal.wait(HOUR)).toBe(true);
      expect(await wokenAgain(queue, signal)).toBe(false);
    });

    it('wake() does nothing while the queue is paused', async () => {
      const queue = await queues.open();
      const signal = queue.openWakeSignal();
      await queue.makeReady('a');
      expect(await signal.wait(HOUR)).toBe(true);
      await queue.store.pause();
      await queue.store.wake();
      expect(await wokenAgain(queue, signal)).toBe(false);
    });

    it('a claim of a paused queue wakes no consumer', async () => {
      // Otherwise consumers of a paused queue would wake each other forever.
      const queue = await queues.open();
      const signal = queue.openWakeSignal();
      await queue.makeReady('a');
      expect(await signal.wait(HOUR)).toBe(true);
      await queue.store.pause();
      expect(await queue.claim()).toEqual([]);
      expect(await wokenAgain(queue, signal)).toBe(false);
    });

    it('messages released to a paused queue wake a consumer only once it is resumed', async () => {
      const queue = await queues.open();
      const signal = queue.openWakeSignal();
      const [claim, other] = await queue.makeActive(['a', 'b']);
      await queue.store.pause();
      while (await wokenWithin(queue, signal));
      await queue.settle(claim, { kind: 'release' });
      await queue.store.claim({ token: 'none', supersedes: other!.token, limit: 0, lease: HOUR });
      expect(await wokenWithin(queue, signal)).toBe(false);
      await queue.store.resume();
      expect(await signal.wait(HOUR)).toBe(true);
    });

    it('resuming a queue with ready messages wakes a consumer', async () => {
      const queue = await queues.open();
      const signal = queue.openWakeSignal();
      await queue.makeReady('a');
      await queue.store.pause();
      expect(await signal.wait(HOUR)).toBe(true);
      const waiting = signal.wait(HOUR);
      await queue.secondView.resume();
      expect(await waiting).toBe(true);
    });

    it('a wait times out without a signal, and the next one can still be woken', async () => {
      const queue = await queues.open();
      const signal = queue.openWakeSignal();
      const began = await queue.now();
      const waiting = signal.wait(BRIEF);
      await queue.advance(BRIEF);
      expect(await waiting).toBe(false);
      expect(await queue.now()).toBeGreaterThanOrEqual(began + BRIEF - 1);
      await queue.makeReady('a');
      expect(await signal.wait(HOUR)).toBe(true);
    });

    it('closing a signal ends its wait', async () => {
      const queue = await queues.open();
      const signal = queue.openWakeSignal();
      const waiting = signal.wait(HOUR);
      await signal.close();
      expect(await waiting).toBe(false);
      await signal.close();
    });

    it('a consumer that has stopped waiting leaves the wake-up to another one', async () => {
      const queue = await queues.open();
      const left = queue.openWakeSignal();
      const waiting = left.wait(HOUR);
      await queue.advance(BRIEF);
      left.leave();
      expect(await waiting).toBe(false);
      await queue.makeReady('a');
      expect(await wokenWithin(queue, queue.openWakeSignal(queue.secondView))).toBe(true);
    });

    it('a signal that is closed during its wait does not consume the wake-up of others', async () => {
      const queue = await queues.open();
      const closed = queue.openWakeSignal();
      const waiting = closed.wait(HOUR);
      const other = queue.openWakeSignal().wait(HOUR);
      await closed.close();
      await waiting;
      await queue.makeReady('a');
      expect(await other).toBe(true);
    });
  });
}

async function wokenWithin(queue: ContractQueue, signal: WakeSignal, ms = BRIEF): Promise<boolean> {
  const waiting = signal.wait(ms);
  await queue.advance(ms);
  return waiting;
}

/** For a consumer that has waited before. */
const wokenAgain = (queue: ContractQueue, signal: WakeSignal) => wokenWithin(queue, signal, BRIEFER);
