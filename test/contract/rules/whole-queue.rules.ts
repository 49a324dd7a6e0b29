import { describe, expect, it } from '@jest/globals';
import type { Claim } from '../../../lib/store/consumer-store.js';
import { type ContractQueue, type ContractQueues, defined, HOUR, SOME_TIME } from '../contract-queue.js';

/** The ways in which a message that was retried once, and is delayed again, can leave the queue. */
const WAYS_TO_GO: Record<string, (queue: ContractQueue, id: string) => Promise<unknown>> = {
  acknowledged: async (queue, id) => queue.settle(await claimAgain(queue, id), { kind: 'ack' }),
  cancelled: (queue, id) => queue.store.cancel(id),
  discarded: async (queue, id) => {
    await queue.settle(await claimAgain(queue, id), { kind: 'dead', error: 'x' });
    await queue.store.discard({ id });
  },
  'redriven and cancelled': async (queue, id) => {
    await queue.settle(await claimAgain(queue, id), { kind: 'dead', error: 'x' });
    await queue.store.redrive({ id });
    await queue.store.cancel(id);
  },
  'replaced and cancelled': async (queue, id) => {
    await queue.settle(await claimAgain(queue, id), { kind: 'dead', error: 'x' });
    await queue.offer(id, { after: HOUR }, { onDuplicate: 'replace' });
    await queue.store.cancel(id);
  },
  cleared: (queue) => queue.store.clear(),
};

export function describeWholeQueue(queues: ContractQueues): void {
  describe('messages that are gone', () => {
    it.each(Object.entries(WAYS_TO_GO))(
      'a message that was %s leaves nothing behind, and its id can be reused',
      async (_, go) => {
        const queue = await queues.open();
        const [claim] = await queue.makeActive(['a']);
        await queue.settle(claim, { kind: 'retry', delay: HOUR });
        await go(queue, 'a');
        expect(await queue.stateOf('a')).toBeNull();
        expect(await queue.leftovers()).toEqual([]);

        expect(await queue.offer('a', { after: HOUR })).toMatchObject({ outcome: 'created' });
        expect(await queue.find('a')).toMatchObject({ state: 'delayed', failedAttempts: 0 });
      },
    );
  });

  describe('status', () => {
    it('the status counts the messages in each state', async () => {
      const queue = await queues.open();
      const counts = async () => (await queue.store.status()).counts;
      expect(await queue.store.status()).toEqual({
        counts: { delayed: 0, ready: 0, active: 0, dead: 0 },
        now: SOME_TIME,
        nextDue: null,
        oldestReady: null,
        paused: false,
      });
      await queue.offerDue('a', 'b', 'c');
      expect(await counts()).toEqual({ delayed: 3, ready: 0, active: 0, dead: 0 });
      await queue.transfer(2);
      expect(await counts()).toEqual({ delayed: 1, ready: 2, active: 0, dead: 0 });
      const [first] = await queue.claim(1);
      expect(await counts()).toEqual({ delayed: 1, ready: 1, active: 1, dead: 0 });
      await queue.settle(first, { kind: 'dead', error: 'x' });
      expect(await counts()).toEqual({ delayed: 1, ready: 1, active: 0, dead: 1 });
      const [second] = await queue.claim(1);
      await queue.settle(second, { kind: 'retry', delay: HOUR });
      expect(await counts()).toEqual({ delayed: 2, ready: 0, active: 0, dead: 1 });
    });

    it('the status reports the earliest due time of the delayed messages', async () => {
      const queue = await queues.open();
      const nextDue = async () => (await queue.store.status()).nextDue;
      const far = await queue.offer('far', { after: 2 * HOUR });
      expect(await nextDue()).toBe(far.dueAt);
      const near = await queue.offer('near', { after: HOUR });
      expect(await nextDue()).toBe(near.dueAt);
      await queue.store.cancel('near');
      expect(await nextDue()).toBe(far.dueAt);
      await queue.store.reschedule('far', { at: 1000 });
      expect(await nextDue()).toBe(1000);
      await queue.transfer();
      expect(await nextDue()).toBeNull();
    });

    it('every process sees the same status', async () => {
      const queue = await queues.open();
      await queue.offer('a', { after: HOUR });
      await queue.makeActive(['b']);
      await queue.store.pause();
      const seen = await queue.store.status();
      expect(await queue.secondView.status()).toEqual({ ...seen, now: SOME_TIME });
    });

    it("the status reports the store's time", async () => {
      const queue = await queues.open();
      const before = Math.floor(await queue.now());
      const { now } = await queue.store.status();
      expect(now).toBeGreaterThanOrEqual(before);
      expect(now).toBeLessThanOrEqual(await queue.now());
      await queue.advance(5);
      expect((await queue.store.status()).now).toBeGreaterThan(now);
    });

    it('the status reports when the next ready message to be claimed was due', async () => {
      const queue = await queues.open();
      const oldestReady = async () => (await queue.store.status()).oldestReady;
      const claims = await queue.makeActive(['a', 'b']);
      for (const claim of claims) {
        await queue.settle(claim, { kind: 'retry', delay: 1 });
        await queue.advance(2);
        await queue.transfer();
      }
      const [first, second] = [(await queue.find('a')).dueAt, (await queue.find('b')).dueAt];
      expect(second).toBeGreaterThan(first);
      expect(await oldestReady()).toBe(first);
      const [claim] = await queue.claim(1);
      expect(await oldestReady()).toBe(second);
      await queue.settle(claim, { kind: 'release' });
      expect(await oldestReady()).toBe(first);
      await queue.claim();
      expect(await oldestReady()).toBeNull();
    });
  });

  describe('pause and resume', () => {
    it('a paused queue returns no message until it is resumed', async () => {
      const queue = await queues.open();
      await queue.makeReady('a');
      await queue.store.pause();
      const nothing = { messages: [], more: false, now: SOME_TIME, orphans: [] };
      expect(await queue.store.claim({ token: 't1', limit: 10, lease: HOUR })).toEqual(nothing);
      expect(await queue.secondView.claim({ token: 't2', limit: 0, lease: HOUR })).toEqual(nothing);
      expect(await queue.store.status()).toMatchObject({ paused: true, counts: { ready: 1 } });

      await queue.secondView.resume();
      expect(await queue.store.status()).toMatchObject({ paused: false });
      expect((await queue.claim()).map(({ id }) => id)).toEqual(['a']);
    });

    it('a paused queue still accepts offers, transfers, extensions and outcomes', async () => {
      const queue = await queues.open();
      const [claim] = await queue.makeActive(['a']);
      await queue.store.pause();
      await queue.makeReady('b');
      expect(await queue.stateOf('b')).toBe('ready');
      expect(await queue.store.extend([defined(claim)], HOUR)).toEqual([]);
      expect(await queue.settle(claim, { kind: 'ack' })).toBe(true);
    });

    it('one resume undoes any number of pauses', async () => {
      const queue = await queues.open();
      await queue.store.pause();
      await queue.store.pause();
      await queue.store.resume();
      await queue.store.resume();
      await queue.makeReady('a');
      expect(await queue.claim()).toHaveLength(1);
    });
  });

  describe('clear', () => {
    it('clear removes every message in every state and frees its id', async () => {
      const queue = await queues.open();
      await queue.makeDead('dead');
      const [claim] = await queue.makeActive(['active']);
      await queue.makeReady('ready');
      await queue.offer('delayed', { after: HOUR });
      expect(await queue.store.clear()).toBe(4);
      expect(await queue.store.status()).toMatchObject({
        counts: { delayed: 0, ready: 0, active: 0, dead: 0 },
        nextDue: null,
      });
      expect(await queue.transfer()).toMatchObject({ moved: 0, recovered: 0, ready: 0, nextAt: null });
      expect(await queue.dead()).toEqual([]);
      expect(await queue.settle(claim, { kind: 'retry', delay: 1 })).toBe(false);
      for (const id of ['dead', 'active', 'ready', 'delayed']) {
        expect(await queue.stateOf(id)).toBeNull();
        expect(await queue.offer(id, { after: HOUR })).toMatchObject({ outcome: 'created' });
        expect(await queue.find(id)).toMatchObject({ failedAttempts: 0 });
      }
      expect(await queue.store.clear()).toBe(4);
      expect(await queue.store.clear()).toBe(0);
    });

    it('clear leaves a paused queue paused', async () => {
      const queue = await queues.open();
      await queue.store.pause();
      await queue.store.clear();
      expect(await queue.store.status()).toMatchObject({ paused: true });
    });
  });
}

async function claimAgain(queue: ContractQueue, id: string): Promise<Claim | undefined> {
  await queue.store.reschedule(id, { at: 0 });
  await queue.transfer();
  return (await queue.claim(1))[0];
}
