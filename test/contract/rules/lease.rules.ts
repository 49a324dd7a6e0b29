import { describe, expect, it } from '@jest/globals';
import { LEASE_EXPIRED } from '../../../lib/store/consumer-store.js';
import { type ContractQueues, defined, HOUR, numberedIds, SHORT_LEASE } from '../contract-queue.js';

export function describeLeases(queues: ContractQueues): void {
  describe('leases', () => {
    it('a transfer leaves a message alone until its lease expires', async () => {
      const queue = await queues.open();
      const [claim] = await queue.makeActive(['a'], HOUR);
      expect(await queue.transfer()).toMatchObject({ recovered: 0, deadLettered: [] });
      expect(await queue.settle(claim, { kind: 'ack' })).toBe(true);
    });

    it('a message is never recovered before its lease expires', async () => {
      const queue = await queues.open();
      await queue.makeActive(['a'], SHORT_LEASE);
      const { leasedUntil } = await queue.find('a');
      let recovered: number;
      do {
        recovered = (await queue.transfer()).recovered;
        expect(recovered === 0 || (await queue.now()) >= defined(leasedUntil)).toBe(true);
        await queue.advance(1);
      } while (recovered === 0);
    });

    it('a message whose lease expires is ready again, with an attempt spent', async () => {
      const queue = await queues.open();
      await queue.makeActive(['a'], SHORT_LEASE);
      const { dueAt, offeredAt } = await queue.find('a');
      await queue.advance(SHORT_LEASE + 1);
      expect(await queue.transfer()).toMatchObject({ moved: 0, recovered: 1, deadLettered: [], ready: 1 });
      expect(await queue.find('a')).toMatchObject({
        state: 'ready',
        failedAttempts: 1,
        dueAt,
        offeredAt,
        leasedUntil: null,
      });
      const { messages } = await queue.store.claim({ token: 'again', limit: 1, lease: HOUR });
      expect(messages).toMatchObject([{ id: 'a', failedAttempts: 1 }]);
    });

    it('a message whose last lease expires becomes a dead letter', async () => {
      const queue = await queues.open({ attempts: 2 });
      await queue.makeActive(['a'], SHORT_LEASE);
      await queue.advance(SHORT_LEASE + 1);
      expect(await queue.transfer()).toMatchObject({ recovered: 1, deadLettered: [] });
      await queue.claim(1, SHORT_LEASE);
      await queue.advance(SHORT_LEASE + 1);
      expect(await queue.transfer()).toMatchObject({
        moved: 0,
        recovered: 0,
        deadLettered: ['a'],
        dropped: 0,
        ready: 0,
      });

      const letters = await queue.dead();
      expect(letters).toMatchObject([{ id: 'a', failedAttempts: 2 }]);
      expect(JSON.parse(defined(letters[0]?.death).error)).toEqual(LEASE_EXPIRED);
    });

    it('expired leases and failed handlers both count as attempts', async () => {
      const queue = await queues.open({ attempts: 2 });
      const [claim] = await queue.makeActive(['a']);
      await queue.settle(claim, { kind: 'retry', delay: 0 });
      await queue.transferSomething();
      await queue.claim(1, SHORT_LEASE);
      await queue.advance(SHORT_LEASE + 1);
      expect(await queue.transfer()).toMatchObject({ recovered: 0, deadLettered: ['a'] });
      expect(await queue.find('a')).toMatchObject({ state: 'dead', failedAttempts: 2 });
    });

    it('an extended lease holds its message longer', async () => {
      const queue = await queues.open();
      const [claim] = await queue.makeActive(['a'], SHORT_LEASE);
      const before = Math.floor(await queue.now());
      expect(await queue.store.extend([defined(claim)], HOUR)).toEqual([]);
      const { leasedUntil } = await queue.find('a');
      expect(leasedUntil).toBeGreaterThanOrEqual(before + HOUR);
      await queue.advance(SHORT_LEASE + 1);
      expect(await queue.transfer()).toMatchObject({ recovered: 0, deadLettered: [] });
      expect(await queue.find('a')).toMatchObject({ state: 'active', failedAttempts: 0 });
    });

    it('an extension applies to every named message that is still held', async () => {
      const queue = await queues.open();
      await queue.makeReady(...numberedIds(3));
      const claims = await queue.claim(3, SHORT_LEASE);
      const [first, second, third] = claims;
      await queue.settle(first, { kind: 'ack' });
      expect(await queue.store.extend(claims, HOUR)).toEqual([first]);
      await queue.advance(SHORT_LEASE + 1);
      expect(await queue.transfer()).toMatchObject({ recovered: 0, nextIn: expect.any(Number) });
      expect(await queue.settle(third, { kind: 'ack' })).toBe(true);
      expect(await queue.settle(second, { kind: 'ack' })).toBe(true);
      expect(await queue.transfer()).toMatchObject({ nextIn: null });
    });

    it('an extension makes the messages that it does not name ready again without spending an attempt', async () => {
      const queue = await queues.open();
      await queue.makeReady('a', 'b', 'c');
      const [, second] = await queue.claim(3, SHORT_LEASE);
      const signal = queue.openWakeSignal();
      expect(await queue.store.extend([defined(second)], HOUR)).toEqual([]);
      expect(await signal.wait(HOUR)).toBe(true);
      const { messages } = await queue.store.claim({ token: 'others', limit: 3, lease: HOUR });
      expect(messages.map(({ id, failedAttempts }) => [id, failedAttempts])).toEqual([
        ['a', 0],
        ['c', 0],
      ]);
      expect(await queue.stateOf('b')).toBe('active');
    });

    it('an expired lease returns only the messages that its claim still holds', async () => {
      const queue = await queues.open();
      await queue.makeReady(...numberedIds(4));
      const [first, second, third, fourth] = await queue.claim(4, SHORT_LEASE);
      await queue.settle(second, { kind: 'ack' });
      await queue.offer(defined(fourth).id, { after: 2 * HOUR }, { onDuplicate: 'replace' });
      await queue.advance(SHORT_LEASE + 1);
      expect(await queue.transfer()).toMatchObject({ recovered: 2, ready: 2 });
      const { messages } = await queue.store.claim({ token: 'again', limit: 4, lease: HOUR });
      expect(messages.map(({ id }) => id)).toEqual([defined(first).id, defined(third).id]);
    });

    it('an extension can shorten a lease', async () => {
      const queue = await queues.open();
      const [claim] = await queue.makeActive(['a'], HOUR);
      await queue.store.extend([defined(claim)], SHORT_LEASE);
      await queue.advance(SHORT_LEASE + 1);
      expect(await queue.transfer()).toMatchObject({ recovered: 1 });
    });

    it('a message can be extended or settled after its lease expires, until a transfer recovers it', async () => {
      const queue = await queues.open();
      const [a, b] = await queue.makeActive(['a', 'b']);
      await queue.store.extend([defined(a), defined(b)], SHORT_LEASE);
      await queue.advance(SHORT_LEASE + 1);
      expect(await queue.store.extend([defined(a)], HOUR)).toEqual([]);
      expect(await queue.settle(b, { kind: 'ack' })).toBe(true);
      expect(await queue.transfer()).toMatchObject({ recovered: 0, deadLettered: [] });
      expect(await queue.find('a')).toMatchObject({ state: 'active', failedAttempts: 0 });
    });

    it("an extension of a lost claim changes nothing and reports the claim's messages", async () => {
      const queue = await queues.open();
      const [held, settled, replaced, lost] = await queue.makeActive(['held', 'settled', 'replaced']);
      const [expired] = await queue.makeActive(['expired'], SHORT_LEASE);
      await queue.settle(settled, { kind: 'defer', delay: HOUR });
      await queue.offer('replaced', { after: HOUR }, { onDuplicate: 'replace' });
      await queue.advance(SHORT_LEASE + 1);
      await queue.transfer();
      expect(lost).toBeUndefined();

      const claims = [expired, held, settled, replaced].map(defined);
      const stranger = { id: 'held', token: 'of somebody else' };
      const before = await queue.look('expired', 'settled', 'replaced');
      const gone = await queue.store.extend([...claims, stranger, { id: 'nobody', token: 't' }], 2 * HOUR);
      expect(gone).toEqual([expired, settled, replaced, stranger, { id: 'nobody', token: 't' }]);
      expect(await queue.look('expired', 'settled', 'replaced')).toEqual(before);
      expect(await queue.store.extend([], HOUR)).toEqual([]);
    });

    it('a message that was replaced and claimed again is held only by its new claim', async () => {
      const queue = await queues.open();
      const [old] = await queue.makeActive(['a']);
      await queue.offer('a', { at: 0 }, { onDuplicate: 'replace' });
      await queue.transfer();
      const [claim] = await queue.claim(1, SHORT_LEASE);
      expect(await queue.store.extend([defined(old), defined(claim)], HOUR)).toEqual([old]);
      await queue.advance(SHORT_LEASE + 1);
      expect(await queue.transfer()).toMatchObject({ recovered: 0 });
      expect(await queue.settle(claim, { kind: 'ack' })).toBe(true);
    });

    it('a transfer recovers no more expired leases than its limit allows', async () => {
      const queue = await queues.open();
      await queue.makeReady(...numberedIds(5));
      await queue.claim(5, SHORT_LEASE);
      await queue.advance(SHORT_LEASE + 1);
      expect(await queue.transfer(2)).toMatchObject({ recovered: 2, more: true, ready: 2, nextIn: 0 });
      expect(await queue.transfer(2)).toMatchObject({ recovered: 2, more: true, ready: 4 });
      expect(await queue.transfer(2)).toMatchObject({ recovered: 1, more: false, ready: 5, nextIn: null });
    });
  });
}
