import { describe, expect, it } from '@jest/globals';
import type { GroupRules } from '../../../lib/store/message-store.js';
import { ContractQueues, HOUR, numberedIds, type OpenQueue, SHORT_LEASE } from '../contract-queue.js';
import { until } from '../../support/until.js';
import { GroupedQueue, idsOf } from '../grouped-queue.js';
import { listen } from '../listen.js';

/** Short enough for a test to wait until it is over, ms. */
const SHORT = 200;

const RULES: Record<string, Omit<GroupRules, 'rate'>> = {
  'one permit, held during retries': { concurrency: 1, onRetry: 'hold' },
  'one permit, passed on during retries': { concurrency: 1, onRetry: 'pass' },
  'three permits': { concurrency: 3, onRetry: 'hold' },
};

/** For stores with groups: groups that have a rate. */
export function describeGroupRates(name: string, openQueue: OpenQueue): void {
  describe.each(Object.entries(RULES))(`${name} whose groups have a rate and %s`, (_name, rules) => {
    const queues = new ContractQueues(openQueue);
    const open = async (max: number, per: number) =>
      new GroupedQueue(await queues.open({ groups: { ...rules, rate: { max, per } } }));

    /** Takes whatever a claim may take, until it takes nothing, and handles it. */
    const handleNow = (queue: GroupedQueue, limit = 10) => queue.handleAll(limit);

    /** Lets time pass until messages come back, and handles them. */
    async function handleNext(queue: GroupedQueue, limit = 10): Promise<string[]> {
      await queue.queue.transferSomething();
      return queue.handleAll(limit);
    }

    it.each([1, 10])(
      'claims no more of a group than its rate allows, and all of other groups: %i at a time',
      async (limit) => {
        const queue = await open(2, HOUR);
        await queue.makeReady('a1', 'a2', 'a3', 'b1', 'a4', 'c1');
        expect((await handleNow(queue, limit)).sort()).toEqual(['a1', 'a2', 'b1', 'c1']);
        expect(await queue.take(limit)).toEqual([]);
        const { ready, delayed, active, dead } = (await queue.store.status()).counts;
        expect([ready + delayed, active, dead]).toEqual([2, 0, 0]);
      },
    );

    it('leaves what it does not take to other claims if it comes to a group that has used up its rate', async () => {
      const queue = await open(2, HOUR);
      await queue.makeReady('x1', 'x2');
      expect(await handleNow(queue)).toEqual(['x1', 'x2']);
      await queue.makeReady('x3', 'a1', 'b1', 'a2');
      expect((await handleNow(queue, 2)).sort()).toEqual(['a1', 'a2', 'b1']);
    });

    it('goes on in order when the rate allows more, without an attempt spent', async () => {
      const queue = await open(2, SHORT);
      await queue.makeReady('a1', 'a2', 'a3', 'a4', 'a5', 'b1');
      expect((await handleNow(queue)).sort()).toEqual(['a1', 'a2', 'b1']);
      // The rate allows them one by one if the first two were not claimed at about the same time.
      const later = [];
      while (later.length < 3) {
        const token = queue.queue.newToken();
        const { messages } = await queue.store.claim({ token, limit: 9, lease: HOUR });
        later.push(...messages);
        if (messages.length === 0) await queue.queue.transferSomething();
        await queue.store.settle(
          messages.map(({ id }) => ({ claim: { id, token, group: 'a' }, outcome: { kind: 'ack' } })),
        );
      }
      expect(later).toMatchObject(['a3', 'a4', 'a5'].map((id) => ({ id, failedAttempts: 0 })));
    });

    it('never exceeds a group’s rate in any window', async () => {
      const max = 3;
      const queue = await open(max, SHORT);
      await queue.makeReady(...numberedIds(20, 'a'), ...numberedIds(20, 'b'));
      const claims: { readonly from: number; readonly to: number; readonly group: string }[] = [];
      const end = (await queue.queue.now()) + 3 * SHORT;
      for (let from = await queue.queue.now(); from < end; from = await queue.queue.now()) {
        const taken = await queue.claim(2);
        const to = await queue.queue.now();
        claims.push(...taken.map(({ id }) => ({ from, to, group: id[0]! })));
        await queue.store.settle(taken.map((claim) => ({ claim, outcome: { kind: 'ack' } as const })));
        if (taken.length > 0) continue;
        await queue.queue.advance(5);
        await queue.queue.transfer();
      }
      // Each window that begins with a claim: only what has certainly been claimed within it counts.
      for (const first of claims) {
        const within = claims.filter(
          ({ from, to, group }) => group === first.group && from >= first.from && to < first.from + SHORT,
        );
        expect(within.length).toBeLessThanOrEqual(max);
      }
      expect(claims.length).toBeGreaterThan(2 * max);
    });

    it('announces when a message beyond the rate comes back, and keeps its due time', async () => {
      const queue = await open(1, HOUR);
      const { dueTimes, stop } = await listen(queue.queue);
      await queue.makeReady('a1', 'a2');
      const before = await queue.queue.find('a2');
      const claimedAt = await queue.queue.now();
      expect(await handleNow(queue)).toEqual(['a1']);
      const after = await queue.queue.find('a2');
      expect(after.state).toBe('delayed');
      expect(after.dueAt).toBeGreaterThanOrEqual(Math.floor(claimedAt) + HOUR);
      expect(after.dueAt).toBeLessThanOrEqual((await queue.queue.now()) + HOUR + 1);
      await until(() => dueTimes.includes(after.dueAt));
      stop();
      expect(before.dueAt).toBeLessThan(claimedAt);
    });

    it('a message that has waited for the rate is claimed with the due time that it had', async () => {
      const queue = await open(1, SHORT);
      await queue.makeReady('a1', 'a2');
      const { dueAt } = await queue.queue.find('a2');
      await handleNow(queue);
      await queue.queue.transferSomething();
      const { messages } = await queue.store.claim({ token: queue.queue.newToken(), limit: 9, lease: HOUR });
      expect(messages).toMatchObject([{ id: 'a2', dueAt }]);
    });

    it('a message that waits for the rate can be cancelled and replaced, and neither rescheduled nor changed', async () => {
      const queue = await open(1, SHORT);
      await queue.makeReady('a1', 'a2', 'a3', 'a4');
      expect(await handleNow(queue)).toEqual(['a1']);
      const { body } = await queue.queue.find('a2');
      expect(await queue.store.reschedule('a2', { after: HOUR })).toBe(false);
      expect(await queue.store.change!('a2', { due: { after: HOUR }, from: body, to: body })).toBe('absent');
      expect(await queue.store.cancel('a2')).toBe(true);
      expect(await handleNow(queue)).toEqual([]);
      await queue.offer('a3', { after: HOUR }, { onDuplicate: 'replace' });
      expect(await handleNow(queue)).toEqual([]);
      expect(await handleNext(queue)).toEqual(['a4']);
      expect(await queue.store.cancel('a3')).toBe(true);
      await queue.queue.advance(SHORT);
      expect((await queue.queue.leftovers()).filter((key) => !key.includes(':rate:'))).toEqual([]);
    });

    it('a message that is not due can be rescheduled while its group waits for the rate', async () => {
      const queue = await open(1, HOUR);
      await queue.makeReady('a1', 'a2');
      await handleNow(queue);
      await queue.offer('a3', { after: HOUR });
      expect(await queue.store.reschedule('a3', { after: 2 * HOUR })).toBe(true);
    });

    it('counts every delivery: retries, and messages whose lease has expired', async () => {
      const queue = await open(2, HOUR);
      await queue.settle(await queue.begin('a1', 'a2'), { kind: 'retry', delay: 0 });
      await queue.queue.transferSomething();
      const [claim] = await queue.claim(1, SHORT_LEASE);
      await queue.queue.advance(SHORT_LEASE + 1);
      await queue.queue.transferSomething();
      expect(claim).toBeDefined();
      expect(await queue.take()).toEqual([]);
    });

    it('wakes nobody for messages that wait for the rate', async () => {
      const queue = await open(1, HOUR);
      await queue.makeReady('a1', 'a2', 'a3');
      await handleNow(queue);
      const signal = await queue.silentSignal();
      await queue.queue.transfer();
      expect(await queue.isWoken(signal)).toBe(false);
    });

    it('a group whose messages wait for the rate can be paused, and goes on in order once it is resumed', async () => {
      const queue = await open(1, SHORT);
      await queue.makeReady('a1', 'a2', 'a3');
      expect(await handleNow(queue)).toEqual(['a1']);
      await queue.store.setGroup!('a', { paused: true });
      expect(await handleNext(queue)).toEqual([]);
      await queue.store.setGroup!('a', { paused: false });
      const handled = await handleNow(queue);
      while (handled.length < 2) handled.push(...(await handleNext(queue)));
      expect(handled).toEqual(['a2', 'a3']);
    });

    it('a claim that another supersedes counts its messages once', async () => {
      const queue = await open(2, HOUR);
      await queue.makeReady('a1');
      const token = queue.queue.newToken();
      await queue.store.claim({ token, limit: 1, lease: HOUR });
      const again = await queue.store.claim({
        token: queue.queue.newToken(),
        supersedes: token,
        limit: 1,
        lease: HOUR,
      });
      expect(idsOf(again.messages)).toEqual(['a1']);
      await queue.offer('a2', { at: 0 });
      await queue.queue.transferSomething();
      const taken = await queue.take();
      expect(rules.concurrency === 1 ? [] : ['a2']).toEqual(taken);
    });
  });
}
