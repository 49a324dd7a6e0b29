import { describe, expect, it } from '@jest/globals';
import { MessageIdGenerator } from '../../../lib/message/message-id.js';
import { type ContractQueues, defined, HOUR, numberedIds } from '../contract-queue.js';

export function describeOffers(queues: ContractQueues): void {
  describe('offers', () => {
    it("an offered message is delayed and falls due after its delay, by the store's clock", async () => {
      const queue = await queues.open();
      const before = Math.floor(await queue.now());
      const { outcome, dueAt } = await queue.offer('a', { after: HOUR }, { payload: { total: 1 } });
      const after = Math.ceil(await queue.now());

      expect(outcome).toBe('created');
      expect(dueAt).toBeGreaterThanOrEqual(before + HOUR);
      expect(dueAt).toBeLessThanOrEqual(after + HOUR);
      const message = await queue.find('a');
      expect(message).toMatchObject({ id: 'a', state: 'delayed', failedAttempts: 0, dueAt, leasedUntil: null });
      expect(message.offeredAt).toBeGreaterThanOrEqual(before);
      expect(message.offeredAt).toBeLessThanOrEqual(after);
      expect(queue.codec.decode(message.body).payload).toEqual({ total: 1 });
    });

    it('an offer accepts a due time that is long past', async () => {
      const queue = await queues.open();
      const longAgo = Math.floor(await queue.now()) - 10 * HOUR;
      expect(await queue.offer('past', { at: longAgo })).toEqual({ outcome: 'created', dueAt: longAgo });
      expect(await queue.find('past')).toMatchObject({ state: 'delayed', dueAt: longAgo });
      expect(await queue.transfer()).toMatchObject({ moved: 1 });
    });

    it('an offer accepts a delay of ten years', async () => {
      const queue = await queues.open();
      const tenYears = 10 * 365 * 24 * HOUR;
      const { dueAt } = await queue.offer('far', { after: tenYears });
      expect(dueAt).toBeGreaterThanOrEqual(Math.floor(await queue.now()) + tenYears - HOUR);
      expect(await queue.transfer()).toMatchObject({ moved: 0, nextAt: dueAt });
    });

    it('receipts come in the order of the offers', async () => {
      const queue = await queues.open();
      const base = Math.floor(await queue.now()) + HOUR;
      const body = queue.codec.encode({ type: '', payload: 1, headers: {} });
      const instants = [base + 3, base + 1, base + 2];
      const receipts = await queue.store.offer(
        instants.map((at) => ({ id: `at ${at}`, due: { at }, onDuplicate: 'reject', body })),
      );
      expect(receipts.map(({ dueAt }) => dueAt)).toEqual(instants);
      expect(await queue.store.offer([])).toEqual([]);
    });

    it('maxMessages counts messages in every state, and a full queue accepts only duplicates', async () => {
      const queue = await queues.open({ maxMessages: 4 });
      await queue.makeDead('dead');
      await queue.makeActive(['active']);
      await queue.makeReady('ready');
      expect(await queue.offer('last', { after: HOUR })).toMatchObject({ outcome: 'created' });
      expect(await queue.offer('more', { after: HOUR })).toEqual({ outcome: 'full', dueAt: 0 });
      expect(await queue.stateOf('more')).toBeNull();

      expect(await queue.offer('last', { after: HOUR }, { onDuplicate: 'keep' })).toMatchObject({ outcome: 'kept' });
      expect(await queue.offer('last', { after: 1 }, { onDuplicate: 'replace' })).toMatchObject({
        outcome: 'replaced',
      });
      await queue.store.cancel('last');
      expect(await queue.offer('more', { after: HOUR })).toMatchObject({ outcome: 'created' });
    });

    it('maxMessages also applies within the offers of one call', async () => {
      const queue = await queues.open({ maxMessages: 2 });
      const body = queue.codec.encode({ type: '', payload: 1, headers: {} });
      const receipts = await queue.store.offer(
        ['a', 'a', 'b', 'c', 'b'].map((id) => ({ id, due: { after: HOUR }, onDuplicate: 'keep', body })),
      );
      expect(receipts.map(({ outcome }) => outcome)).toEqual(['created', 'kept', 'created', 'full', 'kept']);
    });

    it('messages with equal payloads stay separate', async () => {
      const queue = await queues.open();
      await queue.offer('a', { after: HOUR }, { payload: 'same' });
      await queue.offer('b', { after: HOUR }, { payload: 'same' });
      expect(await queue.store.cancel('a')).toBe(true);
      expect(await queue.stateOf('a')).toBeNull();
      expect(await queue.stateOf('b')).toBe('delayed');
    });
  });

  describe('order', () => {
    it('messages are claimed in the order of their due times, whatever order they were offered in', async () => {
      const queue = await queues.open();
      const base = Math.floor(await queue.now()) - HOUR;
      for (const offset of [5, 1, 4, 2, 3]) {
        await queue.offer(`${offset}`, { at: base + offset });
      }
      await queue.transfer();
      expect((await queue.claim()).map(({ id }) => id)).toEqual(['1', '2', '3', '4', '5']);
    });

    it('messages due in the same millisecond are claimed in byte order of their ids, or in offer order if the store keeps that', async () => {
      const queue = await queues.open();
      const at = Math.floor(await queue.now()) - HOUR;
      const ids = ['\u{1f600}', 'z', '-', '\uffee', 'a', 'Z', 'é', 'aa', '10', '9'];
      for (const id of ids) {
        await queue.offer(id, { at });
      }
      await queue.transfer();
      const byBytes = [...ids].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      expect((await queue.claim()).map(({ id }) => id)).toEqual(queue.keepsOrderOfOffers ? ids : byBytes);
    });

    it('messages with generated ids are claimed in offer order if they are due in the same millisecond', async () => {
      const queue = await queues.open();
      const at = Math.floor(await queue.now()) - HOUR;
      const generator = new MessageIdGenerator();
      const ids = numberedIds(50).map(() => generator.next());
      const body = queue.codec.encode({ type: '', payload: 1, headers: {} });
      await queue.store.offer(ids.map((id) => ({ id, due: { at }, onDuplicate: 'reject', body })));
      await queue.transfer();
      expect((await queue.claim()).map(({ id }) => id)).toEqual(ids);
    });
  });

  describe('cancel and reschedule', () => {
    it('a cancelled message never becomes ready, and its id is free', async () => {
      const queue = await queues.open();
      await queue.offerDue('a');
      expect(await queue.store.cancel('a')).toBe(true);
      expect(await queue.store.cancel('a')).toBe(false);
      expect(await queue.transfer()).toMatchObject({ moved: 0, ready: 0 });
      expect(await queue.offer('a', { after: HOUR })).toMatchObject({ outcome: 'created' });
    });

    it('a rescheduled message falls due at its new time and not at its old one', async () => {
      const queue = await queues.open();
      const now = Math.floor(await queue.now());
      await queue.offer('later', { at: now - 1000 });
      await queue.offer('sooner', { after: HOUR });
      expect(await queue.store.reschedule('later', { after: HOUR })).toBe(true);
      expect(await queue.store.reschedule('sooner', { at: now - 5 })).toBe(true);

      expect(await queue.transfer()).toMatchObject({ moved: 1, ready: 1 });
      expect(await queue.find('sooner')).toMatchObject({ state: 'ready', dueAt: now - 5 });
      const { state, dueAt } = await queue.find('later');
      expect(state).toBe('delayed');
      expect(dueAt).toBeGreaterThanOrEqual(now + HOUR);
      expect(await queue.store.status()).toMatchObject({ nextDue: dueAt });
    });

    it.each(['ready', 'active', 'dead'] as const)(
      'cancel and reschedule leave a message that is %s unchanged',
      async (state) => {
        const queue = await queues.open();
        await queue.makeIn(state, 'a');
        const before = await queue.look('a');
        expect(await queue.store.cancel('a')).toBe(false);
        expect(await queue.store.reschedule('a', { after: 1 })).toBe(false);
        expect(await queue.look('a')).toEqual(before);
      },
    );

    it('cancel, reschedule and find report an unknown id as missing', async () => {
      const { store } = await queues.open();
      expect(await store.cancel('nobody')).toBe(false);
      expect(await store.reschedule('nobody', { after: 1 })).toBe(false);
      expect(await store.find('nobody')).toBeNull();
    });

    it('for each message, either cancel or the transfer succeeds, and the caller learns which', async () => {
      const queue = await queues.open();
      const ids = numberedIds(200);
      await queue.offerDue(...ids);
      const transfers = queue.transferAll(7);
      const cancelled = await raceBackwards(ids, (id) => queue.secondView.cancel(id));
      expect((await transfers) + cancelled.size).toBe(ids.length);
      for (const id of ids) {
        expect([id, await queue.stateOf(id)]).toEqual([id, cancelled.has(id) ? null : 'ready']);
      }
    });

    it('for each message, either reschedule or the transfer succeeds, and the caller learns which', async () => {
      const queue = await queues.open();
      const ids = numberedIds(200);
      await queue.offerDue(...ids);
      const transfers = queue.transferAll(7);
      const rescheduled = await raceBackwards(ids, (id) => queue.secondView.reschedule(id, { after: HOUR }));
      expect((await transfers) + rescheduled.size).toBe(ids.length);
      for (const id of ids) {
        expect([id, await queue.stateOf(id)]).toEqual([id, rescheduled.has(id) ? 'delayed' : 'ready']);
      }
    });
  });
}

/** Starts with the last id, so that it meets the transfer, which starts with the first, in the middle. */
async function raceBackwards(ids: readonly string[], win: (id: string) => Promise<boolean>): Promise<Set<string>> {
  const won = new Set<string>();
  for (let end = ids.length; end > 0; end -= 10) {
    const some = ids.slice(Math.max(0, end - 10), end);
    const outcomes = await Promise.all(some.map((id) => win(id)));
    some.forEach((id, index) => {
      if (defined(outcomes[index])) {
        won.add(id);
      }
    });
  }
  return won;
}
