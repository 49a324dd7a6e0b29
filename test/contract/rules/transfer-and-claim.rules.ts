import { describe, expect, it } from '@jest/globals';
import type { Announcer } from '../../../lib/store/consumer-store.js';
import { until } from '../../support/until.js';
import { type ContractQueue, type ContractQueues, defined, HOUR, SHORT_LEASE, SOME_TIME } from '../contract-queue.js';
import { listen } from '../listen.js';

/** The rules for stores whose transfers can claim. */
export function describeClaimingTransfers(queues: ContractQueues): void {
  describe('transfers that claim', () => {
    it('due messages are leased at once, earliest first, with their complete records', async () => {
      const queue = await queues.open();
      await queue.offerDue('a', 'b');
      await queue.offer('later', { after: HOUR });
      const before = Math.floor(await queue.now());
      const { report, claimed } = await granted(queue, 't', { limit: 5 });

      expect(report).toMatchObject({ moved: 2, recovered: 0, deadLettered: [], dropped: 0, more: false, ready: 0 });
      expect(claimed).toMatchObject({ more: false, orphans: [] });
      expect(claimed.now).toBeGreaterThanOrEqual(before);
      expect(claimed.messages.map(({ id }) => id)).toEqual(['a', 'b']);
      for (const message of claimed.messages) {
        const { state, leasedUntil, death, ...found } = await queue.find(message.id);
        expect(message).toEqual(found);
        expect([state, death]).toEqual(['active', null]);
        expect(leasedUntil).toBeGreaterThanOrEqual(before + HOUR);
      }
      expect((await queue.store.status()).counts).toEqual({ delayed: 1, ready: 0, active: 2, dead: 0 });
      expect(await queue.settle({ id: 'a', token: 't' }, { kind: 'ack' })).toBe(true);
    });

    it('a message is never claimed before it is due', async () => {
      const queue = await queues.open();
      const { dueAt } = await queue.offer('a', { after: 50 });
      for (let attempt = 0; ; attempt++) {
        const { report, claimed } = await granted(queue, `t${attempt}`);
        if (claimed.messages.length === 0) {
          expect(report).toMatchObject({ moved: 0, nextAt: dueAt });
          await queue.advance(1);
        } else return expect(claimed.now).toBeGreaterThanOrEqual(dueAt);
      }
    });

    it('due messages beyond the limit stay delayed, and the report says that there are more', async () => {
      const queue = await queues.open();
      await queue.offerDue('a', 'b', 'c');
      const first = await granted(queue, 't1', { limit: 2 });
      expect(first.claimed.messages.map(({ id }) => id)).toEqual(['a', 'b']);
      expect(first.report).toMatchObject({ moved: 2, more: true });
      const one = await granted(queue, 't2', { limit: 1 });
      expect(one.claimed.messages.map(({ id }) => id)).toEqual(['c']);
      expect(one.report).toMatchObject({ moved: 1, more: false });
    });

    it('the byte limit applies, but at least one message is claimed', async () => {
      const queue = await queues.open();
      const payload = 'x'.repeat(1000);
      for (const id of ['a', 'b', 'c']) await queue.offer(id, { at: 0 }, { payload });
      const some = await granted(queue, 't1', { maxBytes: 2500 });
      expect(some.claimed.messages.map(({ id }) => id)).toEqual(['a', 'b']);
      expect(some.report.more).toBe(true);
      const one = await granted(queue, 't2', { maxBytes: 1 });
      expect(one.claimed.messages.map(({ id }) => id)).toEqual(['c']);
    });

    it('the report gives the end of the new lease as the next instant, unless another instant is earlier', async () => {
      const queue = await queues.open();
      await queue.offerDue('a');
      const { report } = await granted(queue, 't', { lease: 5000 });
      expect(report.nextIn).toBeGreaterThan(4900);
      expect(report.nextIn).toBeLessThanOrEqual(5001);
      expect(report.nextAt).toBe((await queue.find('a')).leasedUntil);
      const { dueAt } = await queue.offer('sooner', { after: 1000 });
      expect((await granted(queue, 'u')).report).toMatchObject({ moved: 0, nextAt: dueAt });
    });

    it('watchers learn of the transfer, with the end of its lease as the next instant', async () => {
      const queue = await queues.open();
      const { transfers, stop } = await listen(queue, queue.secondView);
      await granted(queue, 't1', {}, { scheduler: 'idle', movedAt: null });
      await queue.offerDue('a');
      await granted(queue, 't2');
      const { report } = await granted(queue, 't3', {}, { scheduler: 'idle', movedAt: 5.25 });
      await queue.offerDue('b');
      const { report: mover } = await granted(queue, 't4', { lease: HOUR / 2 }, { scheduler: 'mover', movedAt: 5.25 });
      await until(() => transfers.length >= 3);
      expect(transfers).toEqual([
        { scheduler: 'idle', at: SOME_TIME, movedAt: null, ready: 0, nextAt: null, nextIn: null },
        { scheduler: 'idle', at: report.at, movedAt: 5.25, ready: 0, nextAt: report.nextAt, nextIn: report.nextIn },
        { scheduler: 'mover', at: mover.at, movedAt: mover.at, ready: 0, nextAt: mover.nextAt, nextIn: mover.nextIn },
      ]);
      stop();
    });

    it('watchers learn nothing if the call changes nothing', async () => {
      const queue = await queues.open();
      const { transfers, stop } = await listen(queue);
      await queue.makeReady('a');
      expect(await call(queue.store, 't', {}, { scheduler: 's', movedAt: null })).toBeUndefined();
      await queue.store.transfer({ limit: 1, announcer: { scheduler: 'end', movedAt: null } });
      await until(() => transfers.length > 0);
      expect(transfers.map(({ scheduler }) => scheduler)).toEqual(['end']);
      stop();
    });

    it('a failed message is returned with its failed attempts', async () => {
      const queue = await queues.open();
      const [claim] = await queue.makeActive(['a']);
      await queue.settle(claim, { kind: 'retry', delay: 0 });
      await queue.advance(2);
      await queue.offerDue('b');
      const { messages } = (await granted(queue, 't')).claimed;
      expect(messages.map(({ id, failedAttempts }) => [id, failedAttempts]).sort()).toEqual([
        ['a', 1],
        ['b', 0],
      ]);
    });

    it('the messages of a lost response pass to the claim that replaces it', async () => {
      const queue = await queues.open();
      await queue.offerDue('a', 'b');
      const lost = await granted(queue, 'lost');
      const again = await queue.secondView.claim({ token: 'again', supersedes: 'lost', limit: 5, lease: HOUR });
      expect(again.messages).toEqual(lost.claimed.messages);
      expect(await queue.settle({ id: 'a', token: 'lost' }, { kind: 'ack' })).toBe(false);
      expect(await queue.settle({ id: 'a', token: 'again' }, { kind: 'ack' })).toBe(true);
    });

    it('a lease that expires spends an attempt, as with any claim', async () => {
      const queue = await queues.open();
      await queue.offerDue('a');
      await granted(queue, 't', { lease: SHORT_LEASE });
      expect(await queue.transferSomething()).toMatchObject({ recovered: 1, ready: 1 });
      expect(await queue.find('a')).toMatchObject({ failedAttempts: 1 });
    });

    describe('change nothing', () => {
      it('while a message is ready, because it comes first', async () => {
        const queue = await queues.open();
        await queue.makeReady('first');
        expect(await isRefused(queue, 'second')).toBe(true);
        expect(await queue.stateOf('first')).toBe('ready');
      });

      it('while an expired lease must be recovered', async () => {
        const queue = await queues.open();
        await queue.makeActive(['expired'], SHORT_LEASE);
        await queue.advance(SHORT_LEASE + 5);
        expect(await isRefused(queue, 'a')).toBe(true);
      });

      it('while the queue is paused', async () => {
        const queue = await queues.open();
        await queue.store.pause();
        expect(await isRefused(queue, 'a')).toBe(true);
        await queue.store.resume();
        expect((await granted(queue, 't')).claimed.messages).toHaveLength(1);
      });

      it('for a queue with a rate', async () => {
        const queue = await queues.open({ rate: { max: 1000, per: 1000 } });
        expect(await isRefused(queue, 'a')).toBe(true);
      });

      it('for a token that has already taken messages or was replaced', async () => {
        const queue = await queues.open();
        await queue.offerDue('first');
        await granted(queue, 'used');
        await queue.store.claim({ token: 'successor', supersedes: 'ended', limit: 1, lease: HOUR });
        for (const token of ['used', 'ended']) {
          expect(await isRefused(queue, `for ${token}`, token)).toBe(true);
        }
      });
    });

    it('ten concurrent calls claim every message exactly once', async () => {
      const queue = await queues.open();
      await queue.offerDue(...Array.from({ length: 50 }, (_, i) => `m${i}`));
      const calls = Array.from({ length: 10 }, (_, i) =>
        call(i % 2 ? queue.store : queue.secondView, `t${i}`, { limit: 7 }),
      );
      const ids = (await Promise.all(calls)).flatMap((both) => both!.claimed.messages.map(({ id }) => id));
      expect(ids).toHaveLength(50);
      expect(new Set(ids).size).toBe(50);
    });
  });
}

/** The rules for such stores whose records may get lost. */
export function describeClaimingTransfersAfterLoss(queues: ContractQueues): void {
  it('a claiming transfer changes nothing if a due message has lost its record', async () => {
    const queue = await queues.open();
    await queue.offerDue('a', 'lost');
    await queue.lose('lost');
    expect(await isRefused(queue, 'b')).toBe(true);
    await queue.transfer();
    const { messages, orphans } = await queue.store.claim({ token: 'plain', limit: 5, lease: HOUR });
    expect([messages.map(({ id }) => id), orphans]).toEqual([['a', 'b'], ['lost']]);
  });
}

type Store = ContractQueue['store'];

function call(
  store: Store,
  token: string,
  claim: { limit?: number; lease?: number; maxBytes?: number } = {},
  announcer?: Announcer,
) {
  return store.transferAndClaim!({ token, limit: 10, lease: HOUR, ...claim }, announcer);
}

async function granted(queue: ContractQueue, ...[token, claim, announcer]: [string, object?, Announcer?]) {
  return defined(await call(queue.store, token, claim, announcer));
}

/** True if a new due message stays delayed and nothing else changes. */
async function isRefused(queue: ContractQueue, id: string, token = `token for ${id}`): Promise<boolean> {
  await queue.offerDue(id);
  const before = await queue.look(id);
  const both = await call(queue.store, token);
  expect(await queue.look(id)).toEqual(before);
  return both === undefined && (await queue.stateOf(id)) === 'delayed';
}
