import { describe, expect, it } from '@jest/globals';
import { type ContractQueues, defined, HOUR, numberedIds, SOME_TIME } from '../contract-queue.js';

export function describeClaims(queues: ContractQueues): void {
  describe('claims', () => {
    it('a claim leases the oldest ready messages and returns their complete records', async () => {
      const queue = await queues.open();
      await queue.makeReady('a', 'b', 'c');
      const before = Math.floor(await queue.now());
      const report = await queue.store.claim({ token: 't', limit: 2, lease: HOUR });
      const after = Math.ceil(await queue.now());

      expect(report).toMatchObject({ more: true, orphans: [] });
      expect(report.now).toBeGreaterThanOrEqual(before);
      expect(report.now).toBeLessThanOrEqual(after);
      expect(report.messages.map(({ id }) => id)).toEqual(['a', 'b']);
      for (const message of report.messages) {
        const { state, leasedUntil, death, ...found } = await queue.find(message.id);
        expect(message).toEqual(found);
        expect([state, death]).toEqual(['active', null]);
        expect(leasedUntil).toBeGreaterThanOrEqual(before + HOUR);
        expect(leasedUntil).toBeLessThanOrEqual(after + HOUR);
        expect(queue.codec.decode(message.body).payload).toBe(`payload of ${message.id}`);
      }
      expect(await queue.stateOf('c')).toBe('ready');
    });

    it('a claim that leaves no ready message reports that there are no more', async () => {
      const queue = await queues.open();
      const empty = { messages: [], more: false, now: SOME_TIME, orphans: [] };
      expect(await queue.store.claim({ token: 't1', limit: 5, lease: HOUR })).toEqual(empty);
      await queue.makeReady('a', 'b');
      expect(await queue.store.claim({ token: 't2', limit: 2, lease: HOUR })).toMatchObject({ more: false });
      expect(await queue.store.claim({ token: 't3', limit: 5, lease: HOUR })).toEqual(empty);
    });

    it('a claim with limit 0 takes nothing and reports whether any messages are ready', async () => {
      const queue = await queues.open();
      expect(await queue.store.claim({ token: 't1', limit: 0, lease: HOUR })).toMatchObject({ more: false });
      await queue.makeReady('a');
      expect(await queue.store.claim({ token: 't2', limit: 0, lease: HOUR })).toEqual({
        messages: [],
        more: true,
        now: SOME_TIME,
        orphans: [],
      });
      expect(await queue.stateOf('a')).toBe('ready');
    });

    it('a claim stops at its byte limit but takes at least one message', async () => {
      const queue = await queues.open();
      const payload = 'x'.repeat(1000);
      const ids = numberedIds(30);
      for (const id of ids) await queue.offer(id, { at: 0 }, { payload });
      await queue.transfer();
      const claim = (token: string, maxBytes: number) => queue.store.claim({ token, limit: 25, maxBytes, lease: HOUR });
      const some = await claim('some', 20_500);
      expect(some.messages.map(({ id }) => id)).toEqual(ids.slice(0, 20));
      expect(some.more).toBe(true);
      expect((await claim('one', 1)).messages.map(({ id }) => id)).toEqual([ids[20]]);
      expect((await claim('rest', 1_000_000)).messages.map(({ id }) => id)).toEqual(ids.slice(21));
    });

    it('a claim that replaces a lost one takes over only the messages that the lost claim still holds', async () => {
      const queue = await queues.open();
      await queue.makeReady('a', 'b', 'c', 'd');
      const claim = { limit: 2, lease: HOUR };
      const lost = await queue.store.claim({ ...claim, token: 'lost' });
      await queue.store.settle([{ claim: { id: 'b', token: 'lost' }, outcome: { kind: 'ack' } }]);

      const again = await queue.secondView.claim({ ...claim, token: 'again', supersedes: 'lost' });
      expect(again).toEqual({ messages: [lost.messages[0]], more: true, now: SOME_TIME, orphans: [] });
      expect((await queue.store.status()).counts).toMatchObject({ ready: 2, active: 1 });
      expect(await queue.settle({ id: 'a', token: 'lost' }, { kind: 'ack' })).toBe(false);
      expect(await queue.settle({ id: 'a', token: 'again' }, { kind: 'ack' })).toBe(true);
    });

    it('a claim takes messages as usual if the claim that it replaces never reached the store', async () => {
      const queue = await queues.open();
      await queue.makeReady('a', 'b');
      const report = await queue.store.claim({ token: 't', supersedes: 'lost', limit: 1, lease: HOUR });
      expect(report.messages.map(({ id }) => id)).toEqual(['a']);
      expect((await queue.store.status()).counts).toMatchObject({ ready: 1, active: 1 });
    });

    it('a claim that replaces a larger one returns the rest to the front of the ready messages, with no attempt spent', async () => {
      const queue = await queues.open();
      await queue.makeReady('a', 'b', 'c', 'd');
      const signal = queue.openWakeSignal();
      await queue.store.claim({ token: 'lost', limit: 3, lease: HOUR });
      const { messages, more } = await queue.store.claim({ token: 'less', supersedes: 'lost', limit: 1, lease: HOUR });
      expect([messages.map(({ id }) => id), more]).toEqual([['a'], true]);
      expect(await signal.wait(HOUR)).toBe(true);
      expect(await queue.store.claim({ token: 'none', supersedes: 'less', limit: 0, lease: HOUR })).toMatchObject({
        messages: [],
        more: true,
      });
      const others = await queue.store.claim({ token: 'others', limit: 4, lease: HOUR });
      expect(others.messages.map(({ id, failedAttempts }) => [id, failedAttempts])).toEqual([
        ['a', 0],
        ['b', 0],
        ['c', 0],
        ['d', 0],
      ]);
    });

    it('a claim that arrives after its replacement takes nothing, even once the replacement is settled', async () => {
      const queue = await queues.open();
      await queue.makeReady('a', 'b', 'c');
      const [a] = (await queue.store.claim({ token: 'again', supersedes: 'late', limit: 1, lease: HOUR })).messages;
      const late = () => queue.secondView.claim({ token: 'late', limit: 2, lease: HOUR });
      expect(await late()).toEqual({ messages: [], more: true, now: SOME_TIME, orphans: [] });
      expect(await queue.settle({ id: defined(a).id, token: 'again' }, { kind: 'ack' })).toBe(true);
      expect(await late()).toEqual({ messages: [], more: true, now: SOME_TIME, orphans: [] });
      expect((await queue.store.status()).counts).toMatchObject({ ready: 2, active: 0 });
    });

    it('a claim that arrives after its replacement releases the messages that it was meant to take over', async () => {
      const queue = await queues.open();
      await queue.makeReady('a', 'b');
      await queue.store.claim({ token: 'first', limit: 2, lease: HOUR });
      await queue.store.claim({ token: 'third', supersedes: 'second', limit: 0, lease: HOUR });
      const late = await queue.secondView.claim({ token: 'second', supersedes: 'first', limit: 2, lease: HOUR });
      expect(late).toEqual({ messages: [], more: true, now: SOME_TIME, orphans: [] });
      expect((await queue.store.status()).counts).toMatchObject({ ready: 2, active: 0 });
    });

    it('a claim that arrives twice takes messages only once', async () => {
      const queue = await queues.open();
      await queue.makeReady('a', 'b');
      const claim = { token: 't', limit: 1, lease: HOUR };
      expect((await queue.store.claim(claim)).messages).toHaveLength(1);
      expect(await queue.store.claim(claim)).toEqual({ messages: [], more: true, now: SOME_TIME, orphans: [] });
    });

    it('a claim never takes a delayed message, however overdue it is', async () => {
      const queue = await queues.open();
      await queue.offerDue('a');
      expect(await queue.claim()).toEqual([]);
    });

    it('concurrent claims never share a message', async () => {
      const queue = await queues.open();
      const ids = numberedIds(100);
      await queue.makeReady(...ids);
      const claims = await Promise.all(
        Array.from({ length: 30 }, (_, index) =>
          queue.claim(7, HOUR, index % 2 === 0 ? queue.store : queue.secondView),
        ),
      );
      const claimed = claims.flat().map(({ id }) => id);
      expect(claimed.sort()).toEqual(ids);
      expect((await queue.store.status()).counts).toEqual({ delayed: 0, ready: 0, active: 100, dead: 0 });
    });

    it('one call can transfer, claim, extend, settle, list or redrive a thousand messages', async () => {
      const queue = await queues.open();
      const ids = numberedIds(1000);
      await queue.offerDue(...ids);
      expect(await queue.transfer(1000)).toMatchObject({ moved: 1000, ready: 1000 });
      const claims = await queue.claim(1000);
      expect(claims.map(({ id }) => id)).toEqual(ids);
      expect(await queue.store.extend(claims, HOUR)).toEqual([]);

      const dead = await queue.store.settle(
        claims.map((claim) => ({ claim, outcome: { kind: 'dead', error: 'all of them' } })),
      );
      expect(dead.accepted).toHaveLength(1000);
      expect(dead.accepted.every(Boolean)).toBe(true);
      expect(await queue.dead()).toHaveLength(1000);
      expect(await queue.store.redrive({ oldest: 1000 })).toBe(1000);

      await queue.transferSomething();
      const again = await queue.claim(1000);
      const acks = await queue.store.settle(again.map((claim) => ({ claim, outcome: { kind: 'ack' } })));
      expect(acks.accepted.filter(Boolean)).toHaveLength(1000);
      expect((await queue.store.status()).counts).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
    });
  });
}
