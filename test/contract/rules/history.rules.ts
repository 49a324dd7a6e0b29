import { describe, expect, it } from '@jest/globals';
import type { ClaimedMessage, HandledEntry, Handling } from '../../../lib/store/consumer-store.js';
import type { StoredMessage } from '../../../lib/store/admin-store.js';
import { type ContractQueue, type ContractQueues, defined, HOUR, SOME_TIME } from '../contract-queue.js';

const RULES = { for: HOUR, max: 1000, payloads: false };
const WITH_PAYLOADS = { ...RULES, payloads: true };

function entryOf(more: Partial<HandledEntry> = {}): HandledEntry {
  const worker = { id: 'w', host: 'h', pid: 7 };
  return { dueAt: 1000, offeredAt: 900, lateness: 5, took: 12, attempt: 2, worker, ...more };
}

function handlingOf(id: string, more: Partial<HandledEntry> = {}): Handling {
  return { id, keptAs: id, entry: entryOf(more) };
}

/** Makes messages active. Returns what a consumer knows of them. */
async function claimed(queue: ContractQueue, ids: readonly string[]): Promise<readonly ClaimedMessage[]> {
  await queue.makeReady(...ids);
  return (await queue.store.claim({ token: queue.newToken(), limit: 1000, lease: HOUR })).messages;
}

async function remember(queue: ContractQueue, ...handlings: readonly Handling[]): Promise<void> {
  await queue.store.remember!(handlings);
}

async function handledIn(queue: ContractQueue, limit = 1000): Promise<readonly StoredMessage[]> {
  return (await queue.store.list({ state: 'handled', limit })).messages;
}

const idsIn = async (queue: ContractQueue) => (await handledIn(queue)).map(({ id }) => id);

export function describeHistory(queues: ContractQueues): void {
  describe('history', () => {
    it('an entry is found and listed with all that was given, and the time by the clock of the store', async () => {
      const queue = await queues.open({ history: RULES });
      const before = Math.floor(await queue.now());
      const entry = entryOf({ type: 'mail', group: 'acme' });
      await remember(queue, { id: 'a', keptAs: 'a@1', entry });
      const found = await queue.secondView.findHandled!('a@1');
      expect(found).toMatchObject({
        ...{
          id: 'a@1',
          state: 'handled',
          dueAt: 1000,
          offeredAt: 900,
          failedAttempts: 1,
          leasedUntil: null,
          death: null,
        },
        handling: { ...entry, at: SOME_TIME },
      });
      expect(found!.handling!.at).toBeGreaterThanOrEqual(before);
      expect(found!.handling!.at).toBeLessThanOrEqual(await queue.now());
      expect(await handledIn(queue)).toEqual([found]);
      expect(await queue.store.findHandled!('a')).toBeNull();
    });

    it('a store without the option remembers nothing, and shows what another process remembers', async () => {
      const queue = await queues.open();
      await remember(queue, handlingOf('a'));
      expect(await idsIn(queue)).toEqual([]);
    });

    it('a later entry with the same id replaces the earlier one', async () => {
      const queue = await queues.open({ history: RULES });
      await remember(queue, handlingOf('a', { took: 1 }), handlingOf('b'));
      await queue.advance(2);
      await remember(queue, handlingOf('a', { took: 2 }));
      expect((await handledIn(queue)).map(({ id, handling }) => [id, handling!.took])).toEqual([['a', 2], ['b', 12]]); // prettier-ignore
    });

    it('pages list the newest first, and those of one instant by id', async () => {
      const queue = await queues.open({ history: RULES });
      for (const ids of [['b', 'a'], ['d', 'c'], ['e']]) {
        await remember(queue, ...ids.map((id) => handlingOf(id)));
        await queue.advance(2);
      }
      const all = ['e', 'c', 'd', 'a', 'b'];
      for (const limit of [1, 2, 3, 5, 100]) expect((await queue.pages('handled', limit)).flat()).toEqual(all);
      for (const offset of all.keys()) {
        const { messages } = await queue.store.list({ state: 'handled', from: { offset }, limit: 2 });
        expect(messages.map(({ id }) => id)).toEqual(all.slice(offset, offset + 2));
      }
    });

    it('entries that are added or dropped around the cursor change nothing about the rest', async () => {
      const queue = await queues.open({ history: RULES });
      for (const id of ['a', 'b', 'c', 'd']) {
        await remember(queue, handlingOf(id));
        await queue.advance(2);
      }
      const { cursor } = await queue.store.list({ state: 'handled', limit: 2 });
      await remember(queue, handlingOf('e'), handlingOf('c'));
      const rest = await queue.store.list({ state: 'handled', from: { cursor: defined(cursor) }, limit: 100 });
      expect(rest.messages.map(({ id }) => id)).toEqual(['b', 'a']);
      expect(rest.cursor).toBeNull();
    });

    it('a cursor of another state is refused', async () => {
      const { store } = await queues.open({ history: RULES });
      for (const cursor of ['dead:1:a', 'handled:x:a', 'handled']) {
        await expect(store.list({ state: 'handled', from: { cursor }, limit: 1 })).rejects.toMatchObject({
          code: 'INVALID_ARGUMENT',
        });
      }
    });

    it('the oldest entries beyond the maximum are dropped', async () => {
      const queue = await queues.open({ history: { ...RULES, max: 3 } });
      for (const id of ['a', 'b', 'c', 'd', 'e']) {
        await remember(queue, handlingOf(id));
        await queue.advance(2);
      }
      expect(await idsIn(queue)).toEqual(['e', 'd', 'c']);
      expect(await queue.store.findHandled!('b')).toBeNull();
    });

    it('entries that are too old are dropped when others are added, and all of them without', async () => {
      const queue = await queues.open({ history: { ...RULES, for: 1000 } });
      await remember(queue, handlingOf('a'));
      await queue.advance(700);
      await remember(queue, handlingOf('b'));
      await queue.advance(400);
      await remember(queue, handlingOf('c'));
      expect(await idsIn(queue)).toEqual(['c', 'b']);
      await queue.advance(1100);
      expect(await idsIn(queue)).toEqual([]);
      expect(await queue.store.findHandled!('c')).toBeNull();
      expect(await queue.leftovers()).toEqual([]);
    });

    it('entries that are too old are gone once half as many others were added', async () => {
      const queue = await queues.open({ history: { ...RULES, for: 1000 } });
      await remember(queue, ...['a', 'b', 'c', 'd', 'e'].map((id) => handlingOf(id)));
      await queue.advance(700);
      await remember(queue, handlingOf('f'));
      await queue.advance(400);
      for (const [id, old] of Object.entries({ g: 3, h: 1, i: 0 })) {
        await remember(queue, handlingOf(id));
        // The memory store drops all of them at once.
        expect((await idsIn(queue)).filter((each) => each < 'f').length).toBeLessThanOrEqual(old);
      }
    });

    it('the payload of a message is kept only if asked for', async () => {
      for (const [history, kept] of [
        [RULES, false],
        [WITH_PAYLOADS, true],
      ] as const) {
        const queue = await queues.open({ history });
        const [{ id, body, dueAt, offeredAt }] = (await claimed(queue, ['a'])) as [ClaimedMessage];
        await remember(queue, handlingOf(id, { dueAt, offeredAt }));
        // The store may have added the group to the body.
        const { body: found } = (await queue.store.findHandled!('a'))!;
        if (kept) expect(found.subarray(-body.length)).toEqual(body);
        else expect(found).toHaveLength(0);
      }
    });

    it('the payload of another message with the same id is not kept', async () => {
      const queue = await queues.open({ history: WITH_PAYLOADS });
      const [{ dueAt, offeredAt }] = (await claimed(queue, ['a'])) as [ClaimedMessage];
      await queue.advance(2);
      await queue.offer('a', { after: HOUR }, { onDuplicate: 'replace' });
      await remember(queue, handlingOf('a', { dueAt, offeredAt }), handlingOf('gone', { dueAt, offeredAt }));
      for (const { body } of await handledIn(queue)) expect(body).toHaveLength(0);
    });

    it('an entry that is sent again when its message is gone keeps its time and its payload', async () => {
      const queue = await queues.open({ history: WITH_PAYLOADS });
      const [{ dueAt, offeredAt }] = (await claimed(queue, ['a'])) as [ClaimedMessage];
      const handling = handlingOf('a', { dueAt, offeredAt });
      await remember(queue, handling);
      const found = await queue.store.findHandled!('a');
      await queue.advance(2);
      expect(await queue.store.abort('a')).toBe(true);
      await remember(queue, handling, handlingOf('b'));
      expect(await queue.store.findHandled!('a')).toEqual(found);
      await remember(queue, handling);
      expect(await idsIn(queue)).toEqual(['b', 'a']);
    });

    it('more messages than one call takes are all remembered, with their payloads', async () => {
      const queue = await queues.open({ history: WITH_PAYLOADS });
      const messages = await claimed(
        queue,
        Array.from({ length: 100 }, (_, i) => `m${i}`),
      );
      await remember(
        queue,
        ...messages.map(({ id, ...times }) => handlingOf(id, { dueAt: times.dueAt, offeredAt: times.offeredAt })),
      );
      const kept = await handledIn(queue);
      expect(kept).toHaveLength(100);
      for (const { body } of kept) expect(body.length).toBeGreaterThan(0);
    });

    it('the history counts as no message, and clear removes it', async () => {
      const queue = await queues.open({ history: RULES, maxMessages: 1 });
      await remember(queue, handlingOf('a'), handlingOf('b'));
      expect((await queue.store.status()).counts).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
      expect(await queue.offer('a', { after: HOUR })).toMatchObject({ outcome: 'created' });
      expect(await queue.store.cancel('a')).toBe(true);
      expect(await queue.store.cancel('b')).toBe(false);
      expect(await queue.store.discard({ oldest: 10 })).toBe(0);
      expect(await idsIn(queue)).toEqual(['a', 'b']);
      expect(await queue.store.clear()).toBe(0);
      expect(await idsIn(queue)).toEqual([]);
      expect(await queue.leftovers()).toEqual([]);
    });
  });
}
