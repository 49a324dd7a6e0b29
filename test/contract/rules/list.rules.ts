import { describe, expect, it } from '@jest/globals';
import type { MessageState } from '../../../lib/message/message.js';
import type { StoredPage } from '../../../lib/store/admin-store.js';
import { type ContractQueue, type ContractQueues, defined, HOUR, numberedIds } from '../contract-queue.js';

const STATES: readonly MessageState[] = ['delayed', 'ready', 'active', 'dead'];

/** So far in the future that nothing falls due. */
const FAR = 9e12;

export function describeLists(queues: ContractQueues): void {
  describe('lists', () => {
    it.each(STATES)(
      'a message that is %s is listed only in that state, and exactly as find() returns it',
      async (state) => {
        const queue = await queues.open();
        await queue.makeIn(state, 'a');
        const found = await queue.find('a');
        for (const each of STATES) {
          const messages = each === state ? [found] : [];
          expect(await queue.store.list({ state: each, limit: 10 })).toEqual({ messages, cursor: null });
        }
      },
    );

    it.each(STATES)('messages that are %s are each listed once and in order, whatever the page size', async (state) => {
      const queue = await queues.open();
      const ids = numberedIds(25);
      await makeMany(queue, state, ids);
      for (const limit of [1, 10, 25, 1000]) {
        const pages = await queue.pages(state, limit);
        expect(pages.flat()).toEqual(ids);
        expect(pages).toHaveLength(Math.ceil(ids.length / limit));
      }
    });

    it.each(STATES)(
      'a page of messages that are %s can start anywhere, and its cursor leads to the rest',
      async (state) => {
        const queue = await queues.open();
        const ids = numberedIds(12);
        await makeMany(queue, state, ids);
        for (const offset of [0, 1, 5, 11]) {
          const page = await queue.store.list({ state, from: { offset }, limit: 3 });
          expect(idsOf(page)).toEqual(ids.slice(offset, offset + 3));
          if (page.cursor === null) continue;
          const next = await queue.store.list({ state, from: { cursor: page.cursor }, limit: 1000 });
          expect(idsOf(next)).toEqual(ids.slice(offset + 3));
        }
        for (const offset of [12, 1e9]) {
          const nothing = { messages: [], cursor: null };
          expect(await queue.store.list({ state, from: { offset }, limit: 3 })).toEqual(nothing);
        }
      },
    );

    it('delayed messages are listed by due time, including those that wait for another attempt', async () => {
      const queue = await queues.open();
      const claims = await queue.makeActive(['retry b', 'retry d', 'retry f']);
      for (const [i, claim] of claims.entries())
        await queue.settle(claim, { kind: 'retry', delay: (2 + 2 * i) * HOUR });
      for (const [id, hours] of [['g', 7], ['e', 5], ['c', 3], ['a', 1]] as const) await queue.offer(id, { after: hours * HOUR }); // prettier-ignore
      const all = ['a', 'retry b', 'c', 'retry d', 'e', 'retry f', 'g'];
      for (const limit of [1, 2, 3, 100]) expect((await queue.pages('delayed', limit)).flat()).toEqual(all);
      for (const offset of all.keys()) {
        const page = await queue.store.list({ state: 'delayed', from: { offset }, limit: 2 });
        expect(idsOf(page)).toEqual(all.slice(offset, offset + 2));
      }
    });

    it('ready messages are listed in claim order, including released ones', async () => {
      const queue = await queues.open();
      const claims = await queue.makeActive(['a', 'b', 'c']);
      await queue.makeReady('d', 'e', 'f');
      await queue.store.settle(claims.map((claim) => ({ claim, outcome: { kind: 'release' as const } })));
      const all = ['a', 'b', 'c', 'd', 'e', 'f'];
      for (const limit of [1, 2, 4, 100]) expect((await queue.pages('ready', limit)).flat()).toEqual(all);
      for (const offset of all.keys()) {
        const page = await queue.store.list({ state: 'ready', from: { offset }, limit: 2 });
        expect(idsOf(page)).toEqual(all.slice(offset, offset + 2));
      }
      expect((await queue.claim()).map(({ id }) => id)).toEqual(all);
    });

    it('active messages are listed claim by claim, even after an extension', async () => {
      const queue = await queues.open();
      const claims = await queue.makeActive(['c', 'a', 'b']);
      expect((await queue.pages('active', 2)).flat()).toEqual(['c', 'a', 'b']);
      await queue.store.extend(claims.slice(0, 1), 2 * HOUR);
      expect((await queue.pages('active', 2)).flat()).toEqual(['c', 'a', 'b']);
    });

    it.each(STATES)(
      'every message that stays %s is listed once, even if others around the cursor are removed',
      async (state) => {
        const ids = numberedIds(30);
        for (const gone of [[9], [8, 9, 10], [0, 1, 9]].map((places) => places.map((place) => ids[place]!))) {
          const queue = await queues.open();
          await makeMany(queue, state, ids);
          const toTheTenth = await queue.store.list({ state, limit: 10 });
          const theTenth = await queue.store.list({ state, from: { offset: 9 }, limit: 1 });
          await queue.remove(state, gone);
          for (const { cursor } of [toTheTenth, theTenth]) {
            const rest = await queue.store.list({ state, from: { cursor: defined(cursor) }, limit: 1000 });
            expect(idsOf(rest)).toEqual(ids.slice(10).filter((id) => !gone.includes(id)));
          }
        }
      },
    );

    it('every message that stays ready is listed once, even if all before it are claimed', async () => {
      const queue = await queues.open();
      const ids = numberedIds(30);
      await makeMany(queue, 'ready', ids);
      const first = await queue.store.list({ state: 'ready', from: { offset: 5 }, limit: 10 });
      await queue.claim(18);
      // Messages in a backlog move.
      if (queue.hasBacklogs) return;
      const rest = await queue.store.list({ state: 'ready', from: { cursor: defined(first.cursor) }, limit: 1000 });
      expect(idsOf(rest)).toEqual(ids.slice(18));
    });

    it('a page of large messages ends early, and its cursor leads to the rest', async () => {
      const queue = await queues.open();
      const ids = numberedIds(8);
      const body = Buffer.alloc(300_000, 'x');
      await queue.store.offer(ids.map((id, i) => ({ id, due: { at: FAR + i }, onDuplicate: 'reject' as const, body })));
      expect((await queue.pages('delayed', 100)).map(({ length }) => length)).toEqual([3, 3, 2]);
      expect((await queue.pages('delayed', 100)).flat()).toEqual(ids);
    });

    it('a message larger than a page gets its own page', async () => {
      const queue = await queues.open();
      const body = Buffer.alloc(1_100_000, 'x');
      await queue.store.offer(['a', 'b'].map((id) => ({ id, due: { at: 0 }, onDuplicate: 'reject' as const, body })));
      expect(await queue.pages('delayed', 100)).toEqual([['a'], ['b']]);
      await queue.transfer();
      expect(await queue.pages('ready', 100)).toEqual([['a'], ['b']]);
    });

    it.each([
      'made up',
      '',
      'delayed',
      'delayed:1',
      'delayed:x:a',
      'ready:1:a',
      'dead:NaN:a',
      'dead:1:',
      'ready:1.5:a',
      'active:1:a',
      'nothing:1:a',
    ])('the cursor %p is rejected if no page of the state returned it', async (cursor) => {
      const { store } = await queues.open();
      for (const state of STATES) {
        if (cursor === `${state}:1:a`) continue;
        const refusal = { code: 'INVALID_ARGUMENT' };
        await expect(store.list({ state, from: { cursor }, limit: 3 })).rejects.toMatchObject(refusal);
      }
    });
  });
}

function idsOf({ messages }: StoredPage): string[] {
  return messages.map(({ id }) => id);
}

/** Brings new messages to a state, all of one instant; active ones in one claim. */
async function makeMany(queue: ContractQueue, state: MessageState, ids: readonly string[]): Promise<void> {
  const due = state === 'delayed' ? FAR : 1;
  const offers = ids.map((id) => ({ id, due: { at: due }, onDuplicate: 'reject' as const, body: `J"${id}"` }));
  await queue.store.offer(offers);
  if (state === 'delayed') return;
  await queue.transfer();
  if (state === 'ready') return;
  const claims = await queue.claim();
  if (state === 'active') return;
  await queue.store.settle(claims.map((claim) => ({ claim, outcome: { kind: 'dead' as const, error: '{}' } })));
}
