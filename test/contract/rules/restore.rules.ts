import { describe, expect, it } from '@jest/globals';
import type { ScannedMessage } from '../../../lib/store/message-past.js';
import type { MessageStore } from '../../../lib/store/message-store.js';
import type { Offer, OfferReceipt } from '../../../lib/store/producer-store.js';
import { groupOf } from '../../../lib/message/codec/body-forms.js';
import { ContractQueues, defined, HOUR, numberedIds, type OpenQueue } from '../contract-queue.js';
import { GroupedQueue } from '../grouped-queue.js';

/** In an order in which no claim takes a message that must stay ready. */
const STATES = ['dead', 'active', 'ready', 'delayed'] as const;

async function scanAll(store: MessageStore): Promise<ScannedMessage[]> {
  const found: ScannedMessage[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await store.scan!(cursor);
    found.push(...page.messages);
    ({ cursor } = page);
  }
  return found.sort((one, other) => (one.id < other.id ? -1 : 1));
}

function offerOf({ id, dueAt, body, ...past }: ScannedMessage, onDuplicate: Offer['onDuplicate'] = 'keep'): Offer {
  const group = groupOf(body);
  return { id, due: { at: dueAt }, onDuplicate, body, past, ...(group !== undefined && { group }) };
}

async function restore(store: MessageStore, messages: readonly ScannedMessage[]): Promise<OfferReceipt[]> {
  return store.offer(messages.map((message) => offerOf(message)));
}

/** What is restored of a message: not its state, because a message that is not dead becomes a delayed one. */
function restored(messages: readonly ScannedMessage[]) {
  return messages.map(({ state, rank: _, ...rest }) => ({ ...rest, isDead: state === 'dead' }));
}

/** For stores that can be read as a whole and take in messages of other stores. */
export function describeRestoring(queues: ContractQueues): void {
  describe('scans and restored messages', () => {
    it('a scan returns each message once, with its state, in any number of pages', async () => {
      const queue = await queues.open();
      const ids = numberedIds(1500);
      for (let first = 0; first < ids.length; first += 500) {
        const body = queue.codec.encode({ type: '', payload: 'x'.repeat(100), headers: {} });
        const offers = ids.slice(first, first + 500);
        await queue.store.offer(offers.map((id) => ({ id, due: { after: HOUR }, onDuplicate: 'reject', body })));
      }
      for (const state of STATES.slice(0, 3)) await queue.makeIn(state, state);
      const found = await scanAll(queue.store);
      expect(found.map(({ id }) => id)).toEqual([...ids, 'ready', 'active', 'dead'].sort());
      const states = found.filter(({ state }) => state !== 'delayed').map(({ id, state }) => [id, state]);
      expect(states.every(([id, state]) => id === state)).toBe(true);
      expect(states).toHaveLength(3);
    });

    it('a message in any state is restored with its attempts, times, error and body', async () => {
      const [queue, target] = [await queues.open(), await queues.open()];
      const [claim] = await queue.makeActive(['failed']);
      await queue.settle(claim, { kind: 'retry', delay: HOUR });
      for (const state of STATES) await queue.makeIn(state, state);
      const before = await scanAll(queue.store);
      expect(before.find(({ id }) => id === 'failed')).toMatchObject({ failedAttempts: 1, state: 'delayed' });
      expect(before.find(({ id }) => id === 'dead')).toMatchObject({ death: { error: 'error of dead' } });
      const receipts = await restore(target.store, before);
      expect(receipts.map(({ outcome }) => outcome)).toEqual(before.map(() => 'created'));
      expect((await target.store.status()).counts).toEqual({ delayed: 4, ready: 0, active: 0, dead: 1 });
      expect(restored(await scanAll(target.store)).map(({ isHeld: _, ...rest }) => rest)).toEqual(
        restored(before).map(({ isHeld: _, ...rest }) => rest),
      );
      await target.transfer();
      expect(await target.stateOf('ready')).toBe('ready');
      expect(await target.store.redrive({ id: 'dead' })).toBe(1);
      expect(await target.store.clear()).toBe(5);
    });

    it('a restored message is announced if it is the earliest', async () => {
      const [queue, target] = [await queues.open(), await queues.open()];
      await target.offer('later', { after: 2 * HOUR });
      await queue.offer('a', { after: HOUR });
      const [message] = await scanAll(queue.store);
      let announced: number | undefined;
      const stop = target.store.watchDue({
        onEarlierDue: ({ dueAt }) => (announced = dueAt),
        onListening: () => undefined,
      });
      for (let tries = 0; announced === undefined && tries < 100; tries++) {
        await target.store.offer([offerOf(defined(message), 'replace')]);
        await target.store.catchUp?.();
        if (announced === undefined) await target.store.cancel('a');
      }
      stop();
      expect(announced).toBe(message!.dueAt);
    });

    it.each([
      ['keep', 'kept'],
      ['reject', 'rejected'],
    ] as const)('with onDuplicate %s, a message that is there in any state stays as it is', async (how, outcome) => {
      const queue = await queues.open();
      for (const state of STATES) await queue.makeIn(state, state);
      const before = await queue.look(...STATES);
      const messages = await scanAll(queue.store);
      const others = messages.map((message) => ({ ...message, offeredAt: 1, failedAttempts: 2, death: null }));
      const receipts = await queue.store.offer(others.map((message) => offerOf(message, how)));
      expect(receipts.map((receipt) => receipt.outcome)).toEqual(STATES.map(() => outcome));
      expect(await queue.look(...STATES)).toEqual(before);
    });

    it('with onDuplicate reject, the message itself stays as it is in any state, and is no duplicate', async () => {
      const queue = await queues.open();
      for (const state of STATES) await queue.makeIn(state, state);
      const before = await queue.look(...STATES);
      const earlier = (await scanAll(queue.store)).map((message) => ({ ...message, failedAttempts: 2, death: null }));
      const receipts = await queue.store.offer(earlier.map((message) => offerOf(message, 'reject')));
      expect(receipts.map((receipt) => receipt.outcome)).toEqual(STATES.map(() => 'kept'));
      expect(await queue.look(...STATES)).toEqual(before);
    });

    it('with onDuplicate reject, a message may be twice in a call, but another one with its id may not', async () => {
      const [queue, target] = [await queues.open(), await queues.open()];
      await queue.offer('a', { after: HOUR });
      const [message] = await scanAll(queue.store);
      const [same, other] = [
        { ...message!, failedAttempts: 2 },
        { ...message!, offeredAt: 1 },
      ];
      const receipts = await target.store.offer([message!, same, other, same].map((each) => offerOf(each, 'reject')));
      expect(receipts.map(({ outcome }) => outcome)).toEqual(['created', 'kept', 'rejected', 'kept']);
      expect(await target.find('a')).toMatchObject({ failedAttempts: 0, offeredAt: message!.offeredAt });
    });

    it('with onDuplicate replace, a message in any state becomes the restored one', async () => {
      const queue = await queues.open();
      let claim;
      for (const state of STATES) claim = (await queue.makeIn(state, state)) ?? claim;
      const messages = await scanAll(queue.store);
      const at = Math.floor(await queue.now()) + HOUR;
      const changed = messages.map((message) => ({ ...message, failedAttempts: 2, death: null, dueAt: at }));
      const receipts = await queue.store.offer(changed.map((message) => offerOf(message, 'replace')));
      expect(receipts.map(({ outcome }) => outcome)).toEqual(STATES.map(() => 'replaced'));
      for (const id of STATES)
        expect(await queue.find(id)).toMatchObject({ state: 'delayed', failedAttempts: 2, dueAt: at });
      expect(await queue.settle(claim, { kind: 'ack' })).toBe(false);
      expect(await queue.store.clear()).toBe(4);
    });

    it('of two messages with one id in a call, the first one stays', async () => {
      const [queue, target] = [await queues.open(), await queues.open()];
      await queue.offer('a', { after: HOUR });
      const [message] = await scanAll(queue.store);
      const twice = [message!, { ...message!, failedAttempts: 2 }];
      expect((await restore(target.store, twice)).map(({ outcome }) => outcome)).toEqual(['created', 'kept']);
      expect(await target.find('a')).toMatchObject({ failedAttempts: 0 });
    });

    it.each([{ after: HOUR }, { at: 4_000_000_000_000 }])(
      'a follower (%j) is restored with its message',
      async (due) => {
        const [queue, target] = [await queues.open(), await queues.open()];
        await queue.makeActive(['a']);
        await queue.offer('a', due, { onDuplicate: 'follow', payload: 'next' });
        const before = await scanAll(queue.store);
        expect(before).toMatchObject([{ state: 'active', follower: { due } }]);
        await restore(target.store, before);
        expect(restored(await scanAll(target.store))).toMatchObject([{ follower: before[0]!.follower }]);
        await target.transfer();
        const [claim] = await target.claim();
        await target.settle(claim, { kind: 'ack' });
        const next = await target.find('a');
        expect(next).toMatchObject({ state: 'delayed', failedAttempts: 0 });
        expect(target.codec.decode(next.body).payload).toBe('next');
        if ('at' in due) expect(next.dueAt).toBe(due.at);
      },
    );

    it('no more messages are restored than the queue may have', async () => {
      const [queue, target] = [await queues.open(), await queues.open({ maxMessages: 1 })];
      await queue.offer('a', { after: HOUR });
      await queue.offer('b', { after: HOUR });
      const receipts = await restore(target.store, await scanAll(queue.store));
      expect(receipts.map(({ outcome }) => outcome)).toEqual(['created', 'full']);
      expect(await target.store.clear()).toBe(1);
    });

    it('binary and empty bodies are restored byte for byte', async () => {
      const [queue, target] = [await queues.open(), await queues.open()];
      if (queue.hasBacklogs) return;
      const bodies = [Buffer.from([66, 0, 255, 10, 13, 128]), Buffer.from('J"\u2028é😀\\n"'), Buffer.alloc(0)];
      await queue.store.offer(
        bodies.map((body, i) => ({ id: `m${i}`, due: { after: HOUR }, onDuplicate: 'reject' as const, body })),
      );
      await restore(target.store, await scanAll(queue.store));
      for (const [i, body] of bodies.entries()) expect((await target.find(`m${i}`)).body.equals(body)).toBe(true);
    });
  });
}

/** For such stores whose messages have groups. */
export function describeRestoringGroups(name: string, openQueue: OpenQueue): void {
  const queues = new ContractQueues(openQueue);
  const rules = { concurrency: 1, onRetry: 'hold' } as const;
  const open = async () => new GroupedQueue(await queues.open({ groups: rules }));

  describe(`${name}: restored messages of groups`, () => {
    it.each(['delayed', 'ready'])(
      '%s messages of a group due at the same instant stay in offer order',
      async (state) => {
        const [queue, target] = [await open(), await open()];
        const at = Math.floor(await queue.queue.now()) + (state === 'delayed' ? HOUR : -HOUR);
        const ids = ['a4', 'a2', 'b1', 'a9', 'a1', 'a7'];
        for (const id of ids) await queue.offer(id, { at });
        if (state === 'ready') await queue.queue.transfer();
        const found = await scanAll(queue.store);
        expect(found.map((message) => message.state)).toEqual(ids.map(() => state));
        await restore(target.store, found.reverse());
        if (state === 'ready') {
          await target.queue.transfer();
          expect((await target.handleAll(3)).filter((id) => id !== 'b1')).toEqual(ids.filter((id) => id !== 'b1'));
        } else {
          const { messages } = await target.store.list({ state: 'delayed', limit: 9 });
          const ofGroup = messages.filter(({ id }) => id !== 'b1');
          expect(ofGroup.map(({ id }) => id)).toEqual(ids.filter((id) => id !== 'b1'));
        }
      },
    );

    it('a message that waits for a retry keeps its permit until it is gone', async () => {
      const [queue, target] = [await open(), await open()];
      await queue.beginHeld('a1', 'a2', 'a3');
      const found = await scanAll(queue.store);
      expect(found.map(({ isHeld }) => isHeld)).toEqual([true, false, false]);
      await restore(target.store, found);
      await target.queue.transfer();
      expect(await target.take()).toEqual([]);
      const again = await scanAll(target.store);
      expect(again.map(({ isHeld }) => isHeld)).toEqual([true, false, false]);
      expect(await target.store.cancel('a1')).toBe(true);
      expect(await target.handleAll(1)).toEqual(['a2', 'a3']);
      expect(await target.queue.leftovers()).toEqual([]);
    });

    it("messages that wait for their group's rate are due at once where they are restored, and have their permits", async () => {
      const rated = { concurrency: 4, onRetry: 'hold', rate: { max: 1, per: HOUR } } as const;
      const [queue, target] = [new GroupedQueue(await queues.open({ groups: rated })), await open()];
      await queue.makeReady('a1', 'a2', 'a3', 'a4');
      for (let i = 0; i < 3; i++) await queue.take();
      const found = await scanAll(queue.store);
      expect(found.find(({ isHeld }) => isHeld)).toBeDefined();
      expect(found.every(({ rank, dueAt }) => rank === undefined || Math.floor(rank) === dueAt)).toBe(true);
      await restore(target.store, found);
      await target.queue.transfer();
      expect((await target.handleAll(1)).sort()).toEqual(['a1', 'a2', 'a3', 'a4']);
      expect(await target.queue.leftovers()).toEqual([]);
    });

    it('a message that keeps its permit may be replaced by one of another group', async () => {
      const [queue, target] = [await open(), await open()];
      await queue.beginHeld('a1');
      const [held] = await scanAll(queue.store);
      await target.offer('a1', { after: HOUR }, { group: 'b' });
      await target.offer('b2', { after: HOUR });
      await target.store.offer([offerOf(held!, 'replace')]);
      await target.makeReady('a3', 'b3');
      expect(await target.take()).toEqual(['b3']);
      await target.store.clear();
      expect(await target.queue.leftovers()).toEqual([]);
    });
  });
}
