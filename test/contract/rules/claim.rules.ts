import { describe, expect, it } from '@jest/globals';
import { type ContractQueues, HOUR, numberedIds } from '../contract-queue.js';

export function describeClaims(queues: ContractQueues): void {
  describe('claim', () => {
    it('takes the oldest ready messages under a lease, with all that a handler needs', async () => {
      const queue = await queues.open();
      await queue.makeReady('a', 'b', 'c');
      const before = Math.floor(await queue.now());
      const report = await queue.store.claim({ token: 't', limit: 2, lease: HOUR });
      const after = Math.ceil(await queue.now());

      expect(report).toMatchObject({ more: true, orphans: [] });
      expect(report.messages.map(({ id }) => id)).toEqual(['a', 'b']);
      for (const message of report.messages) {
        const { state, leasedUntil, ...found } = await queue.find(message.id);
        expect(message).toEqual(found);
        expect(state).toBe('active');
        expect(leasedUntil).toBeGreaterThanOrEqual(before + HOUR);
        expect(leasedUntil).toBeLessThanOrEqual(after + HOUR);
        expect(queue.store.codec.decode(message.body).payload).toBe(`payload of ${message.id}`);
      }
      expect(await queue.stateOf('c')).toBe('ready');
    });

    it('says that nothing remains when nothing does', async () => {
      const queue = await queues.open();
      const empty = { messages: [], more: false, orphans: [] };
      expect(await queue.store.claim({ token: 't1', limit: 5, lease: HOUR })).toEqual(empty);
      await queue.makeReady('a', 'b');
      expect(await queue.store.claim({ token: 't2', limit: 2, lease: HOUR })).toMatchObject({ more: false });
      expect(await queue.store.claim({ token: 't3', limit: 5, lease: HOUR })).toEqual(empty);
    });

    it('takes none at limit 0, and says whether there are any', async () => {
      const queue = await queues.open();
      expect(await queue.store.claim({ token: 't1', limit: 0, lease: HOUR })).toMatchObject({ more: false });
      await queue.makeReady('a');
      expect(await queue.store.claim({ token: 't2', limit: 0, lease: HOUR })).toEqual({
        messages: [],
        more: true,
        orphans: [],
      });
      expect(await queue.stateOf('a')).toBe('ready');
    });

    it('that is repeated because its answer got lost answers with what it took, and takes no others', async () => {
      const queue = await queues.open();
      await queue.makeReady('a', 'b', 'c', 'd');
      const claim = { token: 't', limit: 2, lease: HOUR };
      const lost = await queue.store.claim(claim);
      await queue.store.settle([{ claim: { id: 'b', token: 't' }, outcome: { kind: 'ack' } }]);

      const again = await queue.secondView.claim({ ...claim, repeated: true });
      expect(again).toEqual({ messages: [lost.messages[0]], more: true, orphans: [] });
      expect((await queue.store.status()).counts).toMatchObject({ ready: 2, active: 1 });
    });

    it('that is repeated although the first never happened takes messages as any other', async () => {
      const queue = await queues.open();
      await queue.makeReady('a', 'b');
      const report = await queue.store.claim({ token: 't', limit: 1, lease: HOUR, repeated: true });
      expect(report.messages.map(({ id }) => id)).toEqual(['a']);
      expect((await queue.store.status()).counts).toMatchObject({ ready: 1, active: 1 });
    });

    it('takes none that is delayed, however overdue', async () => {
      const queue = await queues.open();
      await queue.offerDue('a');
      expect(await queue.claim()).toEqual([]);
    });

    it('gives each message to one claim when many ask at the same time', async () => {
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

    it('takes a thousand at once, as do all other calls', async () => {
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
      expect((await queue.store.listDead({ cursor: undefined, limit: 1000 })).letters).toHaveLength(1000);
      expect(await queue.store.redrive({ oldest: 1000 })).toBe(1000);

      await queue.transferSomething();
      const again = await queue.claim(1000);
      const acks = await queue.store.settle(again.map((claim) => ({ claim, outcome: { kind: 'ack' } })));
      expect(acks.accepted.filter(Boolean)).toHaveLength(1000);
      expect((await queue.store.status()).counts).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
    });
  });
}
