import { describe, expect, it } from '@jest/globals';
import type { ClaimReport, WakeSignal } from '../../../lib/store/consumer-store.js';
import type { MessageStore } from '../../../lib/store/message-store.js';
import {
  type ContractQueue,
  type ContractQueues,
  defined,
  HOUR,
  numberedIds,
  SHORT_LEASE,
  SOME_TIME,
} from '../contract-queue.js';

/** Long enough for a signal to arrive, short enough for a test to wait. */
const BRIEF = 500;
/** Short enough for a test to wait until it is over. */
const SHORT = 200;

export function describeRates(queues: ContractQueues): void {
  describe('a queue with a rate', () => {
    it('returns as many messages at once as its rate allows, and keeps the rest ready', async () => {
      const queue = await queues.open({ rate: { max: 3, per: HOUR } });
      await queue.makeReady('a', 'b', 'c', 'd', 'e');
      const report = await claim(queue, 5);
      expect(idsOf(report)).toEqual(['a', 'b', 'c']);
      expect(report.more).toBe(false);
      expect(report.claimAgainIn).toBeGreaterThan(0);
      expect(report.claimAgainIn).toBeLessThanOrEqual(HOUR);
      expect(await queue.find('d')).toMatchObject({ state: 'ready', failedAttempts: 0 });
      expect((await queue.store.status()).counts).toEqual({ delayed: 0, ready: 2, active: 3, dead: 0 });
      expect(idsOf(await claim(queue, 5))).toEqual([]);
    });

    it('returns more messages once the period of its rate has passed', async () => {
      const queue = await queues.open({ rate: { max: 2, per: SHORT } });
      await queue.makeReady('a', 'b', 'c', 'd', 'e');
      expect(idsOf(await claim(queue, 3))).toEqual(['a', 'b']);
      await queue.advance(SHORT);
      expect(idsOf(await claim(queue, 3))).toEqual(['c', 'd']);
      await queue.advance(SHORT);
      expect(await claim(queue, 3)).toMatchObject({ messages: [{ id: 'e' }], more: false });
    });

    it('never exceeds its rate in any window, and nearly reaches it if consumers claim at the reported times', async () => {
      const rate = { max: 5, per: SHORT };
      const queue = await queues.open({ rate });
      await queue.makeReady(...numberedIds(100));
      const claims: { from: number; to: number; count: number }[] = [];
      const begin = await queue.now();
      while ((await queue.now()) < begin + 5 * SHORT) {
        const from = await queue.now();
        const { messages, claimAgainIn } = await claim(queue, 3);
        claims.push({ from, to: await queue.now(), count: messages.length });
        if (claimAgainIn !== undefined) await queue.advance(claimAgainIn);
      }
      // Each window that begins with a claim: only what has certainly been claimed within it counts.
      for (const first of claims) {
        const within = claims.filter(({ from, to }) => from >= first.from && to < first.from + rate.per);
        expect(total(within)).toBeLessThanOrEqual(rate.max);
      }
      expect(total(claims)).toBeGreaterThanOrEqual(4 * rate.max);
    });

    it('applies its rate to all processes together', async () => {
      const queue = await queues.open({ rate: { max: 3, per: HOUR } });
      await queue.makeReady('a', 'b', 'c', 'd');
      expect(idsOf(await claim(queue, 2))).toEqual(['a', 'b']);
      expect(idsOf(await claim(queue, 2, queue.secondView))).toEqual(['c']);
    });

    it('does not report a waiting time unless more messages are ready than its rate allows', async () => {
      const queue = await queues.open({ rate: { max: 2, per: HOUR } });
      await queue.makeReady('a', 'b');
      expect(await claim(queue, 9)).toEqual({
        messages: [expect.anything(), expect.anything()],
        more: false,
        now: SOME_TIME,
        orphans: [],
      });
      expect(await claim(queue, 9)).toEqual({ messages: [], more: false, now: SOME_TIME, orphans: [] });
    });

    it('counts each claim of a message, whether it was retried, released or lost its lease', async () => {
      const queue = await queues.open({ rate: { max: 4, per: HOUR } });
      await queue.makeReady('a');
      const [first] = await queue.claim(1);
      await queue.settle(first, { kind: 'retry', delay: 0 });
      await queue.transferSomething();
      const [second] = await queue.claim(1);
      await queue.settle(second, { kind: 'release' });
      await queue.claim(1, SHORT_LEASE);
      await queue.transferSomething();
      expect(await queue.claim(1)).toHaveLength(1);
      await queue.makeReady('b');
      expect(await claim(queue, 1)).toMatchObject({ messages: [], more: false });
    });

    it('counts a message once if it passes from one claim to the next', async () => {
      const queue = await queues.open({ rate: { max: 3, per: HOUR } });
      await queue.makeReady('a', 'b', 'c', 'd');
      await queue.store.claim({ token: 'lost', limit: 2, lease: HOUR });
      const successor = await queue.store.claim({ token: 'again', supersedes: 'lost', limit: 2, lease: HOUR });
      expect(idsOf(successor)).toEqual(['a', 'b']);
      expect(idsOf(await claim(queue, 2))).toEqual(['c']);
    });

    it('passes on the messages of a replaced claim even if its rate is spent', async () => {
      const queue = await queues.open({ rate: { max: 2, per: HOUR } });
      await queue.makeReady('a', 'b', 'c');
      await queue.store.claim({ token: 'lost', limit: 9, lease: HOUR });
      const successor = await queue.store.claim({ token: 'again', supersedes: 'lost', limit: 9, lease: HOUR });
      expect(idsOf(successor)).toEqual(['a', 'b']);
    });

    it('keeps its count after clear', async () => {
      const queue = await queues.open({ rate: { max: 1, per: HOUR } });
      await queue.makeActive(['a']);
      await queue.store.clear();
      await queue.makeReady('b');
      expect(await claim(queue, 1)).toMatchObject({ messages: [], more: false });
    });

    it('returns nothing while it is paused, and what its rate allows once it is resumed', async () => {
      const queue = await queues.open({ rate: { max: 1, per: HOUR } });
      const nothing = { messages: [], more: false, now: SOME_TIME, orphans: [] };
      await queue.makeReady('a', 'b');
      await queue.store.pause();
      expect(await claim(queue, 2)).toEqual(nothing);
      const waiting = queue.openWakeSignal().wait(HOUR);
      await queue.store.resume();
      expect(await waiting).toBe(true);
      expect(idsOf(await claim(queue, 1))).toEqual(['a']);
      await queue.store.pause();
      expect(await claim(queue, 2)).toEqual(nothing);
    });
  });

  describe('while the rate of a queue is spent', () => {
    it('only one consumer is told when to claim again', async () => {
      const queue = await queues.open({ rate: { max: 1, per: SHORT } });
      await queue.makeReady('a', 'b', 'c', 'd');
      const first = await claim(queue, 2);
      expect(await claim(queue, 2, queue.secondView)).toEqual({
        messages: [],
        more: false,
        now: SOME_TIME,
        orphans: [],
      });
      await queue.advance(defined(first.claimAgainIn));
      const next = await claim(queue, 2);
      expect(idsOf(next)).toEqual(['b']);
      expect(next.claimAgainIn).toBeGreaterThan(0);
      expect(await claim(queue, 2, queue.secondView)).toEqual({
        messages: [],
        more: false,
        now: SOME_TIME,
        orphans: [],
      });
    });

    it('neither claims nor transfers wake a consumer', async () => {
      const queue = await queues.open({ rate: { max: 1, per: HOUR } });
      const signal = queue.openWakeSignal();
      await queue.makeReady('a', 'b', 'c');
      expect(await signal.wait(HOUR)).toBe(true);
      expect(await claim(queue, 2)).toMatchObject({ messages: [{ id: 'a' }], more: false });
      await claim(queue, 2, queue.secondView);
      expect(await queue.transfer()).toMatchObject({ ready: 2 });
      await queue.makeReady('d');
      expect(await wokenWithin(queue, signal)).toBe(false);
    });

    it('a claim that returns as many messages as requested wakes another consumer, which learns how long to wait', async () => {
      const queue = await queues.open({ rate: { max: 1, per: HOUR } });
      const signal = queue.openWakeSignal();
      await queue.makeReady('a', 'b');
      expect(await signal.wait(HOUR)).toBe(true);
      expect(await claim(queue, 1)).toMatchObject({ messages: [{ id: 'a' }], more: true });
      expect(await signal.wait(HOUR)).toBe(true);
      expect((await claim(queue, 1, queue.secondView)).claimAgainIn).toBeGreaterThan(0);
      expect(await wokenWithin(queue, signal)).toBe(false);
    });

    it('a transfer wakes another consumer if the one that should claim next does not do so', async () => {
      const queue = await queues.open({ rate: { max: 1, per: SHORT } });
      const signal = queue.openWakeSignal();
      await queue.makeReady('a', 'b');
      expect(await signal.wait(HOUR)).toBe(true);
      const { claimAgainIn } = await claim(queue, 2);
      await queue.advance(defined(claimAgainIn) + BRIEF);
      await queue.transfer();
      expect(await signal.wait(HOUR)).toBe(true);
      expect(idsOf(await claim(queue, 2, queue.secondView))).toEqual(['b']);
    });
  });
}

function claim(queue: ContractQueue, limit: number, view: MessageStore = queue.store): Promise<ClaimReport> {
  return view.claim({ token: queue.newToken(), limit, lease: HOUR });
}

function idsOf({ messages }: ClaimReport): string[] {
  return messages.map(({ id }) => id);
}

function total(claims: readonly { readonly count: number }[]): number {
  return claims.reduce((sum, { count }) => sum + count, 0);
}

async function wokenWithin(queue: ContractQueue, signal: WakeSignal): Promise<boolean> {
  const waiting = signal.wait(BRIEF);
  await queue.advance(BRIEF);
  return waiting;
}
