import { describe, expect, test } from '@jest/globals';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { calendar } from '../../lib/calendar/index.js';
import {
  again,
  DelayedHandler,
  type DelayedMessage,
  DelayQueueError,
  DelayQueueModule,
  type DelayQueueModuleOptions,
  type DelayQueueEvent,
  DelayQueueProducer,
  DelayQueue,
  type MessageOf,
  payload,
  type PayloadOf,
  RejectMessage,
} from '../../lib/index.js';
import type { HandlerRepeat } from '../../lib/options/queue-options.js';
import { DelayQueueTester, DelayQueueTestingModule } from '../../lib/testing/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { Latch } from '../support/latch.js';
import { randomName } from '../support/random-name.js';
import { refusalOf } from '../support/refusal.js';
import { Scene } from '../support/scene.js';
import { isThorough } from '../support/thorough.js';
import { until } from '../support/until.js';

const SECOND = 1000;
const EVERY_SECOND = { cron: '* * * * * *' };
const YEARLY = { cron: '0 0 1 1 *' };
const STORED = { timeZone: 'UTC', missed: 'once' };

const problemOf = async (call: Promise<unknown>) => {
  const error = await refusalOf(call);
  return error instanceof DelayQueueError ? `${error.code} ${error.message}` : error;
};

/** A provider whose handler has a repeating message. */
function repeatingHandler(
  queue: string,
  repeat: HandlerRepeat | undefined,
  handle: (payload: unknown, message: DelayedMessage) => unknown,
  options: { attempts?: number; backoff?: { type: 'fixed'; delay: number } } = {},
) {
  @Injectable()
  class Handler {
    @DelayedHandler(queue, { ...options, repeat })
    handle(given: unknown, message: DelayedMessage): unknown {
      return handle(given, message);
    }
  }
  return Handler;
}

/** Repetitions in memory are covered by the simulation. */
const MODULES: [string, DelayQueueModuleOptions][] = [['native', {}]];
if (isThorough) {
  MODULES.push(['memory', { store: 'memory' }], ['native with partitions', { defaults: { partitions: 3 } }]);
}

describe.each(MODULES)('a repeating message: %s', (layout, module) => {
  const scene = new Scene();
  const start = (handler: ReturnType<typeof repeatingHandler>, observed?: (event: DelayQueueEvent) => void) =>
    scene.startApp({
      module: { ...module, calendar, ...(observed && { observers: [{ event: observed }] }) },
      providers: [handler],
    });

  test('is delivered once at each time, whichever process handles it, until it is cancelled', async () => {
    const queue = scene.newQueue();
    const times: number[] = [];
    const handler = repeatingHandler(queue, { ...EVERY_SECOND, payload: { n: 1 } }, (given, { dueAt, repeat, id }) => {
      expect([given, id, repeat]).toEqual([
        { n: 1 },
        'repeat',
        { ...EVERY_SECOND, ...STORED, at: dueAt, isLast: false },
      ]);
      times.push(dueAt.getTime());
    });
    // Each memory store is a separate queue.
    const apps = await Promise.all(Array.from({ length: layout === 'memory' ? 1 : 3 }, () => start(handler)));
    const { producer } = apps[0]!;
    await until(() => times.length === 3, { within: 30_000 });
    expect(times).toEqual([0, 1, 2].map((seconds) => times[0]! + seconds * SECOND));
    expect(times[0]! % SECOND).toBe(0);
    await until(async () => (await producer.find(queue, 'repeat'))?.state === 'delayed');
    const found = await producer.find(queue, 'repeat');
    expect(found).toMatchObject({ repeat: { ...EVERY_SECOND, ...STORED }, payload: { n: 1 } });
    expect(found!.dueAt.getTime()).toBe(times[2]! + SECOND);
    expect((await producer.list(queue, 'delayed')).messages).toEqual([found]);
    expect(await producer.cancel(queue, 'repeat')).toBe(true);
    expect(await producer.counts(queue)).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
  });

  test('leaves a dead letter for an occurrence without attempts left, and is delivered again at its next time', async () => {
    const queue = scene.newQueue();
    const [attempts, deaths]: [string[], unknown[]] = [[], []];
    const handler = repeatingHandler(
      queue,
      { ...EVERY_SECOND, id: 'digest' },
      (_, { attempt, repeat }) => {
        if (!repeat) return;
        attempts.push(`${repeat.at.getTime()} ${attempt}`);
        if (attempts.length <= 2) throw new Error('the mail server is away');
      },
      { attempts: 2, backoff: { type: 'fixed', delay: 10 } },
    );
    const app = await start(handler, (event) => event.name === 'dead' && deaths.push(event.id));
    await until(() => attempts.length === 4, { within: 30_000 });
    const first = Number(attempts[0]!.split(' ')[0]);
    // The retry belongs to the occurrence of the first attempt.
    expect(attempts).toEqual([`${first} 1`, `${first} 2`, `${first + SECOND} 1`, `${first + 2 * SECOND} 1`]);
    const letter = `{digest}@${new Date(first).toISOString()}`;
    const { messages } = await app.producer.deadLetters(queue).list();
    expect(messages).toMatchObject([{ id: letter, failedAttempts: 2, error: { message: 'the mail server is away' } }]);
    expect(messages[0]!.repeat).toBeUndefined();
    expect(deaths).toEqual([letter]);
    expect(await app.producer.find(queue, letter)).toMatchObject({ state: 'dead' });
    // After a redrive, it is handled once more, like the others.
    expect(await app.producer.deadLetters(queue).redrive(letter)).toBe(true);
    await until(async () => (await app.producer.find(queue, letter)) === null);
    expect((await app.producer.find(queue, 'digest'))?.repeat).toBeDefined();
  });

  test('continues after an occurrence that was rejected or moved by again()', async () => {
    const queue = scene.newQueue();
    const times: number[] = [];
    const handler = repeatingHandler(queue, EVERY_SECOND, (given, { dueAt }) => {
      times.push(dueAt.getTime());
      if (times.length === 1) throw new RejectMessage('not today');
      if (times.length === 2) return again(new Date(dueAt.getTime() + 100), { payload: { once: true } });
      if (times.length === 3) expect(given).toEqual({ once: true });
      return undefined;
    });
    const { producer } = await start(handler);
    await until(() => times.length === 4, { within: 30_000 });
    const begin = times[0]!;
    expect(times.map((time) => time - begin)).toEqual([0, SECOND, SECOND + 100, 2 * SECOND]);
    expect((await producer.counts(queue)).dead).toBe(1);
  });

  test('gets a new rule, payload and headers from another call, even while it is handled', async () => {
    const queue = scene.newQueue();
    const [begun, mayEnd] = [new Latch(), new Latch()];
    const seen: unknown[] = [];
    const handler = repeatingHandler(queue, undefined, async (given, { headers, repeat }) => {
      seen.push([given, headers, repeat?.cron]);
      if (seen.length > 1) return;
      begun.open();
      await mayEnd.opened;
    });
    const { producer } = await start(handler);
    const soon = await producer.repeat(queue, 'r', YEARLY, 1);
    expect(soon.created).toBe(true);
    expect(soon.dueAt.getUTCMonth()).toBe(0);
    expect(await producer.repeat(queue, 'r', YEARLY, 1)).toEqual({ ...soon, created: false });
    const moved = await producer.repeat(queue, 'r', EVERY_SECOND, 1);
    expect(moved.created).toBe(false);
    expect(moved.dueAt.getTime()).toBeLessThan(soon.dueAt.getTime());
    await begun.opened;
    const changed = { ...EVERY_SECOND, headers: { tenant: 'a' } };
    expect(await producer.repeat(queue, 'r', changed, 2)).toMatchObject({ created: false, follows: true });
    mayEnd.open();
    await until(() => seen.length === 2, { within: 30_000 });
    expect(seen).toEqual([
      [1, {}, EVERY_SECOND.cron],
      [2, { tenant: 'a' }, EVERY_SECOND.cron],
    ]);
    const { delayed, ready, active } = await producer.counts(queue);
    expect(delayed + ready + active).toBe(1);
  });

  test('ends after the current occurrence if cancelled, and at once if aborted', async () => {
    const queue = scene.newQueue();
    let begun = new Latch();
    let mayEnd = new Latch();
    const handler = repeatingHandler(queue, undefined, async (_, { signal }) => {
      begun.open();
      await Promise.race([mayEnd.opened, new Promise((resolve) => signal.addEventListener('abort', resolve))]);
    });
    const { producer } = await start(handler);
    await producer.repeat(queue, 'r', EVERY_SECOND, 1);
    await begun.opened;
    expect(await producer.cancel(queue, 'r')).toBe(true);
    expect(await producer.cancel(queue, 'r')).toBe(false);
    mayEnd.open();
    await until(async () => (await producer.find(queue, 'r')) === null);

    [begun, mayEnd] = [new Latch(), new Latch()];
    await producer.repeat(queue, 'r', EVERY_SECOND, 1);
    await begun.opened;
    expect(await producer.abort(queue, 'r')).toBe(true);
    expect(await producer.find(queue, 'r')).toBeNull();
  });

  test('ends when it is aborted, even if its rule was changed while it was handled', async () => {
    const queue = scene.newQueue();
    const begun = new Latch();
    const handler = repeatingHandler(queue, undefined, async (_, { signal }) => {
      begun.open();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    });
    const { producer } = await start(handler);
    await producer.repeat(queue, 'r', EVERY_SECOND, 1);
    await begun.opened;
    expect(await producer.repeat(queue, 'r', YEARLY, 2)).toMatchObject({ follows: true });
    expect(await producer.abort(queue, 'r')).toBe(true);
    expect(await producer.find(queue, 'r')).toBeNull();
  });

  test('waits while its queue is paused, and is delivered once for all missed occurrences', async () => {
    const queue = scene.newQueue();
    const times: number[] = [];
    const handler = repeatingHandler(queue, EVERY_SECOND, (_, { dueAt }) => times.push(dueAt.getTime()));
    const { producer } = await start(handler);
    await until(() => times.length === 1, { within: 30_000 });
    await producer.pause(queue);
    await new Promise((resolve) => setTimeout(resolve, 3 * SECOND));
    expect(times).toHaveLength(1);
    await producer.resume(queue);
    const resumedAt = Date.now();
    await until(() => times.length === 3, { within: 30_000 });
    expect(times[1]).toBe(times[0]! + SECOND);
    expect(times[2]).toBeGreaterThan(resumedAt - 100);
  });
});

describe('a repeating message', () => {
  const scene = new Scene();

  test('may belong to a typed queue and have one of its types', async () => {
    const queue = scene.newQueue();
    class Reports extends DelayQueue(queue, {
      daily: payload<{ of: string }>(),
      weekly: payload<{ weeks: number }>(),
    }) {}
    const seen: unknown[] = [];
    @Injectable()
    class Handlers {
      @DelayedHandler(Reports, 'daily', { repeat: { ...EVERY_SECOND, payload: { of: 'sales' } } })
      daily(given: PayloadOf<typeof Reports, 'daily'>, { id }: MessageOf<typeof Reports, 'daily'>) {
        seen.push([id, given]);
      }
      @DelayedHandler(Reports, 'weekly')
      weekly({ weeks }: PayloadOf<typeof Reports, 'weekly'>) {
        seen.push(weeks);
      }
    }
    const { context } = await scene.startApp({ module: { calendar }, providers: [Reports, Handlers] });
    await until(() => seen.length > 0, { within: 30_000 });
    expect(seen[0]).toEqual(['repeat:daily', { of: 'sales' }]);
    const reports = context.get(Reports);
    expect((await reports.find('repeat:daily'))?.type).toBe('daily');
    await reports.cancel('repeat:daily');
    const { created } = await reports.repeat('weekly', 'w', YEARLY, { weeks: 2 });
    expect(created).toBe(true);
    expect(await reports.countsByType()).toEqual(new Map([['weekly', expect.objectContaining({ delayed: 1 })]]));
  });

  test('waits for another process if this one has no calendar', async () => {
    const queue = scene.newQueue();
    const events: unknown[] = [];
    const observers = [{ event: (event: DelayQueueEvent) => event.name === 'unknown-type' && events.push(event.form) }];
    const { producer } = await scene.startApp({ module: { calendar, consume: false } });
    const without = await scene.startApp({
      module: { observers },
      providers: [repeatingHandler(queue, undefined, () => undefined)],
    });
    await producer.repeat(queue, 'r', EVERY_SECOND, 1);
    await until(() => events.length === 1, { within: 30_000 });
    expect(events).toEqual(['repeat']);
    expect(without.log.join('\n')).toContain('this process has no calendar that reads its rule (option `calendar`)');
    expect(await producer.find(queue, 'r')).toMatchObject({ state: 'delayed', repeat: EVERY_SECOND, payload: 1 });
  });

  test.each<[string, object, object, RegExp]>([
    [
      'no calendar',
      { calendar: undefined },
      EVERY_SECOND,
      /INVALID_OPTION.*calendar: a rule with cron needs one: give forRoot\(\{ calendar \}\)/,
    ],
    [
      'a layout without repeating messages',
      { defaults: { layout: redisson() } },
      EVERY_SECOND,
      /UNSUPPORTED_BY_LAYOUT.*repeat: layout 'redisson'/,
    ],
    ['neither cron nor every', {}, {}, /INVALID_ARGUMENT.*either cron, such as .* or every, such as .* has neither/],
    ['both cron and every', {}, { ...YEARLY, every: '1h' }, /INVALID_ARGUMENT.*it has both/],
    ['an invalid cron', {}, { cron: 'at nine' }, /INVALID_ARGUMENT.*cron 'at nine' is not a valid calendar/],
    ['a cron without a further time', {}, { cron: '0 0 0 1 1 * 2020' }, /INVALID_ARGUMENT.*has no time after now/],
    [
      'an invalid time zone',
      {},
      { ...YEARLY, timeZone: 'Berlin' },
      /INVALID_ARGUMENT.*timeZone must be an IANA time zone/,
    ],
    [
      'an unknown value of missed',
      {},
      { ...YEARLY, missed: 'all' },
      /INVALID_ARGUMENT.*missed must be 'once', 'skip' or 'each', not 'all'/,
    ],
    [
      'an unknown field',
      {},
      { ...YEARLY, pattern: '1h' },
      /INVALID_ARGUMENT.*repeat: must be an object with type, cron.*not 'pattern'/,
    ],
    ['a value that is not an object', {}, null as never, /INVALID_ARGUMENT.*repeat: must be an object/],
    ['a cron that spans two lines', {}, { cron: '0 0 1 1 *\n' }, /INVALID_ARGUMENT.*cron must be text/],
  ])('is refused with %s', async (_, module, options, problem) => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { calendar, consume: false, ...module } });
    expect(await problemOf(producer.repeat(queue, 'r', options as never, {}))).toMatch(problem);
    expect(await producer.counts(queue)).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
  });

  test.each(['x'.repeat(230), 'a}b'])(
    'is refused if its id could not serve as the id of a dead letter: %s',
    async (id) => {
      const { producer } = await scene.startApp({ module: { calendar, consume: false } });
      expect(await problemOf(producer.repeat('digests', id, YEARLY, {}))).toMatch(
        /INVALID_ARGUMENT.*id: .*dead letters/,
      );
    },
  );

  test.each<[string, string, HandlerRepeat, RegExp]>([
    [
      'an invalid cron',
      randomName('q'),
      { cron: 'at nine' },
      /INVALID_OPTION.*@DelayedHandler on Handler.handle: repeat: .*not a valid calendar/,
    ],
    ['the name of a family', 'tenant-*', EVERY_SECOND, /INVALID_OPTION.*repeat: .*a family of queues cannot have it/],
    [
      'a string instead of a rule',
      randomName('q'),
      'daily' as never,
      /INVALID_OPTION.*repeat must be an object with cron/,
    ],
  ])('makes startup fail if its handler declares it with %s', async (_, queue, repeat, problem) => {
    const starting = scene.startApp({
      module: { calendar },
      providers: [repeatingHandler(queue, repeat, () => undefined)],
    });
    expect(await problemOf(starting)).toMatch(problem);
  });

  test('is offered again until it is accepted, while the application runs', async () => {
    const times: number[] = [];
    const queue = scene.newQueue();
    const handler = repeatingHandler(queue, EVERY_SECOND, (_, { dueAt }) => times.push(dueAt.getTime()));
    @Injectable()
    class Blocker implements OnApplicationBootstrap {
      constructor(private readonly producer: DelayQueueProducer) {}
      async onApplicationBootstrap() {
        await this.producer.offer(queue, null, '1h', { id: 'in the way' });
      }
    }
    const { producer, log } = await scene.startApp({
      module: { calendar, store: 'memory', defaults: { maxMessages: 1 } },
      providers: [handler, Blocker],
    });
    expect(log.join('\n')).toContain('the message that repeats for its handler could not be offered');
    expect(await producer.cancel(queue, 'in the way')).toBe(true);
    await until(() => times.length > 0, { within: 15_000 });
  });
});

describe('a repeating message in virtual time', () => {
  async function startAt(date: string, handler: ReturnType<typeof repeatingHandler>) {
    const module = await Test.createTestingModule({
      imports: [DelayQueueModule.forRoot({ calendar }), DelayQueueTestingModule.startAt(new Date(date))],
      providers: [handler],
    }).compile();
    await module.init();
    return { module, tester: module.get(DelayQueueTester), producer: module.get(DelayQueueProducer) };
  }

  const DAILY = { cron: '0 9 * * *', timeZone: 'Europe/Berlin' };

  test('is delivered at 9:00 local time on every day of a year', async () => {
    const times: Date[] = [];
    const handler = repeatingHandler('digests', DAILY, (_, { repeat }) => times.push(repeat!.at));
    const { module, tester } = await startAt('2030-01-01T12:00:00Z', handler);
    expect(tester.offered('digests')).toMatchObject([{ id: 'repeat', dueAt: new Date('2030-01-02T08:00:00Z') }]);
    await tester.advance('365d');
    const walls = times.map((time) => time.toLocaleString('sv', { timeZone: 'Europe/Berlin' }));
    expect(walls.filter((wall) => !wall.endsWith(' 09:00:00'))).toEqual([]);
    expect(new Set(walls).size).toBe(365);
    expect(walls).toHaveLength(365);
    await module.close();
  });

  test.each([
    ['once', ['2030-01-02T08:00', '2030-01-11T08:00']],
    ['skip', ['2030-01-11T08:00']],
  ] as const)('is delivered for missed occurrences as its rule says: %s', async (missed, expected) => {
    const times: string[] = [];
    const handler = repeatingHandler('digests', { ...DAILY, missed }, (_, { repeat }) => {
      times.push(repeat!.at.toISOString().slice(0, 16));
    });
    const { module, tester, producer } = await startAt('2030-01-01T12:00:00Z', handler);
    await producer.pause('digests');
    await tester.advance('9d');
    expect(times).toEqual([]);
    await producer.resume('digests');
    await tester.advance('1d');
    expect(times).toEqual(expected);
    await module.close();
  });

  test('does not count an occurrence less than a minute late as missed', async () => {
    let handled = 0;
    const { module, tester, producer } = await startAt(
      '2030-01-01T07:59:30Z',
      repeatingHandler('digests', { ...DAILY, missed: 'skip' }, () => handled++),
    );
    await producer.pause('digests');
    await tester.advance('89s');
    await producer.resume('digests');
    await tester.advance('1s');
    expect(handled).toBe(1);
    await module.close();
  });

  test('leaves a dead letter for an expired occurrence, and is delivered at its next time', async () => {
    const times: string[] = [];
    const repeat = { ...DAILY, expiresAfter: '5m', onExpired: 'dead' } as const;
    const handler = repeatingHandler('digests', repeat, (_, { dueAt }) => times.push(dueAt.toISOString()));
    const { module, tester, producer } = await startAt('2030-01-01T07:30:00Z', handler);
    await producer.pause('digests');
    await tester.advance('40m');
    await producer.resume('digests');
    await tester.advance('1d');
    expect(times).toEqual(['2030-01-02T08:00:00.000Z']);
    const { messages } = await producer.deadLetters('digests').list();
    expect(messages).toMatchObject([{ id: '{repeat}@2030-01-01T08:00:00.000Z', error: { name: 'Expired' } }]);
    await module.close();
  });

  test('ends when its rule has no further times', async () => {
    let handled = 0;
    const { module, tester, producer } = await startAt(
      '2030-01-01T00:00:00Z',
      repeatingHandler('digests', { cron: '0 0 9 1 2 * 2030' }, () => handled++),
    );
    await tester.advance('400d');
    expect(handled).toBe(1);
    expect(await producer.counts('digests')).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
    await module.close();
  });
});
