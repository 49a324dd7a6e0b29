import { describe, expect, test } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { calendar } from '../../lib/calendar/index.js';
import {
  DelayedHandler,
  type DelayedMessage,
  DelayQueue,
  DelayQueueModule,
  type DelayQueueModuleOptions,
  DelayQueueProducer,
  payload,
  type RepeatingMessage,
} from '../../lib/index.js';
import type { HandlerRepeat } from '../../lib/options/queue-options.js';
import { DelayQueueTester, DelayQueueTestingModule } from '../../lib/testing/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { Latch } from '../support/latch.js';
import { refusalOf } from '../support/refusal.js';
import { Scene } from '../support/scene.js';
import { isThorough } from '../support/thorough.js';
import { until } from '../support/until.js';

const HOUR = 3_600_000;
const PAUSED_UNTIL = new Date('9999-12-31T23:59:59.999Z');

type Handle = (payload: unknown, message: DelayedMessage) => unknown;

function handlerOf(queue: string, handle: Handle, repeat?: HandlerRepeat) {
  @Injectable()
  class Handler {
    @DelayedHandler(queue, { attempts: 2, backoff: { type: 'fixed', delay: 10 }, repeat })
    handle(given: unknown, message: DelayedMessage): unknown {
      return handle(given, message);
    }
  }
  return Handler;
}

describe('a rule in virtual time', () => {
  async function startAt(date: string, handle: Handle, repeat?: HandlerRepeat, options: DelayQueueModuleOptions = {}) {
    const module = await Test.createTestingModule({
      imports: [DelayQueueModule.forRoot(options), DelayQueueTestingModule.startAt(new Date(date))],
      providers: [handlerOf('digests', handle, repeat)],
    }).compile();
    await module.init();
    return { module, tester: module.get(DelayQueueTester), producer: module.get(DelayQueueProducer) };
  }
  const timesOf =
    (times: string[]) =>
    (_: unknown, { repeat }: DelayedMessage) => {
      times.push(`${repeat!.at.toISOString().slice(8, 16)} ${repeat!.count}${repeat!.isLast ? ' last' : ''}`);
    };

  test('with an interval needs no calendar, and does not drift', async () => {
    const times: string[] = [];
    const { module, tester } = await startAt('2030-01-01T12:07:00Z', timesOf(times), { every: '15m' });
    await tester.advance('1h');
    expect(times).toEqual(['01T12:15 1', '01T12:30 2', '01T12:45 3', '01T13:00 4']);
    await module.close();
  });

  test('has no occurrence before its start or after its end, and knows the last one', async () => {
    const times: string[] = [];
    const rule = { every: '1d', startsAt: new Date('2030-01-03T08:30:00Z'), endsAt: new Date('2030-01-05T08:30:00Z') };
    const { module, tester, producer } = await startAt('2030-01-01T12:00:00Z', timesOf(times), rule);
    await tester.advance('30d');
    expect(times).toEqual(['03T08:30 1', '04T08:30 2', '05T08:30 3 last']);
    expect(await producer.find('digests', 'repeat')).toBeNull();
    await module.close();
  });

  test('has as many occurrences as its limit, each counted once, however many attempts it takes', async () => {
    const attempts: string[] = [];
    const { module, tester, producer } = await startAt('2030-01-01T00:30:00Z', (_, { attempt, repeat }) => {
      attempts.push(`${repeat?.count} ${attempt}`);
      if (repeat?.count === 2 || repeat?.isLast) throw new Error('away');
    });
    await producer.repeat('digests', 'r', { every: '1h', limit: 3 }, {});
    await tester.advance('10h');
    expect(attempts).toEqual(['1 1', '2 1', '2 2', '3 1', '3 2']);
    const { messages } = await producer.deadLetters('digests').list();
    expect(messages.map(({ id, repeat }) => [id, repeat])).toEqual([
      ['{r}@2030-01-01T02:00:00.000Z', undefined],
      ['{r}@2030-01-01T03:00:00.000Z', undefined],
    ]);
    // The id is free, and its dead letters do not count when they are redriven.
    await producer.repeat('digests', 'r', { every: '1h', limit: 1 }, {});
    await producer.deadLetters('digests').redriveAll();
    await tester.advance('10h');
    expect(attempts.slice(5)).toEqual(['undefined 1', 'undefined 1', '1 1', '1 2']);
    await module.close();
  });

  test.each<[object, string[]]>([
    [{ missed: 'once' }, ['01T13:00 1', '01T19:00 2', '01T20:00 3']],
    [{ missed: 'skip' }, ['01T19:00 1', '01T20:00 2']],
    [
      { missed: 'each' },
      ['01T13:00 1', '01T14:00 2', '01T15:00 3', '01T16:00 4', '01T17:00 5', '01T18:00 6', '01T19:00 7', '01T20:00 8'],
    ],
    [{ missed: 'each', catchUp: '2h' }, ['01T17:00 1', '01T18:00 2', '01T19:00 3', '01T20:00 4']],
    [{ missed: 'each', limit: 3 }, ['01T13:00 1', '01T14:00 2', '01T15:00 3 last']],
  ])('makes up for what nobody could handle in time as it says: %j', async (rule, expected) => {
    const times: string[] = [];
    const { module, tester, producer } = await startAt('2030-01-01T12:30:00Z', timesOf(times));
    await producer.repeat('digests', 'r', { every: '1h', ...rule }, {});
    await producer.pause('digests');
    await tester.advance('6h');
    expect(times).toEqual([]);
    await producer.resume('digests');
    await tester.advance('2h');
    expect(times).toEqual(expected);
    await module.close();
  });

  test('is not offered by a handler once its end has passed, which is no mistake', async () => {
    const times: string[] = [];
    const rule = { every: '1h', endsAt: new Date('2030-01-01T00:00:00Z') };
    const { module, tester, producer } = await startAt('2030-02-01T00:00:00Z', timesOf(times), rule);
    await tester.advance('1d');
    expect(await producer.find('digests', 'repeat')).toBeNull();
    const error = await refusalOf(producer.repeat('digests', 'r', rule, {}));
    expect(String(error)).toContain('every 3600000 ms has no time until its end, 2030-01-01T00:00:00.000Z');
    await module.close();
  });

  test('of a handler has no limit, because a later process would begin anew', async () => {
    const starting = startAt('2030-01-01T00:00:00Z', () => undefined, { every: '1h', limit: 3 } as never);
    expect(String(await refusalOf(starting))).toContain('repeat: DelayQueueError: limit:');
  });

  test('skips what passes while it is paused, and a new rule of a deploy stays paused', async () => {
    const times: string[] = [];
    const { module, tester, producer } = await startAt('2030-01-01T12:30:00Z', timesOf(times));
    const repeats = producer.repeats('digests');
    await producer.repeat('digests', 'r', { every: '1h', missed: 'each' }, {});
    await tester.advance('2h');
    expect(await repeats.pause('r')).toBe(true);
    expect(await repeats.pause('r')).toBe(true);
    expect(await repeats.find('r')).toMatchObject({
      dueAt: PAUSED_UNTIL,
      repeat: { isPaused: true, count: 2 },
      next: [],
    });
    await tester.advance('3h');
    await producer.repeat('digests', 'r', { every: '2h', missed: 'each' }, {});
    await tester.advance('1d');
    expect(times).toEqual(['01T13:00 1', '01T14:00 2']);
    expect(await repeats.resume('r')).toBe(true);
    expect(await repeats.resume('r')).toBe(true);
    await tester.advance('2h');
    expect(times.slice(2)).toEqual(['02T18:00 1']);
    await module.close();
  });

  test('shows only times to come while an overdue occurrence waits', async () => {
    const { module, tester, producer } = await startAt('2030-01-01T12:30:00Z', () => undefined);
    await producer.repeat('digests', 'r', { every: '1h' }, {});
    await producer.pause('digests');
    await tester.advance('3h');
    const waiting = await producer.repeats('digests').find('r');
    expect(waiting).toMatchObject({ state: 'ready', dueAt: new Date('2030-01-01T13:00:00Z') });
    expect(waiting!.next.slice(0, 2).map((time) => time.getUTCHours())).toEqual([16, 17]);
    await module.close();
  });

  test('ends if it is resumed after its end', async () => {
    const { module, tester, producer } = await startAt('2030-01-01T12:30:00Z', () => undefined);
    const repeats = producer.repeats('digests');
    await producer.repeat('digests', 'r', { every: '1h', endsAt: new Date('2030-01-01T20:00:00Z') }, {});
    await repeats.pause('r');
    await tester.advance('1d');
    expect(await repeats.resume('r')).toBe(false);
    expect(await repeats.find('r')).toBeNull();
    await module.close();
  });

  test('skips an occurrence that is ready when it is paused, but not the retry of one', async () => {
    const attempts: string[] = [];
    const { module, tester, producer } = await startAt('2030-01-01T12:30:00Z', (_, { attempt, repeat }) => {
      attempts.push(`${repeat!.at.getUTCHours()} ${attempt}`);
      if (attempt === 1) throw new Error('away');
    });
    const repeats = producer.repeats('digests');
    await producer.repeat('digests', 'r', { every: '1h' }, {});
    await producer.pause('digests');
    await tester.advance('31m');
    expect(await producer.find('digests', 'r')).toMatchObject({ state: 'ready' });
    await repeats.pause('r');
    await producer.resume('digests');
    await tester.advance('1m');
    expect(attempts).toEqual([]);
    expect(await repeats.find('r')).toMatchObject({ state: 'delayed', dueAt: PAUSED_UNTIL, repeat: { count: 0 } });
    await repeats.resume('r');
    await tester.advance('58m');
    expect(attempts).toEqual(['14 1']);
    await repeats.pause('r');
    await tester.advance('5h');
    expect(attempts).toEqual(['14 1', '14 2']);
    await module.close();
  });

  test('of a typed queue has the same methods', async () => {
    class Reports extends DelayQueue('reports', payload<{ of: string }>()) {}
    const module = await Test.createTestingModule({
      imports: [DelayQueueModule.forRoot({}), DelayQueueTestingModule.startAt(new Date('2030-01-01T12:30:00Z'))],
      providers: [Reports],
    }).compile();
    await module.init();
    const reports = module.get(Reports);
    await reports.repeat('r', { every: '1h', limit: 2 }, { of: 'sales' });
    const { messages } = await reports.repeats().list();
    expect(messages).toMatchObject([{ id: 'r', payload: { of: 'sales' } }]);
    expect(messages[0]!.next.map((time) => time.getUTCHours())).toEqual([13, 14]);
    expect(await reports.repeats().end('r')).toBe(true);
    await module.close();
  });
});

const MODULES: [string, DelayQueueModuleOptions][] = [
  ['native', {}],
  ['native with partitions', { defaults: { partitions: 3 } }],
  ['native with groups', { defaults: { groups: { concurrency: 1 } } }],
];
if (isThorough) MODULES.push(['memory', { store: 'memory' }]);

describe.each(MODULES)('the messages of a queue that repeat: %s', (_, module) => {
  const scene = new Scene();

  test('are listed, paused, resumed, run now and ended', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { calendar, ...module, consume: false } });
    const repeats = producer.repeats(queue);
    await producer.repeat(queue, 'cron', { cron: '0 0 1 1 *' }, { n: 1 });
    const { dueAt } = await producer.repeat(queue, 'every', { every: '1d' }, { n: 2 });
    await producer.offer(queue, null, '1h', { id: 'once' });
    const listed = async () => {
      const found: RepeatingMessage[] = [];
      let cursor: string | undefined;
      do {
        const page = await repeats.list({ limit: 1, cursor });
        expect(page.messages.length).toBeLessThanOrEqual(1);
        found.push(...page.messages);
        cursor = page.cursor ?? undefined;
      } while (cursor !== undefined);
      return found;
    };
    const [every, cron, ...others] = await listed();
    expect(others).toEqual([]);
    expect(every).toMatchObject({
      id: 'every',
      payload: { n: 2 },
      state: 'delayed',
      repeat: { every: 24 * HOUR, count: 0 },
    });
    expect(every!.next.map(Number)).toEqual([0, 1, 2, 3, 4].map((days) => dueAt.getTime() + days * 24 * HOUR));
    expect(cron).toMatchObject({ id: 'cron', repeat: { cron: '0 0 1 1 *' } });
    expect(cron!.next).toHaveLength(5);

    for (const id of ['cron', 'every']) {
      const before = await producer.find(queue, id);
      expect(await repeats.pause(id)).toBe(true);
      expect(await producer.find(queue, id)).toMatchObject({ dueAt: PAUSED_UNTIL, repeat: { isPaused: true } });
      expect(await repeats.resume(id)).toBe(true);
      expect(await producer.find(queue, id)).toEqual(before);
    }
    const extra = await repeats.runNow('every');
    expect(extra).toMatchObject({ created: true });
    expect(extra!.id).toMatch(/^\{every\}\+20/);
    const found = await producer.find(queue, extra!.id);
    expect(found).toMatchObject({ payload: { n: 2 } });
    expect(found!.repeat).toBeUndefined();
    expect((await producer.find(queue, 'every'))!.dueAt).toEqual(dueAt);
    for (const id of ['once', 'nobody', extra!.id]) {
      expect(await repeats.find(id)).toBeNull();
      expect(await repeats.pause(id)).toBe(false);
      expect(await repeats.resume(id)).toBe(false);
      expect(await repeats.runNow(id)).toBeNull();
      expect(await repeats.end(id)).toBe(false);
    }
    expect(await producer.find(queue, 'once')).not.toBeNull();
    expect(await repeats.end('every')).toBe(true);
    expect(await repeats.end('every')).toBe(false);
    expect((await listed()).map(({ id }) => id)).toEqual(['cron']);
  });

  test('end their active occurrence while they are paused, and an extra one is handled', async () => {
    const queue = scene.newQueue();
    const [begun, mayEnd] = [new Latch(), new Latch()];
    const seen: (string | undefined)[] = [];
    const handler = handlerOf(queue, async (_given, { id, repeat }) => {
      seen.push(repeat ? `occurrence ${repeat.count}` : id.replace(/\+.*/, '+'));
      if (!repeat) return;
      begun.open();
      await mayEnd.opened;
    });
    const { producer } = await scene.startApp({ module, providers: [handler] });
    const repeats = producer.repeats(queue);
    await producer.repeat(queue, 'r', { every: '1s' }, {});
    await begun.opened;
    expect(await repeats.pause('r')).toBe(true);
    expect(await repeats.find('r')).toMatchObject({ state: 'active', repeat: { isPaused: true } });
    mayEnd.open();
    await until(async () => (await producer.find(queue, 'r'))?.state === 'delayed');
    expect(await producer.find(queue, 'r')).toMatchObject({ dueAt: PAUSED_UNTIL, repeat: { count: 1 } });
    await repeats.runNow('r');
    await until(() => seen.length === 2);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(seen).toEqual(['occurrence 1', '{r}+']);
    await repeats.resume('r');
    await until(() => seen.length === 3, { within: 10_000 });
    expect(seen[2]).toBe('occurrence 2');
  });
});

describe('a layout without repeating messages', () => {
  const scene = new Scene();

  test('refuses to list and to pause them', async () => {
    const { producer } = await scene.startApp({ module: { defaults: { layout: redisson() }, consume: false } });
    expect(() => producer.repeats('orders')).toThrow(/repeats: layout 'redisson' of queue 'orders' cannot do this/);
  });
});
