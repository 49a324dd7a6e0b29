import { describe, expect, it } from '@jest/globals';
import type { ScannedEntry, ScannedId, ScannedPast } from '../../../lib/store/message-past.js';
import type { MessageStore } from '../../../lib/store/message-store.js';
import { type ContractQueue, type ContractQueues, HOUR, numberedIds } from '../contract-queue.js';

const RULES = { for: HOUR, max: 1000 };
const HISTORY = { ...RULES, payloads: true };
const BOTH = { idsFor: RULES, history: HISTORY };

async function all<Part extends ScannedId>(
  scan: (cursor?: string) => Promise<ScannedPast<Part>>,
): Promise<readonly Part[]> {
  const found: Part[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await scan(cursor);
    found.push(...page.found);
    ({ cursor } = page);
  }
  return found.sort((one, other) => one.handledAt - other.handledAt || (one.id < other.id ? -1 : 1));
}

const historyOf = (store: MessageStore) => all((cursor) => store.scanHistory!(cursor));
const idsOf = (store: MessageStore) => all((cursor) => store.scanKeptIds!(cursor));

/** `until` may be a millisecond later or earlier, because time passes while it is read. */
const withoutUntil = (found: readonly ScannedId[]) => found.map(({ until: _, ...rest }) => rest);

async function handle(queue: ContractQueue, ...ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const [claim] = await queue.makeActive([id]);
    const { dueAt, offeredAt } = await queue.find(id);
    const entry = { dueAt, offeredAt, lateness: 1, took: 2, attempt: 1, worker: { id: 'w', host: 'h', pid: 3 } };
    await queue.store.remember!([{ id, keptAs: id, entry }]);
    expect(await queue.settle(claim, { kind: 'ack' })).toBe(true);
    await queue.advance(2);
  }
}

const entryAt = (id: string, handledAt: number, until: number): ScannedEntry => ({
  ...{ id, handledAt, until, body: Buffer.from('J1') },
  entry: { dueAt: 1, offeredAt: 1, lateness: 0, took: 0, attempt: 1, worker: { id: 'w', host: 'h', pid: 1 } },
});

/** For stores that remember handled messages, keep their ids, and take in both of other stores. */
export function describeRestoringPast(queues: ContractQueues): void {
  describe('restored histories and kept ids', () => {
    it('have the same entries, with their bodies and times, and are ignored by offers as before', async () => {
      const [queue, target] = [await queues.open(BOTH), await queues.open(BOTH)];
      await handle(queue, 'a', 'b', 'c');
      const [history, ids] = [await historyOf(queue.store), await idsOf(queue.store)];
      expect(history.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
      expect(ids.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
      for (const { handledAt, until } of [...history, ...ids])
        expect(Math.abs(until - handledAt - HOUR)).toBeLessThan(3);
      for (const each of [...history].reverse()) expect(await target.store.restoreHandled!(each)).toBe('created');
      for (const each of [...ids].reverse()) expect(await target.store.restoreKeptId!(each)).toBe('created');
      expect(withoutUntil(await historyOf(target.store))).toEqual(withoutUntil(history));
      expect(withoutUntil(await idsOf(target.store))).toEqual(withoutUntil(ids));
      expect(await target.store.findHandled!('b')).toEqual(await queue.store.findHandled!('b'));
      expect((await target.store.list({ state: 'handled', limit: 9 })).messages).toEqual(
        (await queue.store.list({ state: 'handled', limit: 9 })).messages,
      );
      const receipt = await target.offer('b', { after: HOUR });
      expect(receipt).toEqual({ outcome: 'handled', dueAt: ids[1]!.handledAt });
    });

    it('are scanned completely in any number of pages', async () => {
      const queue = await queues.open(BOTH);
      const now = Math.floor(await queue.now());
      const ids = numberedIds(700);
      for (const [i, id] of ids.entries()) {
        // Several have the same time.
        const at = now - Math.floor(i / 100);
        await queue.store.restoreHandled!(entryAt(id, at, now + HOUR));
        await queue.store.restoreKeptId!({ id, handledAt: at, until: now + HOUR });
      }
      expect((await historyOf(queue.store)).map(({ id }) => id).sort()).toEqual([...ids].sort());
      expect((await idsOf(queue.store)).map(({ id }) => id).sort()).toEqual([...ids].sort());
    });

    it('are restored only once', async () => {
      const queue = await queues.open(BOTH);
      await handle(queue, 'a');
      const [[entry], [kept]] = [await historyOf(queue.store), await idsOf(queue.store)];
      expect(await queue.store.restoreHandled!(entry!)).toBe('kept');
      expect(await queue.store.restoreKeptId!(kept!)).toBe('kept');
      expect(await queue.store.restoreHandled!({ ...entry!, handledAt: entry!.handledAt - 1 })).toBe('kept');
      expect(await queue.store.restoreKeptId!({ ...kept!, handledAt: kept!.handledAt - 1 })).toBe('kept');
      expect(withoutUntil(await historyOf(queue.store))).toEqual(withoutUntil([entry!]));
      expect(withoutUntil(await idsOf(queue.store))).toEqual(withoutUntil([kept!]));
    });

    it('take the place of older ones with their ids', async () => {
      const queue = await queues.open(BOTH);
      const now = Math.floor(await queue.now());
      for (const at of [now - 1000, now - 10]) {
        expect(await queue.store.restoreHandled!(entryAt('a', at, now + HOUR))).toBe('created');
        expect(await queue.store.restoreKeptId!({ id: 'a', handledAt: at, until: now + HOUR })).toBe('created');
      }
      expect(await historyOf(queue.store)).toMatchObject([{ id: 'a', handledAt: now - 10 }]);
      expect(await idsOf(queue.store)).toMatchObject([{ id: 'a', handledAt: now - 10 }]);
    });

    it.each([
      ['their time is over', HOUR, -HOUR, -1],
      ["the queue's own time is over, which is shorter", 1000, -1001, HOUR],
    ])('are dropped if %s', async (_, length, handled, ends) => {
      const queue = await queues.open({ idsFor: { for: length, max: 9 }, history: { ...HISTORY, for: length } });
      const now = Math.floor(await queue.now());
      const [handledAt, until] = [now + handled, now + ends];
      expect(await queue.store.restoreHandled!(entryAt('a', handledAt, until))).toBe('dropped');
      expect(await queue.store.restoreKeptId!({ id: 'a', handledAt, until })).toBe('dropped');
      expect(await historyOf(queue.store)).toEqual([]);
      expect(await idsOf(queue.store)).toEqual([]);
    });

    it.each([
      ['oldest first', ['a', 'b', 'c', 'd'], ['created', 'created', 'created', 'created']],
      ['newest first', ['d', 'c', 'b', 'a'], ['created', 'created', 'dropped', 'dropped']],
    ])('keep only the newest ones of a queue that may have fewer (%s)', async (_, sorted, outcomes) => {
      const queue = await queues.open({ idsFor: { for: HOUR, max: 2 }, history: { ...HISTORY, max: 2 } });
      const now = Math.floor(await queue.now());
      for (const [place, id] of sorted.entries()) {
        const at = now - 100 + 'abcd'.indexOf(id);
        expect(await queue.store.restoreHandled!(entryAt(id, at, now + HOUR))).toBe(outcomes[place]);
        expect(await queue.store.restoreKeptId!({ id, handledAt: at, until: now + HOUR })).toBe(outcomes[place]);
      }
      expect((await historyOf(queue.store)).map(({ id }) => id)).toEqual(['c', 'd']);
      expect((await idsOf(queue.store)).map(({ id }) => id)).toEqual(['c', 'd']);
    });

    it('are written to a queue without the options, and end when they would have ended', async () => {
      const queue = await queues.open();
      const now = Math.floor(await queue.now());
      expect(await queue.store.restoreHandled!(entryAt('a', now, now + 200))).toBe('created');
      expect(await queue.store.restoreKeptId!({ id: 'a', handledAt: now, until: now + 200 })).toBe('created');
      expect(await historyOf(queue.store)).toHaveLength(1);
      expect(await idsOf(queue.store)).toHaveLength(1);
      expect((await queue.offer('a', { after: HOUR })).outcome).toBe('created');
      await queue.store.clear();
      await queue.store.restoreHandled!(entryAt('a', now, now + 200));
      await queue.advance(250);
      expect(await historyOf(queue.store)).toEqual([]);
      expect(await idsOf(queue.store)).toEqual([]);
      expect(await queue.store.findHandled!('a')).toBeNull();
      expect(await queue.leftovers()).toEqual([]);
    });

    it('do not end earlier because others with less time are restored after them', async () => {
      const queue = await queues.open(BOTH);
      const now = Math.floor(await queue.now());
      await queue.store.restoreHandled!(entryAt('a', now, now + HOUR));
      await queue.store.restoreKeptId!({ id: 'a', handledAt: now, until: now + HOUR });
      await queue.store.restoreHandled!(entryAt('b', now - 1, now + 100));
      await queue.store.restoreKeptId!({ id: 'b', handledAt: now - 1, until: now + 100 });
      await queue.advance(150);
      expect(await queue.store.findHandled!('a')).not.toBeNull();
      expect((await queue.offer('a', { after: HOUR })).outcome).toBe('handled');
    });
  });
}
