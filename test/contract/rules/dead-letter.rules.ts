import { describe, expect, it } from '@jest/globals';
import { type ContractQueues, defined, HOUR, numberedIds, SHORT_LEASE, SOME_TIME } from '../contract-queue.js';

export function describeDeadLetters(queues: ContractQueues): void {
  describe('dead letters', () => {
    it('dead letters are listed oldest first, page by page, each exactly once', async () => {
      const queue = await queues.open();
      await queue.makeDead('c', 'a', 'e', 'b', 'd');
      expect(await queue.pages('dead', 2)).toEqual([['c', 'a'], ['e', 'b'], ['d']]);
      expect(await queue.pages('dead', 5)).toEqual([['c', 'a', 'e', 'b', 'd']]);
      expect(await queue.pages('dead', 100)).toEqual([['c', 'a', 'e', 'b', 'd']]);
    });

    it.each([
      [true, 'J1'],
      [false, 'W1900000000000\nJ1'],
    ])('a redriven message forgets when it was first due only if asked to: unwrap %s', async (unwrap, expected) => {
      const queue = await queues.open();
      for (const id of ['a', 'b']) {
        const [claim] = await queue.makeActive([id]);
        const body = id === 'a' ? 'W1900000000000\nJ1' : 'J"W1900000000000\\n"';
        await queue.settle(claim, { kind: 'dead', error: 'x', body });
      }
      expect(await queue.store.redrive({ oldest: 9 }, { unwrap })).toBe(2);
      expect((await queue.find('a')).body.toString()).toBe(expected);
      expect((await queue.find('b')).body.toString()).toBe('J"W1900000000000\\n"');
    });

    it('a new queue has no dead letters', async () => {
      const { store } = await queues.open();
      expect(await store.list({ state: 'dead', limit: 10 })).toEqual({ messages: [], cursor: null });
    });

    it('messages that died in the same millisecond are each listed once', async () => {
      const queue = await queues.open();
      const ids = numberedIds(25);
      await queue.makeReady(...ids);
      const claims = await queue.claim();
      await queue.store.settle(claims.map((claim) => ({ claim, outcome: { kind: 'dead', error: 'x' } })));
      expect((await queue.pages('dead', 10)).flat()).toEqual(ids);
    });

    it('a cursor still works after the dead letters on both sides of it are gone', async () => {
      const queue = await queues.open();
      await queue.makeDead('a', 'b', 'c', 'd', 'e');
      const { cursor } = await queue.store.list({ state: 'dead', limit: 3 });
      await queue.store.discard({ id: 'a' });
      await queue.store.discard({ id: 'c' });
      await queue.store.redrive({ id: 'd' });
      const second = await queue.store.list({ state: 'dead', from: { cursor: defined(cursor) }, limit: 3 });
      expect(second.messages.map(({ id }) => id)).toEqual(['e']);
      expect(second.cursor).toBeNull();
    });

    it('only a dead letter is found with a time and a cause of death', async () => {
      const queue = await queues.open();
      const before = Math.floor(await queue.now());
      await queue.makeDead('a');
      const { death } = await queue.find('a');
      expect(death).toEqual({ at: SOME_TIME, error: 'error of a' });
      expect(death!.at).toBeGreaterThanOrEqual(before);
      expect(death!.at).toBeLessThanOrEqual(await queue.now());
      await queue.store.redrive({ id: 'a' });
      expect(await queue.find('a')).toMatchObject({ death: null });
      for (const state of ['delayed', 'ready', 'active'] as const) {
        await queue.makeIn(state, state);
        expect(await queue.find(state)).toMatchObject({ death: null });
      }
    });

    it('a redriven message is due at once and has all its attempts again', async () => {
      const queue = await queues.open({ attempts: 2 });
      await queue.makeDead('a', 'b');
      const { offeredAt } = await queue.find('a');
      const before = Math.floor(await queue.now());
      expect(await queue.store.redrive({ id: 'a' })).toBe(1);
      const message = await queue.find('a');
      expect(message).toMatchObject({ state: 'delayed', failedAttempts: 0, offeredAt });
      expect(message.dueAt).toBeGreaterThanOrEqual(before);
      expect(message.dueAt).toBeLessThanOrEqual(Math.ceil(await queue.now()));
      expect(await queue.store.redrive({ id: 'a' })).toBe(0);
      expect(await queue.store.redrive({ id: 'nobody' })).toBe(0);
      expect(await queue.stateOf('b')).toBe('dead');

      await queue.transferSomething();
      await queue.claim(1, SHORT_LEASE);
      await queue.advance(SHORT_LEASE + 1);
      expect(await queue.transfer()).toMatchObject({ recovered: 1, deadLettered: [] });
      expect(await queue.find('a')).toMatchObject({ state: 'ready', failedAttempts: 1 });
    });

    it('redriving a limited number of dead letters starts with the oldest', async () => {
      const queue = await queues.open();
      await queue.makeDead('c', 'a', 'b');
      expect(await queue.store.redrive({ oldest: 2 })).toBe(2);
      expect(await queue.pages('dead', 10)).toEqual([['b']]);
      expect(await queue.stateOf('c')).toBe('delayed');
      expect(await queue.store.redrive({ oldest: 2 })).toBe(1);
      expect(await queue.store.redrive({ oldest: 2 })).toBe(0);
      expect((await queue.store.status()).counts).toEqual({ delayed: 3, ready: 0, active: 0, dead: 0 });
    });

    it('a discarded message is gone, and its id is free', async () => {
      const queue = await queues.open();
      await queue.makeDead('d', 'a', 'b', 'c');
      expect(await queue.store.discard({ id: 'a' })).toBe(1);
      expect(await queue.store.discard({ id: 'a' })).toBe(0);
      expect(await queue.stateOf('a')).toBeNull();
      expect(await queue.offer('a', { after: HOUR })).toMatchObject({ outcome: 'created' });
      expect(await queue.find('a')).toMatchObject({ failedAttempts: 0 });

      expect(await queue.store.discard({ oldest: 2 })).toBe(2);
      expect(await queue.pages('dead', 10)).toEqual([['c']]);
      expect(await queue.store.discard({ oldest: 1000 })).toBe(1);
      expect(await queue.store.discard({ oldest: 1000 })).toBe(0);
    });

    it.each(['delayed', 'ready', 'active'] as const)(
      'redrive and discard leave a message that is %s unchanged',
      async (state) => {
        const queue = await queues.open();
        await queue.makeIn(state, 'a');
        const before = await queue.look('a');
        expect(await queue.store.redrive({ id: 'a' })).toBe(0);
        expect(await queue.store.discard({ id: 'a' })).toBe(0);
        expect(await queue.look('a')).toEqual(before);
      },
    );

    it('a new dead letter beyond maxDeadLetters drops the oldest, and settle reports the number dropped', async () => {
      const queue = await queues.open({ maxDeadLetters: 2 });
      await queue.makeDead('old', 'b');
      const [c] = await queue.makeActive(['c']);
      const report = await queue.store.settle([
        { claim: c ?? { id: '', token: '' }, outcome: { kind: 'dead', error: 'x' } },
      ]);
      expect(report).toEqual({ accepted: [true], dropped: 1 });
      expect(await queue.pages('dead', 10)).toEqual([['b', 'c']]);
      expect(await queue.stateOf('old')).toBeNull();
      expect(await queue.offer('old', { after: HOUR })).toMatchObject({ outcome: 'created' });
    });

    it('a dead letter whose body could not be read is never dropped, but counts towards maxDeadLetters', async () => {
      const queue = await queues.open({ maxDeadLetters: 2 });
      const unread = await queue.makeActive(['unread']);
      await queue.settle(unread[0], { kind: 'dead', error: JSON.stringify({ name: 'UnreadableBody', message: 'x' }) });
      await queue.makeDead('old', 'new');
      expect(await queue.pages('dead', 10)).toEqual([['unread', 'new']]);
      await queue.makeDead('newer');
      expect(await queue.pages('dead', 10)).toEqual([['unread', 'newer']]);
      expect(await queue.stateOf('new')).toBeNull();
    });

    it('a message that dies when its last lease expires counts towards maxDeadLetters', async () => {
      const queue = await queues.open({ maxDeadLetters: 1, attempts: 1 });
      await queue.makeDead('old');
      await queue.makeReady('a', 'b');
      await queue.claim(2, SHORT_LEASE);
      await queue.advance(SHORT_LEASE + 1);
      const { deadLettered, ...report } = await queue.transfer();
      expect([...deadLettered].sort()).toEqual(['a', 'b']);
      expect(report).toMatchObject({ recovered: 0, dropped: 2 });
      expect((await queue.store.status()).counts).toEqual({ delayed: 0, ready: 0, active: 0, dead: 1 });
      expect(await queue.stateOf('old')).toBeNull();
    });
  });
}
