import { beforeEach, describe, expect, test } from '@jest/globals';
import { listErrors } from '../../lib/search/dead-letter-errors.js';
import { countByDue } from '../../lib/search/due-histogram.js';
import { CheckedFilter, type MessageFilter } from '../../lib/search/message-filter.js';
import { nativeCodec } from '../../lib/message/codec/native-codec.js';
import { mergeErrors } from '../../lib/search/merge-errors.js';
import { searchPage } from '../../lib/search/search-messages.js';
import { frameOf } from '../../lib/search/stack-frame.js';
import type { MessageSnapshot } from '../../lib/message/message.js';
import type { PageRequest, StoredMessage } from '../../lib/store/admin-store.js';
import type { WholeQueue } from '../../lib/store/whole-queue.js';
import { refusalOf } from '../support/refusal.js';

const AT = Date.UTC(2030, 0, 1);
const KIB = 1024;

/** A queue whose messages are in one state, listed in the order of this array. */
class Listed {
  messages: readonly StoredMessage[] = [];
  readonly requests: PageRequest[] = [];
  missing: readonly number[] = [];
  dues: readonly number[] = [];

  /** The part of the store that searches use. */
  get store(): WholeQueue {
    const list = (request: PageRequest) => {
      this.requests.push(request);
      const { from = { offset: 0 }, limit } = request;
      const first = 'cursor' in from ? Number(from.cursor) : from.offset;
      const end = first + limit;
      const cursor = end < this.messages.length ? String(end) : null;
      const missing =
        this.missing.length > 0 ? { missing: [this.missing[this.requests.length % this.missing.length]!] } : {};
      return Promise.resolve({ messages: this.messages.slice(first, end), cursor, ...missing });
    };
    const countDue = (edges: readonly number[]) => {
      this.dues = edges;
      return Promise.resolve({ counts: Array.from({ length: edges.length + 1 }, (_, i) => i), missing: this.missing });
    };
    return { list, countDue } as unknown as WholeQueue;
  }
}

/** @param error - makes it a dead letter */
function message(i: number, { body = 'J1', error = '{}' }: { body?: string; error?: string } = {}): StoredMessage {
  const death = { at: AT + i, error };
  return { id: `m${i}`, state: 'dead', dueAt: AT + i, body: Buffer.from(body), death } as unknown as StoredMessage;
}

const messages = (count: number, part: Parameters<typeof message>[1] = {}) =>
  Array.from({ length: count }, (_, i) => message(i, part));

describe('a search', () => {
  let queue: Listed;
  beforeEach(() => {
    queue = new Listed();
  });

  const show = (stored: StoredMessage) =>
    ({
      id: stored.id,
      headers: {},
      payload: '',
      ...(stored as object),
      dueAt: new Date(stored.dueAt),
    }) as MessageSnapshot;
  const search = (filter: Partial<MessageFilter>, limit: number) =>
    searchPage({ store: queue.store, show }, new CheckedFilter({ state: 'ready', ...filter }), {
      cursor: undefined,
      limit,
    });

  test('reads at most 400 messages at once, and at first no more than a page has', async () => {
    queue.messages = messages(3000);
    await search({ idPrefix: 'm2999' }, 100);
    expect(queue.requests.map(({ limit }) => limit)).toEqual([100, 400, 400, 400, 400, 400, 400, 400, 400]);
  });

  test('ends once it has examined 4,000 messages', async () => {
    queue.messages = messages(20_000);
    expect(await search({ idPrefix: 'x' }, 1000)).toMatchObject({ messages: [], examined: 4000, cursor: '4000' });
  });

  test('ends once it has examined 4 MiB', async () => {
    queue.messages = messages(2000, { body: 'x'.repeat(4 * KIB) });
    expect(await search({ idPrefix: 'x' }, 1000)).toMatchObject({ messages: [], examined: 1200, cursor: '1200' });
  });

  test('names every partition that has been missing, in order', async () => {
    queue.messages = messages(1200);
    queue.missing = [1, 3, 2];
    expect((await search({ idPrefix: 'x' }, 1000)).missing).toEqual([1, 2, 3]);
  });

  test('examines nothing behind the match that fills the page', async () => {
    queue.messages = messages(1000);
    const { messages: found, examined, cursor } = await search({ idPrefix: 'm1' }, 2);
    expect(found.map(({ id }) => id)).toEqual(['m1', 'm10']);
    expect([examined, cursor]).toEqual([11, '11']);
  });

  test.each<[unknown, string]>([
    [{ due: { from: new Date(), until: 1 } }, 'until'],
    [{ state: 'dead', error: { name: 'x', stack: 1 } }, 'stack'],
    [{ text: '' }, 'text'],
  ])('refuses invalid filter %#, and names the field', (filter, field) => {
    const create = () => new CheckedFilter({ state: 'delayed', ...(filter as object) });
    expect(create).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', message: expect.stringContaining(field) }),
    );
  });

  test.each<[string, unknown, string]>([
    ['a big number', { id: 12_345_678_901_234_567_890n }, '12345678901234567890'],
    ['bytes', Buffer.from('hello'), 'HELLO'],
    ['a text of 1,000 characters', 'x'.repeat(1000), 'x'.repeat(1000)],
  ])('finds text in %s', (_, payload, text) => {
    const filter = new CheckedFilter({ state: 'ready', text });
    expect(filter.select(message(1), (stored) => ({ ...show(stored), payload }))).toBeDefined();
  });

  test.each<[string, unknown]>([
    ['undefined', undefined],
    [
      'a circle',
      Object.assign([], {
        toJSON: () => ({
          get x(): never {
            throw new Error('unreadable');
          },
        }),
      }),
    ],
  ])('finds nothing in a payload that cannot be written as JSON: %s', (_, payload) => {
    const filter = new CheckedFilter({ state: 'ready', text: 'undefined' });
    expect(filter.select(message(1), (stored) => ({ ...show(stored), payload }))).toBeUndefined();
  });
});

describe('a histogram', () => {
  const query = { from: new Date(AT), to: new Date(AT + 10), buckets: 4 };

  test('has buckets of whole milliseconds, and no fields but its own', async () => {
    const queue = new Listed();
    queue.missing = [1];
    const { counts, before, after, missing } = await countByDue(queue.store, query);
    expect(queue.dues.map((due) => due - AT)).toEqual([0, 2, 5, 7, 10]);
    expect([before, counts, after, missing]).toEqual([0, [1, 2, 3, 4], 5, [1]]);
    const error = await refusalOf(countByDue(queue.store, { ...query, width: 1 } as typeof query));
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('width') });
    expect((await countByDue(queue.store, { ...query, buckets: 400 })).counts).toHaveLength(400);
  });
});

describe('dead letters by error', () => {
  const failure = (name: string, stack = '') => JSON.stringify({ name, message: 'm', stack });

  test('are examined up to 4,000 at once, and partitions that are missing are named', async () => {
    const queue = new Listed();
    queue.messages = messages(12_000, { error: failure('TypeError') });
    queue.missing = [2];
    expect(await listErrors({ store: queue.store, codec: nativeCodec }, undefined)).toMatchObject({
      errors: [
        { name: 'TypeError', count: 4000, example: 'm3999', firstAt: new Date(AT), lastAt: new Date(AT + 3999) },
      ],
      ...{ examined: 4000, cursor: '4000', missing: [2] },
    });
    const error = await refusalOf(listErrors({ store: queue.store, codec: nativeCodec }, { limit: 5 } as object));
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('limit') });
  });

  test('are one error if both name and frame are the same, the most frequent first', () => {
    const error = (name: string, frame: string, count: number, firstAt: number) => ({ name, frame, count, firstAt });
    const pages = [error('B', 'f', 2, 3), error('A', 'f', 1, 1), error('A', 'g', 4, 2), error('A', 'f', 5, 4)];
    expect(mergeErrors(pages)).toEqual([error('A', 'f', 6, 1), error('A', 'g', 4, 2), error('B', 'f', 2, 3)]);
  });

  test.each([
    ['Error: x\n    at Mailer.send (/app/mailer.js:12:34)\n    at other', 'Mailer.send (/app/mailer.js:12)'],
    ['Error: x\n    at /app/mailer.js:12:34', '/app/mailer.js:12'],
    ['Error: x\nat the end\n    at f (a.js:1:2)', 'f (a.js:1)'],
    ['Error: x', ''],
    [`Error\n    at ${'f'.repeat(400)}`, 'f'.repeat(300)],
  ])('have the first frame of their stack %#', (stack, frame) => {
    expect(frameOf(stack)).toBe(frame);
  });
});
