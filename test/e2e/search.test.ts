import { describe, expect, test } from '@jest/globals';
import { calendar } from '../../lib/calendar/index.js';
import type { DelayQueueProducer, MessageFilter, MessageSnapshot } from '../../lib/index.js';
import { STORES } from '../support/stores.js';
import { refusalOf } from '../support/refusal.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const HOUR = 3_600_000;

/** Follows the cursors of a search to its end. */
async function searchAll(producer: DelayQueueProducer, queue: string, filter: MessageFilter, limit?: number) {
  const messages: MessageSnapshot[] = [];
  const pages: number[] = [];
  let examined = 0;
  let cursor: string | undefined;
  do {
    const page = await producer.search(queue, filter, { cursor, limit });
    messages.push(...page.messages);
    pages.push(page.messages.length);
    examined += page.examined;
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined);
  return { ids: messages.map(({ id }) => id), messages, pages, examined };
}

describe.each(STORES)('a search in $store with partitions: $partitions', ({ store, partitions }) => {
  const scene = new Scene();

  async function start(handle?: (payload: unknown) => unknown) {
    const queue = scene.newQueue();
    const queues = { [queue]: { partitions, groups: { concurrency: 1 }, attempts: 1 } };
    const providers = handle ? [handlerOf(queue, handle)] : [];
    const { producer } = await scene.startApp({ module: { store, queues, calendar }, providers });
    return { queue, producer };
  }

  test('finds delayed messages by each property, and by several', async () => {
    const { queue, producer } = await start();
    const at = Date.now() + HOUR;
    const offer = (id: string, payload: unknown, options = {}) =>
      producer.offerAt(queue, payload, new Date(at + Number(id.slice(-1))), { id, ...options });
    await offer('order-1', { mail: 'Ada@Example.com' });
    await offer('order-2', { mail: 'bob@example.com' }, { type: 'remind' });
    await offer('order-3', 'a "quoted" text', { headers: { Tenant: 'ACME' } });
    await offer('bytes-4', Buffer.from('Grüße, ADA'));
    await offer('group-5', 5, { group: 'g1', type: 'remind' });
    await offer('group-6', 6, { group: 'g2' });
    await producer.repeat(queue, 'rule', { cron: '0 9 * * *' }, { mail: 'ada@example.com' });

    const find = async (filter: Omit<MessageFilter, 'state'>) =>
      (await searchAll(producer, queue, { state: 'delayed', ...filter })).ids.sort();
    expect(await find({})).toHaveLength(7);
    expect(await find({ idPrefix: 'order-' })).toEqual(['order-1', 'order-2', 'order-3']);
    expect(await find({ type: 'remind' })).toEqual(['group-5', 'order-2']);
    expect(await find({ type: '' })).toEqual(['bytes-4', 'group-6', 'order-1', 'order-3', 'rule']);
    expect(await find({ group: 'g1' })).toEqual(['group-5']);
    expect(await find({ text: 'ada' })).toEqual(['bytes-4', 'order-1', 'rule']);
    expect(await find({ text: 'GRÜSSE' })).toEqual([]);
    expect(await find({ text: 'GRÜßE' })).toEqual(['bytes-4']);
    expect(await find({ text: '\\"quoted\\"' })).toEqual(['order-3']);
    expect(await find({ text: 'tenant' })).toEqual(['order-3']);
    expect(await find({ text: 'acme' })).toEqual(['order-3']);
    expect(await find({ repeats: true })).toEqual(['rule']);
    expect(await find({ repeats: false, text: 'ada' })).toEqual(['bytes-4', 'order-1']);
    const range = (from: number, to: number) => ({ from: new Date(at + from), to: new Date(at + to) });
    expect(await find({ due: range(2, 5) })).toEqual(['bytes-4', 'order-2', 'order-3']);
    expect(await find({ due: range(5, 7), group: 'g2' })).toEqual(['group-6']);
    expect(await find({ due: { from: new Date(at + 6) }, repeats: false })).toEqual(['group-6']);
    expect(await find({ due: { to: new Date(at + 2) }, idPrefix: 'order' })).toEqual(['order-1']);
  });

  test('shows messages as find() does, and goes on exactly where a page has ended', async () => {
    const { queue, producer } = await start();
    const at = Date.now() + HOUR;
    await producer.offerMany(
      queue,
      Array.from({ length: 300 }, (_, i) => ({
        payload: i % 3 === 0 ? 'wanted' : 'other',
        // Some fall due at the same time.
        at: new Date(at + Math.floor(i / 7)),
        id: `m${i}`,
        ...(i % 2 === 0 && { group: `g${i % 5}` }),
      })),
    );
    const filter = { state: 'delayed', text: 'wanted' } as const;
    const expected = Array.from({ length: 100 }, (_, i) => `m${i * 3}`).sort();
    for (const limit of [1, 7, 99, 100, 1000]) {
      const { ids, pages } = await searchAll(producer, queue, filter, limit);
      expect([...ids].sort()).toEqual(expected);
      expect(Math.max(...pages)).toBeLessThanOrEqual(limit);
    }
    const { messages } = await producer.search(queue, filter, { limit: 1 });
    expect(messages[0]).toEqual(await producer.find(queue, messages[0]!.id));
    const dues = (await searchAll(producer, queue, filter)).messages.map(({ dueAt }) => dueAt.getTime());
    expect(dues).toEqual([...dues].sort((one, other) => one - other));
  });

  test('examines a bounded number of messages per call, and only the due times that can match', async () => {
    const { queue, producer } = await start();
    const at = Date.now() + HOUR;
    const count = 12_000;
    await producer.offerMany(
      queue,
      Array.from({ length: count }, (_, i) => ({ payload: i, at: new Date(at + i), id: `m${i}` })),
    );
    const first = await producer.search(queue, { state: 'delayed', idPrefix: 'm11999' });
    expect(first.messages).toEqual([]);
    expect(first.examined).toBeGreaterThanOrEqual(4000);
    expect(first.examined).toBeLessThan(5000);
    const { ids, examined } = await searchAll(producer, queue, { state: 'delayed', idPrefix: 'm11999' });
    expect(ids).toEqual(['m11999']);
    expect(examined).toBe(count);
    const due = { from: new Date(at + 7000), to: new Date(at + 7010) };
    const inRange = await searchAll(producer, queue, { state: 'delayed', due });
    expect(inRange.ids).toEqual(Array.from({ length: 10 }, (_, i) => `m${7000 + i}`));
    expect(inRange.examined).toBeLessThan(20);
    expect(inRange.pages).toHaveLength(1);
  });

  test('finds messages that are ready, in whatever order they are listed', async () => {
    const { queue, producer } = await start(() => undefined);
    await producer.pause(queue);
    await producer.offerMany(
      queue,
      Array.from({ length: 60 }, (_, i) => ({
        payload: i,
        delay: 0,
        id: `m${i}`,
        ...(i % 2 === 0 && { group: `g${i % 4}` }),
      })),
    );
    await until(async () => (await producer.counts(queue)).ready === 60);
    for (const limit of [1, 4, 100]) {
      const { ids } = await searchAll(producer, queue, { state: 'ready', idPrefix: 'm1' }, limit);
      expect(ids.sort()).toEqual(['m1', ...Array.from({ length: 10 }, (_, i) => `m1${i}`)]);
    }
  });

  test('finds dead letters by their error', async () => {
    const fails = (payload: unknown) => {
      if (payload === 'type') throw new TypeError('no such order');
      throw new RangeError('too many');
    };
    const { queue, producer } = await start(fails);
    await producer.offer(queue, 'type', 0, { id: 'a' });
    await producer.offer(queue, 'range', 0, { id: 'b' });
    await until(async () => (await producer.counts(queue)).dead === 2);
    const dead = async (filter: Partial<MessageFilter>) =>
      (await searchAll(producer, queue, { state: 'dead', ...filter })).ids.sort();
    expect(await dead({ error: { name: 'TypeError' } })).toEqual(['a']);
    expect(await dead({ error: { name: 'TypeError', frame: '' } })).toEqual([]);
    expect(await dead({ due: { to: new Date() } })).toEqual(['a', 'b']);
    expect(await dead({ due: { from: new Date(Date.now() + HOUR) } })).toEqual([]);
  });

  test('a histogram counts what falls due in each bucket', async () => {
    const { queue, producer } = await start();
    const from = Math.ceil(Date.now() / HOUR + 1) * HOUR;
    const dues = [-1, 0, 59_999, 60_000, 60_000, 120_000, HOUR - 1, HOUR];
    await producer.offerMany(
      queue,
      dues.map((due, i) => ({ payload: i, at: new Date(from + due), ...(i % 2 === 0 && { group: 'g' }) })),
    );
    // In the order of their offers, though they are due at the same time.
    await producer.offerMany(
      queue,
      Array.from({ length: 10 }, (_, i) => ({ payload: i, at: new Date(from + 179_999), group: 'g' })),
    );
    const query = { from: new Date(from), to: new Date(from + HOUR), buckets: 60 };
    const { counts, before, after, ...range } = await producer.histogram(queue, query);
    expect(range).toEqual({ from: query.from, to: query.to });
    expect(counts).toHaveLength(60);
    expect(counts.slice(0, 4)).toEqual([2, 2, 11, 0]);
    expect([before, counts[59], after]).toEqual([1, 1, 1]);
  });
});

describe('a search or histogram with invalid arguments', () => {
  const scene = new Scene();
  const now = new Date();

  test.each<[unknown, string]>([
    [{}, 'state'],
    [{ state: 'gone' }, 'state'],
    [{ state: 'delayed', payload: 1 }, 'filter'],
    [{ state: 'delayed', idPrefix: '' }, 'idPrefix'],
    [{ state: 'delayed', type: 'a b' }, 'type'],
    [{ state: 'delayed', group: '' }, 'group'],
    [{ state: 'delayed', text: 'x'.repeat(1001) }, 'text'],
    [{ state: 'delayed', text: /x/ }, 'text'],
    [{ state: 'delayed', due: { from: 1 } }, 'due.from'],
    [{ state: 'delayed', due: { to: new Date(NaN) } }, 'due.to'],
    [{ state: 'delayed', due: { from: now, to: now } }, 'due.to'],
    [{ state: 'delayed', repeats: 'yes' }, 'repeats'],
    [{ state: 'delayed', error: { name: 'TypeError' } }, 'error'],
    [{ state: 'dead', error: {} }, 'error.name'],
    [{ state: 'dead', error: { name: 'TypeError', frame: 1 } }, 'error.frame'],
  ])('refuses invalid filter %#, and names the field', async (filter, field) => {
    const { producer } = await scene.startApp({ module: { store: 'memory' } });
    const error = await refusalOf(producer.search('orders', filter as MessageFilter));
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining(field) });
  });

  test.each<[string, string]>([
    ['nonsense', 'cursor'],
    ['dead:1:a', 'cursor'],
  ])('refuses the cursor %s', async (cursor, field) => {
    const { producer } = await scene.startApp({ module: { store: 'memory' } });
    const error = await refusalOf(producer.search('orders', { state: 'delayed' }, { cursor }));
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining(field) });
  });

  test.each<[object, string]>([
    [{ from: now, to: new Date(+now + 1) }, 'buckets'],
    [{ from: now, to: new Date(+now + 1), buckets: 0 }, 'buckets'],
    [{ from: now, to: new Date(+now + 1), buckets: 401 }, 'buckets'],
    [{ from: now, to: now, buckets: 1 }, 'to must be later'],
    [{ to: now, buckets: 1 }, 'from'],
    [{ from: now, buckets: 1 }, 'to'],
  ])('refuses invalid histogram %#, and names the field', async (query, field) => {
    const { producer } = await scene.startApp({ module: { store: 'memory' } });
    const error = await refusalOf(producer.histogram('orders', query as never));
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining(field) });
  });
});
