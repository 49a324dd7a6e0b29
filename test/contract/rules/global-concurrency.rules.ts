import { describe, expect, it } from '@jest/globals';
import type { ClaimReport, Outcome, WakeSignal } from '../../../lib/store/consumer-store.js';
import type { MessageStore } from '../../../lib/store/message-store.js';
import { type ContractQueue, type ContractQueues, HOUR, SHORT_LEASE, SOME_TIME } from '../contract-queue.js';

/** Long enough for a signal to arrive, short enough for a test to wait. */
const BRIEF = 300;

const NOTHING = { messages: [], more: false, now: SOME_TIME, orphans: [] };

export function describeGlobalConcurrency(queues: ContractQueues): void {
  describe('a queue with a global concurrency', () => {
    it('never has more active messages, and keeps the rest ready', async () => {
      const queue = await queues.open({ globalConcurrency: 3 });
      await queue.makeReady('a', 'b', 'c', 'd', 'e');
      const report = await claim(queue, 5);
      expect(idsOf(report)).toEqual(['a', 'b', 'c']);
      expect(report).toEqual({ ...NOTHING, messages: report.messages });
      expect(await queue.find('d')).toMatchObject({ state: 'ready', failedAttempts: 0 });
      expect(await claim(queue, 5)).toEqual(NOTHING);
      expect((await queue.store.status()).counts).toEqual({ delayed: 0, ready: 2, active: 3, dead: 0 });
    });

    it('applies it to all processes together', async () => {
      const queue = await queues.open({ globalConcurrency: 3 });
      await queue.makeReady('a', 'b', 'c', 'd');
      const first = await claim(queue, 2);
      expect(first.more).toBe(true);
      expect(idsOf(first)).toEqual(['a', 'b']);
      expect(idsOf(await claim(queue, 2, queue.secondView))).toEqual(['c']);
    });

    it('lets messages become active one by one as others are settled', async () => {
      const queue = await queues.open({ globalConcurrency: 2 });
      await queue.makeReady('a', 'b', 'c', 'd');
      const [a, b] = await queue.claim(2);
      await queue.settle(b, { kind: 'ack' });
      expect(idsOf(await claim(queue, 9))).toEqual(['c']);
      await queue.settle(a, { kind: 'ack' });
      expect(idsOf(await claim(queue, 9))).toEqual(['d']);
      expect(await claim(queue, 9)).toEqual(NOTHING);
    });

    it('passes on the messages of a superseded claim even if it is used up', async () => {
      const queue = await queues.open({ globalConcurrency: 2 });
      await queue.makeReady('a', 'b', 'c');
      await queue.store.claim({ token: 'lost', limit: 9, lease: HOUR });
      const successor = await queue.store.claim({ token: 'again', supersedes: 'lost', limit: 9, lease: HOUR });
      expect(idsOf(successor)).toEqual(['a', 'b']);
      expect(successor.more).toBe(false);
      const half = await queue.store.claim({ token: 'half', supersedes: 'again', limit: 1, lease: HOUR });
      expect(idsOf(half)).toEqual(['a']);
      expect(half.more).toBe(true);
      expect(idsOf(await claim(queue, 9))).toEqual(['b']);
    });

    it('applies it together with its rate', async () => {
      const queue = await queues.open({ globalConcurrency: 2, rate: { max: 3, per: HOUR } });
      await queue.makeReady('a', 'b', 'c', 'd');
      const [a, b] = await queue.claim(9);
      await queue.settle(a, { kind: 'ack' });
      await queue.settle(b, { kind: 'ack' });
      const report = await claim(queue, 9);
      expect(idsOf(report)).toEqual(['c']);
      expect(report.claimAgainIn).toBeGreaterThan(0);
    });

    it('tells no consumer to wait for its rate while it is used up', async () => {
      const queue = await queues.open({ globalConcurrency: 1, rate: { max: 1, per: HOUR } });
      await queue.makeReady('a', 'b');
      const [a] = await queue.claim(1);
      expect(await claim(queue, 9)).toEqual(NOTHING);
      await queue.settle(a, { kind: 'ack' });
      expect((await claim(queue, 9)).claimAgainIn).toBeGreaterThan(0);
    });

    it('returns nothing while it is paused', async () => {
      const queue = await queues.open({ globalConcurrency: 2 });
      await queue.makeReady('a');
      await queue.store.pause();
      expect(await claim(queue, 2)).toEqual(NOTHING);
      await queue.store.resume();
      expect(idsOf(await claim(queue, 2))).toEqual(['a']);
    });

    it('never transfers and claims in one call', async () => {
      const queue = await queues.open({ globalConcurrency: 2 });
      await queue.offerDue('a');
      const request = { token: queue.newToken(), limit: 1, lease: HOUR };
      expect(await queue.store.transferAndClaim?.(request)).toBeUndefined();
      expect(await queue.stateOf('a')).toBe('delayed');
    });
  });

  describe('while the global concurrency of a queue is used up', () => {
    /** A queue whose only active message is 'a', while 'b' is ready and a consumer waits that has taken all signals so far. */
    async function openFull(lease = HOUR) {
      const queue = await queues.open({ globalConcurrency: 1 });
      await queue.makeReady('a', 'b');
      const [a] = await queue.claim(1, lease);
      const signal = queue.openWakeSignal(queue.secondView);
      while (await wokenWithin(queue, signal));
      return { queue, a: a!, signal };
    }

    it('neither claims nor transfers wake a consumer', async () => {
      const { queue, signal } = await openFull();
      await claim(queue, 1);
      await queue.makeReady('c');
      expect(await queue.transfer()).toMatchObject({ ready: 2 });
      // A claim would take back the signal.
      expect(await wokenWithin(queue, signal)).toBe(false);
      await claim(queue, 1, queue.secondView);
      expect(await wokenWithin(queue, signal)).toBe(false);
    });

    it.each<[string, Outcome]>([
      ['handled', { kind: 'ack' }],
      ['delayed until its retry', { kind: 'retry', delay: HOUR }],
      ['deferred', { kind: 'defer', delay: HOUR }],
      ['offered again', { kind: 'again', delay: HOUR }],
      ['dead', { kind: 'dead', error: '{}' }],
    ])('a message that is %s wakes a consumer for the next one', async (_what, outcome) => {
      const { queue, a, signal } = await openFull();
      const waiting = signal.wait(HOUR);
      expect(await queue.settle(a, outcome)).toBe(true);
      expect(await waiting).toBe(true);
      expect(idsOf(await claim(queue, 9, queue.secondView))).toEqual(['b']);
    });

    it('a message that is released wakes a consumer, and comes first', async () => {
      const { queue, a, signal } = await openFull();
      const waiting = signal.wait(HOUR);
      await queue.settle(a, { kind: 'release' });
      expect(await waiting).toBe(true);
      expect(idsOf(await claim(queue, 9, queue.secondView))).toEqual(['a']);
    });

    it('a message that is aborted wakes a consumer for the next one', async () => {
      const { queue, signal } = await openFull();
      const waiting = signal.wait(HOUR);
      expect(await queue.store.abort('a')).toBe(true);
      expect(await waiting).toBe(true);
      expect(idsOf(await claim(queue, 9))).toEqual(['b']);
    });

    it('a message that is replaced wakes a consumer for the next one', async () => {
      const { queue, signal } = await openFull();
      const waiting = signal.wait(HOUR);
      await queue.offer('a', { after: HOUR }, { onDuplicate: 'replace' });
      expect(await waiting).toBe(true);
      expect(idsOf(await claim(queue, 9))).toEqual(['b']);
    });

    it('a message that loses its lease wakes a consumer with its transfer', async () => {
      const { queue, signal } = await openFull(SHORT_LEASE);
      const waiting = signal.wait(HOUR);
      expect(await queue.transferSomething()).toMatchObject({ recovered: 1 });
      expect(await waiting).toBe(true);
      expect(await claim(queue, 9)).toMatchObject({ messages: [expect.anything()], more: false });
    });

    it('nobody is woken by outcomes that come too late', async () => {
      const { queue, a } = await openFull();
      await queue.settle(a, { kind: 'ack' });
      expect(idsOf(await claim(queue, 9))).toEqual(['b']);
      expect(await queue.settle(a, { kind: 'ack' })).toBe(false);
      expect(await claim(queue, 9)).toEqual(NOTHING);
    });

    it('a transfer wakes a consumer if the wake-up signal of an outcome got lost', async () => {
      const { queue, a, signal } = await openFull();
      await queue.settle(a, { kind: 'ack' });
      expect(await signal.wait(HOUR)).toBe(true);
      await queue.transfer();
      expect(await signal.wait(HOUR)).toBe(true);
    });

    it('nobody is woken for a settled message while the queue is paused', async () => {
      const { queue, a, signal } = await openFull();
      await queue.store.pause();
      await queue.settle(a, { kind: 'ack' });
      expect(await wokenWithin(queue, signal)).toBe(false);
    });

    it('the consumer that has waited longest is woken first', async () => {
      const { queue, a, signal } = await openFull();
      const first = signal.wait(HOUR);
      await queue.advance(BRIEF);
      const later = queue.openWakeSignal();
      const second = later.wait(HOUR);
      await queue.advance(BRIEF);
      await queue.settle(a, { kind: 'ack' });
      expect(await Promise.race([first.then(() => 'first'), second.then(() => 'second')])).toBe('first');
    });

    it('clear makes room for new messages', async () => {
      const { queue } = await openFull();
      await queue.store.clear();
      await queue.makeReady('c');
      expect(idsOf(await claim(queue, 9))).toEqual(['c']);
    });
  });
}

function claim(queue: ContractQueue, limit: number, view: MessageStore = queue.store): Promise<ClaimReport> {
  return view.claim({ token: queue.newToken(), limit, lease: HOUR });
}

function idsOf({ messages }: ClaimReport): string[] {
  return messages.map(({ id }) => id);
}

async function wokenWithin(queue: ContractQueue, signal: WakeSignal): Promise<boolean> {
  const waiting = signal.wait(BRIEF);
  await queue.advance(BRIEF);
  return waiting;
}
