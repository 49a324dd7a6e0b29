import { describe, expect, it } from '@jest/globals';
import type { Outcome } from '../../../lib/store/consumer-store.js';
import type { DueTime } from '../../../lib/store/producer-store.js';
import { type ContractQueue, type ContractQueues, defined, HOUR, SHORT_LEASE } from '../contract-queue.js';

/** For stores that have followers. */
export function describeFollowers(queues: ContractQueues): void {
  const follow = (queue: ContractQueue, id: string, payload: string, due: DueTime = { after: HOUR }) =>
    queue.offer(id, due, { onDuplicate: 'follow', payload });
  const payloadOf = async (queue: ContractQueue, id: string) => queue.codec.decode((await queue.find(id)).body).payload;

  describe('followers', () => {
    it('an offer with onDuplicate follow creates a message if the id is free', async () => {
      const queue = await queues.open();
      expect(await follow(queue, 'a', 'new')).toMatchObject({ outcome: 'created' });
      expect(await queue.stateOf('a')).toBe('delayed');
    });

    it.each(['delayed', 'ready', 'dead'] as const)(
      'an offer with onDuplicate follow leaves a message that is %s unchanged',
      async (state) => {
        const queue = await queues.open();
        await queue.makeIn(state, 'a');
        const before = await queue.look('a');
        const { dueAt } = await queue.find('a');
        expect(await follow(queue, 'a', 'new')).toEqual({ outcome: 'kept', dueAt });
        expect(await queue.look('a')).toEqual(before);
        expect(await queue.store.clear()).toBe(1);
      },
    );

    it('a follower leaves its active message unchanged and does not count as a message', async () => {
      const queue = await queues.open({ maxMessages: 1 });
      await queue.makeActive(['a']);
      const before = await queue.look('a');
      const { dueAt } = await queue.find('a');
      expect(await follow(queue, 'a', 'new')).toEqual({ outcome: 'followed', dueAt });
      expect(await queue.look('a')).toEqual(before);
      expect(await queue.transfer()).toMatchObject({ moved: 0, ready: 0 });
    });

    it.each<Outcome>([{ kind: 'ack' }, { kind: 'dead', error: '{"e":1}' }])(
      'a follower replaces a message that ends with %j, and its delay and its attempts begin then',
      async (outcome) => {
        const queue = await queues.open();
        const [first] = await queue.makeActive(['a']);
        await queue.settle(first, { kind: 'retry', delay: 0 });
        await queue.transferSomething();
        const [claim] = await queue.claim();
        await follow(queue, 'a', 'new');
        await queue.advance(20);
        const before = Math.floor(await queue.now());
        expect(await queue.settle(claim, outcome)).toBe(true);

        const message = await queue.find('a');
        expect(message).toMatchObject({ state: 'delayed', failedAttempts: 0, leasedUntil: null, death: null });
        expect(await payloadOf(queue, 'a')).toBe('new');
        expect(message.offeredAt).toBeGreaterThanOrEqual(before);
        expect(message.dueAt).toBeGreaterThanOrEqual(before + HOUR);
        expect(message.dueAt).toBeLessThanOrEqual(Math.ceil(await queue.now()) + HOUR);
        expect((await queue.store.status()).counts).toEqual({ delayed: 1, ready: 0, active: 0, dead: 0 });
        expect(await queue.store.cancel('a')).toBe(true);
        expect(await queue.store.clear()).toBe(0);
      },
    );

    it('a follower that was offered for an instant falls due at that instant', async () => {
      const queue = await queues.open();
      const [claim] = await queue.makeActive(['a']);
      const at = Math.floor(await queue.now()) + HOUR;
      await follow(queue, 'a', 'new', { at });
      await queue.settle(claim, { kind: 'ack' });
      expect(await queue.find('a')).toMatchObject({ state: 'delayed', dueAt: at });
    });

    it('only the last of several followers counts', async () => {
      const queue = await queues.open();
      const [claim] = await queue.makeActive(['a']);
      for (const payload of ['second', 'third', 'fourth']) await follow(queue, 'a', payload);
      await queue.settle(claim, { kind: 'ack' });
      expect(await payloadOf(queue, 'a')).toBe('fourth');
      expect((await queue.store.status()).counts).toEqual({ delayed: 1, ready: 0, active: 0, dead: 0 });
      expect(await queue.store.cancel('a')).toBe(true);
      expect(await queue.stateOf('a')).toBeNull();
    });

    it.each<Outcome>([
      { kind: 'retry', delay: 0 },
      { kind: 'defer', delay: 0 },
      { kind: 'again', delay: 0 },
      { kind: 'release' },
    ])('a follower waits while its message is delivered again: %j', async (outcome) => {
      const queue = await queues.open();
      const [claim] = await queue.makeActive(['a']);
      await follow(queue, 'a', 'new');
      await queue.settle(claim, outcome);
      expect(await payloadOf(queue, 'a')).toBe('payload of a');
      if (outcome.kind !== 'release') await queue.transferSomething();
      const [next] = await queue.claim();
      expect(await payloadOf(queue, 'a')).toBe('payload of a');
      await queue.settle(next, { kind: 'ack' });
      expect(await payloadOf(queue, 'a')).toBe('new');
    });

    it('an expired lease keeps the follower, and the last expired lease releases it', async () => {
      const queue = await queues.open({ attempts: 2 });
      await queue.makeActive(['a'], SHORT_LEASE);
      await follow(queue, 'a', 'new');
      await queue.advance(SHORT_LEASE + 1);
      expect(await queue.transferSomething()).toMatchObject({ recovered: 1, deadLettered: [] });
      expect(await payloadOf(queue, 'a')).toBe('payload of a');
      const [late] = await queue.claim(1, SHORT_LEASE);
      await queue.advance(SHORT_LEASE + 1);
      const report = await queue.transferSomething();
      expect(report).toMatchObject({ recovered: 0, deadLettered: ['a'] });
      const { dueAt } = await queue.find('a');
      expect(report.nextAt).toBe(dueAt);
      expect(await queue.find('a')).toMatchObject({ state: 'delayed', failedAttempts: 0 });
      expect(await payloadOf(queue, 'a')).toBe('new');
      expect(await queue.dead()).toEqual([]);
      expect(await queue.settle(late, { kind: 'ack' })).toBe(false);
      expect(await payloadOf(queue, 'a')).toBe('new');
    });

    it('a late outcome releases no follower', async () => {
      const queue = await queues.open();
      const [late] = await queue.makeActive(['a'], SHORT_LEASE);
      await queue.advance(SHORT_LEASE + 1);
      await queue.transferSomething();
      const [claim] = await queue.claim();
      await follow(queue, 'a', 'new');
      expect(await queue.settle(late, { kind: 'ack' })).toBe(false);
      expect(await queue.settle(late, { kind: 'dead', error: '{}' })).toBe(false);
      expect(await queue.stateOf('a')).toBe('active');
      expect(await queue.settle(claim, { kind: 'ack' })).toBe(true);
      expect(await queue.settle(claim, { kind: 'ack' })).toBe(false);
      expect(await payloadOf(queue, 'a')).toBe('new');
    });

    it('one call settles messages with and without followers', async () => {
      const queue = await queues.open();
      await queue.makeReady('a', 'b', 'c', 'd', 'e');
      const claims = await queue.claim();
      for (const id of ['b', 'd', 'e']) await follow(queue, id, `after ${id}`);
      const outcomes: Outcome[] = [
        { kind: 'ack' },
        { kind: 'ack' },
        { kind: 'dead', error: '{"e":1}' },
        { kind: 'dead', error: '{"e":2}' },
        { kind: 'retry', delay: HOUR },
      ];
      await queue.store.settle(claims.map((claim, i) => ({ claim, outcome: outcomes[i]! })));
      expect(await queue.stateOf('a')).toBeNull();
      expect(await payloadOf(queue, 'b')).toBe('after b');
      expect(await queue.find('c')).toMatchObject({ state: 'dead', failedAttempts: 1 });
      expect(await queue.find('d')).toMatchObject({ state: 'delayed', failedAttempts: 0 });
      expect(await payloadOf(queue, 'd')).toBe('after d');
      expect(await queue.find('e')).toMatchObject({ state: 'delayed', failedAttempts: 1 });
      expect(await payloadOf(queue, 'e')).toBe('payload of e');
    });

    it.each(['a settlement', 'a transfer'])(
      'the release of a follower by %s is announced if it is due earliest',
      async (by) => {
        const queue = await queues.open({ attempts: 1 });
        const [claim] = await queue.makeActive(['a']);
        await follow(queue, 'a', 'new', { after: 50 });
        const announced: number[] = [];
        let listening = (): void => undefined;
        const ready = new Promise<void>((resolve) => (listening = resolve));
        const stop = queue.secondView.watchDue({
          onListening: listening,
          onEarlierDue: ({ dueAt }) => void announced.push(dueAt),
        });
        await ready;
        if (by === 'a settlement') await queue.settle(claim, { kind: 'ack' });
        else {
          await queue.store.extend([defined(claim)], 0);
          const announcer = { scheduler: 'any', movedAt: null };
          while ((await queue.store.transfer({ limit: 9, announcer })).deadLettered.length === 0)
            await queue.advance(1);
        }
        const { dueAt } = await queue.find('a');
        for (let i = 0; i < 200 && announced.length === 0; i++) await queue.advance(1);
        stop();
        expect(announced).toEqual([dueAt]);
      },
    );

    it('cancel removes the follower of an active message, which stays active', async () => {
      const queue = await queues.open();
      const [claim] = await queue.makeActive(['a']);
      await follow(queue, 'a', 'new');
      expect(await queue.store.cancel('a')).toBe(true);
      expect(await queue.store.cancel('a')).toBe(false);
      expect(await queue.settle(claim, { kind: 'ack' })).toBe(true);
      expect(await queue.stateOf('a')).toBeNull();
    });

    it('cancel removes a message that waits for its retry, together with its follower', async () => {
      const queue = await queues.open();
      const [claim] = await queue.makeActive(['a']);
      await follow(queue, 'a', 'new');
      await queue.settle(claim, { kind: 'retry', delay: HOUR });
      expect(await queue.store.cancel('a')).toBe(true);
      const [next] = await queue.makeActive(['a']);
      await queue.settle(next, { kind: 'ack' });
      expect(await queue.stateOf('a')).toBeNull();
    });

    it.each(['clear', 'replace'] as const)('%s removes the follower', async (by) => {
      const queue = await queues.open();
      await queue.makeActive(['a']);
      await follow(queue, 'a', 'new');
      if (by === 'clear') expect(await queue.store.clear()).toBe(1);
      else await queue.offer('a', { at: 0 }, { onDuplicate: 'replace', payload: 'replacement' });
      if (by === 'clear') await queue.makeReady('a');
      else await queue.transfer();
      await queue.settle((await queue.claim())[0], { kind: 'ack' });
      expect(await queue.stateOf('a')).toBeNull();
      expect(await queue.store.cancel('a')).toBe(false);
    });

    it('each offer in a call takes the earlier ones into account', async () => {
      const queue = await queues.open();
      const [claimA] = await queue.makeActive(['a']);
      const [claimB] = await queue.makeActive(['b']);
      const offer = (id: string, onDuplicate: 'follow' | 'replace' | 'keep', payload: string) => ({
        id,
        due: { after: HOUR },
        onDuplicate,
        body: queue.codec.encode({ type: '', payload, headers: {} }),
      });
      const receipts = await queue.store.offer([
        offer('a', 'follow', '1'),
        offer('a', 'follow', '2'),
        offer('b', 'follow', '3'),
        offer('b', 'replace', '4'),
        offer('b', 'follow', '5'),
        offer('c', 'follow', '6'),
        offer('c', 'follow', '7'),
        offer('a', 'keep', '8'),
      ]);
      const outcomes = ['followed', 'followed', 'followed', 'replaced', 'kept', 'created', 'kept', 'kept'];
      expect(receipts.map(({ outcome }) => outcome)).toEqual(outcomes);
      expect(await queue.settle(claimA, { kind: 'ack' })).toBe(true);
      expect(await queue.settle(claimB, { kind: 'ack' })).toBe(false);
      expect(await payloadOf(queue, 'a')).toBe('2');
      expect(await payloadOf(queue, 'b')).toBe('4');
      expect(await payloadOf(queue, 'c')).toBe('6');
      expect(await queue.store.cancel('b')).toBe(true);
      expect(await queue.stateOf('b')).toBeNull();
    });

    it('a follower can have any bytes as its body', async () => {
      const queue = await queues.open();
      const [claim] = await queue.makeActive(['a']);
      const body = Buffer.from([0x42, 0, 10, 13, 0xff, 43, 49, 10]);
      await queue.store.offer([{ id: 'a', due: { after: HOUR }, onDuplicate: 'follow', body }]);
      await queue.settle(claim, { kind: 'ack' });
      expect((await queue.find('a')).body).toEqual(body);
    });

    it('nothing is left once a message and its follower are handled', async () => {
      const queue = await queues.open();
      const [claim] = await queue.makeActive(['a']);
      await follow(queue, 'a', 'new', { at: 0 });
      await queue.settle(claim, { kind: 'ack' });
      await queue.transfer();
      const next = defined((await queue.claim())[0]);
      expect(await queue.settle(next, { kind: 'ack' })).toBe(true);
      expect(await queue.store.cancel('a')).toBe(false);
      expect((await queue.store.status()).counts).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
    });
  });
}
