import { describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import {
  again,
  DeferMessage,
  DelayedHandler,
  type DelayedMessage,
  DelayQueue,
  payload,
  type PayloadOf,
  RejectMessage,
} from '../../lib/index.js';
import { DelayQueueTestingModule, type HandleOutcome } from '../../lib/testing/index.js';
import type { GroupOptions } from '../support/of-group.js';
import { handlerOf } from '../support/test-app.js';
import { TestedApps } from '../support/tested-app.js';
import { typedHandlersOf } from '../support/typed-handlers.js';

const START = new Date('2031-03-05T12:00:00Z');
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** The messages that a handler got, and when. */
type Log = [payload: unknown, at: string][];

class Orders extends DelayQueue(
  'orders',
  { remind: z.object({ orderId: z.string(), at: z.iso.datetime().transform((text) => new Date(text)) }) },
  { attempts: 2 },
) {}
class Visits extends DelayQueue('visits', payload<{ page: string }>()) {}

describe('a typed queue under test', () => {
  const apps = new TestedApps();

  test('can be given to the tester as its class', async () => {
    const handled: unknown[] = [];
    @Injectable()
    class Handlers {
      @DelayedHandler(Orders, 'remind')
      remind(order: PayloadOf<typeof Orders, 'remind'>) {
        handled.push(order);
        if (order.orderId === 'none') throw new Error('no such order');
      }
      @DelayedHandler(Visits, { batch: 10, batchWait: '1m' })
      count(visits: PayloadOf<typeof Visits>[]) {
        handled.push(visits);
      }
    }
    const { tester, module } = await apps.startParts({ providers: [Orders, Visits, Handlers] });
    const at = '2030-01-01T00:00:00.000Z';
    await module.get(Orders, { strict: false }).offer('remind', { orderId: 'o-1', at }, '30m');
    await module.get(Visits, { strict: false }).offer({ page: '/a' }, '30m');
    await module.get(Visits, { strict: false }).offer({ page: '/b' }, '30m');
    const [offered] = tester.offered(Orders);
    const text: string = offered!.payload.at;
    expect({ text, type: offered!.type }).toEqual({ text: at, type: 'remind' });
    expect(tester.offered(Visits).map((visit) => visit.payload.page)).toEqual(['/a', '/b']);

    await tester.advance('30m');
    expect(handled).toEqual([{ orderId: 'o-1', at: new Date(at) }, [{ page: '/a' }, { page: '/b' }]]);

    const failed = await tester.handle(Orders, 'remind', { orderId: 'none', at }, { attempt: 2 });
    expect(failed).toEqual({ kind: 'dead', error: new Error('no such order') });
    expect(await tester.handle(Visits, { page: '/c' })).toEqual({ kind: 'ack' });
    expect(handled.at(-1)).toEqual([{ page: '/c' }]);
    expect(await tester.handle(Orders, 'remind', { orderId: 'o', at: 'soon' })).toMatchObject({
      kind: 'dead',
      error: { name: 'InvalidPayload', message: 'the schema refuses payload.at' },
    });
  });
});

describe('a batch handler under test', () => {
  const apps = new TestedApps();
  const no = new Error('no');

  test.each<[string, () => unknown, HandleOutcome]>([
    ['a row with a status', () => ({ id: 7, status: 'rejected', reason: 'out of stock' }), { kind: 'ack' }],
    ['a settled result', () => ({ status: 'rejected', reason: no }), { kind: 'dead', error: no }],
    ['a promise', () => Promise.reject(no), { kind: 'dead', error: no }],
  ])('that returns an array with %s has the same outcome as on a queue', async (_, result, outcome) => {
    @Injectable()
    class Statistics {
      @DelayedHandler('stats', { batch: 10, attempts: 1 })
      count() {
        return [result()];
      }
    }
    const { tester, producer } = await apps.startParts({ providers: [Statistics] });
    expect(await tester.handle('stats', 'a')).toEqual(outcome);

    await producer.offer('stats', 'a', 0);
    await tester.drain();
    expect(await producer.counts('stats')).toMatchObject({ active: 0, dead: outcome.kind === 'dead' ? 1 : 0 });
  });
});

describe("a queue's rate under test", () => {
  const apps = new TestedApps();

  test('does not delay tests', async () => {
    let calls = 0;
    const { tester, producer } = await apps.startParts({
      providers: [handlerOf('mails', () => void calls++, { rate: { max: 1, per: '1h' } })],
    });
    await producer.offerMany(
      'mails',
      [1, 2, 3].map((each) => ({ payload: each, delay: 0 })),
    );
    await tester.advance(0);
    expect(calls).toBe(3);
  });
});

describe('grouped messages under test', () => {
  const apps = new TestedApps();

  function start(groups: GroupOptions) {
    const handled: string[] = [];
    const handle = (payload: unknown, { id, attempt }: DelayedMessage) => {
      handled.push(id);
      if (payload === 'fails' && attempt === 1) throw new Error('no');
    };
    const backoff = { type: 'fixed', delay: '10m' } as const;
    return apps
      .startParts({ providers: [handlerOf('orders', handle, { groups, backoff })] })
      .then((parts) => ({ handled, ...parts }));
  }

  test.each<[GroupOptions['onRetry'], string[]]>([
    ['hold', ['a1', 'b1', 'a1', 'a2']],
    ['pass', ['a1', 'b1', 'a2', 'a1']],
  ])("follow the rules of their groups as time passes: onRetry '%s'", async (onRetry, expected) => {
    const { tester, producer, handled } = await start({ onRetry });
    await producer.offer('orders', 'fails', '1h', { id: 'a1', group: 'a' });
    await producer.offer('orders', 'works', '61m', { id: 'a2', group: 'a' });
    await producer.offer('orders', 'works', '1h', { id: 'b1', group: 'b' });
    await tester.advance('65m');
    expect(handled).toEqual(expected.slice(0, onRetry === 'hold' ? 2 : 3));
    expect(await producer.find('orders', 'a2')).toEqual(
      onRetry === 'hold' ? expect.objectContaining({ state: 'ready', group: 'a' }) : null,
    );
    await tester.drain();
    expect(handled).toEqual(expected);
  });

  test('are recorded with their group and can be cancelled by group', async () => {
    const { tester, producer, handled } = await start({ concurrency: 1 });
    await producer.offer('orders', 'works', '1h', { id: 'a1', group: 'a' });
    await producer.offer('orders', 'works', '1h', { id: 'plain' });
    expect(tester.offered('orders')).toMatchObject([{ id: 'a1', group: 'a' }, { id: 'plain' }]);
    expect(tester.offered('orders')[1]).not.toHaveProperty('group');
    expect(await producer.group('orders', 'a').cancelAll()).toBe(1);
    await tester.drain();
    expect(handled).toEqual(['plain']);
  });

  test('are passed with their group to a handler that a test calls, and refused if its queue has no groups', async () => {
    const groups: unknown[] = [];
    const handle = (_payload: unknown, { group }: DelayedMessage) => void groups.push(group);
    const providers = [handlerOf('orders', handle, { groups: {} }), handlerOf('mails', handle)];
    const { tester } = await apps.startParts({ providers });
    expect(await tester.handle('orders', 1, { group: 'a' })).toEqual({ kind: 'ack' });
    await expect(tester.handle('mails', 1, { group: 'a' })).rejects.toThrow("group: queue 'mails' has no groups");
    expect(groups).toEqual(['a']);
  });
});

describe('a family of queues under test', () => {
  const apps = new TestedApps();

  test('handles the due messages of each of its queues', async () => {
    const handled: string[] = [];
    const { tester, producer } = await apps.startParts({
      providers: [handlerOf('tenant-*', (_payload, { queue }) => void handled.push(queue))],
    });
    await producer.offer('tenant-7', 'a', '3d');
    await producer.offer('tenant-8', 'b', '1h');
    await tester.advance('1d');
    expect(handled).toEqual(['tenant-8']);
    await tester.drain();
    expect(handled).toEqual(['tenant-8', 'tenant-7']);
  });

  test('lets a test call its handler for each of its queues, and for no others', async () => {
    const { tester } = await apps.startParts({
      providers: [handlerOf('tenant-*', (_payload, { queue }) => Promise.reject(new RejectMessage(queue)))],
    });
    expect(await tester.handle('tenant-7', 'a')).toEqual({ kind: 'dead', error: new RejectMessage('tenant-7') });
    await expect(tester.handle('guest-7', 'a')).rejects.toThrow(
      "no handler for queue 'guest-7'; it handles 'tenant-*'",
    );
  });
});

describe('the list of offers', () => {
  const apps = new TestedApps();

  test('is complete and in order', async () => {
    const { tester, producer } = await apps.startParts({ testing: DelayQueueTestingModule.startAt(START) });
    const headers = { tenant: 'acme' };
    await producer.offer('orders', { orderId: 'o-1' }, '30m', { id: 'unpaid:o-1', type: 'cancel-unpaid', headers });
    await producer.offerMany<unknown>('mails', [
      { payload: 'a', delay: 0 },
      { payload: Buffer.from('b'), delay: 5 },
    ]);
    await producer.offerAt('orders', { on: START }, new Date(START.getTime() + DAY));
    await producer.offerAt('orders', 'late', new Date(0));
    expect(tester.offered('orders')).toEqual([
      {
        queue: 'orders',
        id: 'unpaid:o-1',
        type: 'cancel-unpaid',
        payload: { orderId: 'o-1' },
        headers,
        delay: 30 * MINUTE,
        dueAt: new Date('2031-03-05T12:30:00Z'),
      },
      {
        queue: 'orders',
        id: expect.any(String),
        type: '',
        payload: { on: START.toISOString() },
        headers: {},
        delay: DAY,
        dueAt: new Date('2031-03-06T12:00:00Z'),
      },
      expect.objectContaining({ payload: 'late', delay: 0, dueAt: new Date(0) }),
    ]);
    expect(tester.offered('mails').map(({ payload }) => payload)).toEqual(['a', Buffer.from('b')]);
    expect(tester.offered()).toHaveLength(5);
    expect(tester.offered('nobody')).toEqual([]);
  });

  test('keeps cancelled and handled offers, but excludes retries and messages redelivered by again()', async () => {
    let calls = 0;
    const handle = ({ kind }: { kind: string }) => {
      calls++;
      if (kind === 'fails' && calls === 1) throw new Error('not yet');
      if (kind === 'again' && calls === 3) return again('1h');
      return undefined;
    };
    const { tester, producer } = await apps.startParts({ providers: [handlerOf('orders', handle)] });
    await producer.offer('orders', { kind: 'cancelled' }, '1h', { id: 'c' });
    await producer.cancel('orders', 'c');
    await producer.offer('orders', { kind: 'fails' }, '1h');
    await producer.offer('orders', { kind: 'again' }, '2h');
    await tester.drain();
    expect(calls).toBe(4);
    expect(tester.offered('orders').map(({ payload }) => payload)).toEqual([
      { kind: 'cancelled' },
      { kind: 'fails' },
      { kind: 'again' },
    ]);
  });

  test('contains the offers of handlers', async () => {
    const app = await apps.startParts({
      providers: [handlerOf('orders', () => app.producer.offer('mails', 'sorry', '1d'))],
    });
    await app.producer.offer('orders', 'o-1', '30m');
    await app.tester.advance('30m');
    expect(app.tester.offered('mails')).toMatchObject([{ payload: 'sorry', delay: DAY }]);
  });

  test('contains an offer that replaced another, but no offer that was ignored or refused', async () => {
    const { tester, producer } = await apps.startParts();
    await producer.offer('orders', 'first', '1h', { id: 'o-1' });
    await producer.offer('orders', 'kept out', '1h', { id: 'o-1' });
    await producer.offer('orders', 'refused', '1h', { id: 'o-1', onDuplicate: 'reject' }).catch(() => undefined);
    await producer.offer('orders', 'second', '1h', { id: 'o-1', onDuplicate: 'replace' });
    expect(tester.offered('orders').map(({ payload }) => payload)).toEqual(['first', 'second']);
  });

  test('is also available before the application has started', async () => {
    const { DelayQueueModule } = await import('../../lib/index.js');
    const { tester, producer } = await apps.compile(DelayQueueModule.forRoot(), DelayQueueTestingModule);
    await producer.offer('orders', 'o-1', '30m');
    expect(tester.offered('orders')).toMatchObject([{ payload: 'o-1', delay: 30 * MINUTE }]);
  });
});

describe('virtual time', () => {
  const apps = new TestedApps();

  test('stands still until it is moved', async () => {
    const log: Log = [];
    const providers = [handlerOf('orders', (payload) => log.push([payload, '']))];
    const { tester, producer } = await apps.startParts({ providers, testing: DelayQueueTestingModule.startAt(START) });
    await producer.offer('orders', 'due', 0);
    await producer.offer('orders', 'soon', 1);
    await sleep(30);
    expect([log, tester.now()]).toEqual([[], START]);
    await tester.advance(0);
    expect(log).toEqual([['due', '']]);
    await tester.advance(1);
    expect(log).toEqual([
      ['due', ''],
      ['soon', ''],
    ]);
    expect(tester.now()).toEqual(new Date(START.getTime() + 1));
  });

  test('starts at the time of Date', async () => {
    const before = Date.now();
    const { tester } = await apps.startParts();
    expect(tester.now().getTime()).toBeGreaterThanOrEqual(before);
    expect(tester.now().getTime()).toBeLessThanOrEqual(Date.now());
  });

  test('has each message handled at its due time, in order across all queues, however far it is moved', async () => {
    const log: string[] = [];
    const note = (payload: unknown, { dueAt }: DelayedMessage) =>
      void log.push(`${String(payload)} ${dueAt.toISOString()} ${app.tester.now().toISOString()}`);
    const app = await apps.startParts({
      providers: [handlerOf('a', note), handlerOf('b', note)],
      testing: DelayQueueTestingModule.startAt(START),
    });
    await app.producer.offer('a', 'second', '2h');
    await app.producer.offer('b', 'third', '3h');
    await app.producer.offer('b', 'first', '1h');
    await app.producer.offer('b', 'never', '5h');
    await app.tester.advance('4h');
    expect(log).toEqual([
      'first 2031-03-05T13:00:00.000Z 2031-03-05T13:00:00.000Z',
      'second 2031-03-05T14:00:00.000Z 2031-03-05T14:00:00.000Z',
      'third 2031-03-05T15:00:00.000Z 2031-03-05T15:00:00.000Z',
    ]);
    expect(app.tester.now()).toEqual(new Date('2031-03-05T16:00:00Z'));
  });

  test('does not move while a handler waits for real input and output', async () => {
    const server = createServer((_, response) =>
      setTimeout(() => response.setHeader('connection', 'close').end('pong'), 10),
    ).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const done: unknown[] = [];
    const providers = [
      handlerOf('slow', async () => {
        await sleep(20);
        const text = await readFile(import.meta.filename, 'utf8');
        const answer = await (await fetch(`http://127.0.0.1:${port}`)).text();
        done.push(text.length > 0, answer, app.tester.now());
      }),
      handlerOf('quick', () => done.push('quick')),
    ];
    const app = await apps.startParts({ providers, testing: DelayQueueTestingModule.startAt(START) });
    await app.producer.offer('slow', null, 1);
    await app.producer.offer('quick', null, 2);
    await app.tester.advance('1d');
    server.close();
    expect(done).toEqual([true, 'pong', new Date(START.getTime() + 1), 'quick']);
  });

  test("does not count a handler's real time against its timeout or its lease", async () => {
    const attempts: number[] = [];
    const handle = async (_: unknown, { attempt, signal }: DelayedMessage) => {
      await sleep(30);
      attempts.push(attempt);
      expect(signal.aborted).toBe(false);
    };
    const { tester, producer } = await apps.startParts({
      providers: [handlerOf('orders', handle, { timeout: 10, lease: '1s' })],
    });
    await producer.offer('orders', null, '30m');
    await tester.advance('1y');
    expect(attempts).toEqual([1]);
  });

  test('delivers retries after their backoff, without jitter, until the message is a dead letter', async () => {
    const at: number[] = [];
    const handle = () => {
      at.push(app.tester.now().getTime() - START.getTime());
      throw new Error('the mail server is down');
    };
    const app = await apps.startParts({
      providers: [handlerOf('mails', handle, { attempts: 4 })],
      testing: DelayQueueTestingModule.startAt(START),
    });
    await app.producer.offer('mails', null, 1000, { id: 'm-1' });
    await app.tester.advance('2s');
    expect(at).toEqual([1000, 2000]);
    await app.tester.drain();
    expect(at).toEqual([1000, 2000, 4000, 8000]);
    const { messages: letters } = await app.producer.deadLetters('mails').list();
    expect(letters).toMatchObject([{ id: 'm-1', failedAttempts: 4, error: { message: 'the mail server is down' } }]);
  });

  test('delivers redriven dead letters and messages that waited while the queue was paused', async () => {
    const handled: unknown[] = [];
    let isBroken = true;
    const handle = (payload: unknown) => {
      if (isBroken) throw new RejectMessage('broken');
      handled.push(payload);
    };
    const { tester, producer } = await apps.startParts({ providers: [handlerOf('orders', handle)] });
    await producer.offer('orders', 'dead', '1h');
    await tester.advance('1h');
    isBroken = false;
    await producer.deadLetters('orders').redriveAll();
    await tester.advance(0);
    expect(handled).toEqual(['dead']);
    await producer.pause('orders');
    await producer.offer('orders', 'paused', '1h');
    await tester.drain();
    expect(handled).toEqual(['dead']);
    await producer.resume('orders');
    await tester.advance(0);
    expect(handled).toEqual(['dead', 'paused']);
  });

  test('covers a year in less than a second of CPU time in an application with many queues', async () => {
    const providers = Array.from({ length: 20 }, (_, i) => handlerOf(`queue-${i}`, () => undefined));
    const { tester, producer } = await apps.startParts({ providers });
    await producer.offer('queue-7', null, '400d');
    const before = process.cpuUsage();
    await tester.advance('1y');
    const { user, system } = process.cpuUsage(before);
    expect(user + system).toBeLessThan(1_000_000);
    expect(await producer.counts('queue-7')).toMatchObject({ delayed: 1 });
  });

  test('covers 83 minutes and 5,000 due times within seconds', async () => {
    const seen: number[] = [];
    const { tester, producer } = await apps.startParts({
      providers: [handlerOf<number>('orders', (i) => void seen.push(i))],
    });
    const all = Array.from({ length: 5000 }, (_, i) => i);
    // The better of two runs, in CPU time: other tests run at the same time and have run before in this process.
    const took: number[] = [];
    for (let run = 0; run < 2; run++) {
      await producer.offerMany(
        'orders',
        all.map((i) => ({ payload: i, delay: (i + 1) * 1000 })),
      );
      const before = process.cpuUsage();
      await tester.advance(5000 * 1000);
      const { user, system } = process.cpuUsage(before);
      took.push(Math.round((user + system) / 1000));
    }
    console.log(`5,000 messages due over 83 minutes took ${took.join(' and ')} ms`);
    // One or two seconds. Work per due time that grows with the number of messages would take tens of seconds.
    expect(Math.min(...took)).toBeLessThan(6000);
    expect(seen).toEqual([...all, ...all]);
  });

  test('moves to the end of a chain of offers on drain()', async () => {
    const steps: number[] = [];
    const walk = async (step: number) => {
      steps.push(step);
      if (step < 5) await app.producer.offer('steps', step + 1, '1d');
    };
    const app = await apps.startParts({
      providers: [handlerOf('steps', walk)],
      testing: DelayQueueTestingModule.startAt(START),
    });
    await app.producer.offer('steps', 1, '1d');
    await app.tester.drain();
    expect(steps).toEqual([1, 2, 3, 4, 5]);
    expect(app.tester.now()).toEqual(new Date(START.getTime() + 5 * DAY));
  });

  test('leaves messages delayed if other processes handle their queue, and drain() does not wait for them', async () => {
    const { tester, producer } = await apps.startParts({ providers: [handlerOf('orders', () => undefined)] });
    await producer.offer('of-another-service', null, '1h');
    await tester.drain();
    await tester.advance('2h');
    expect(await producer.counts('of-another-service')).toMatchObject({ delayed: 1 });
  });
});

describe('a call that moves time', () => {
  const apps = new TestedApps();

  test('fails when a handler does not end, and names the queue, message and handler', async () => {
    const hangs = typedHandlersOf('orders', { hang: () => new Promise(() => undefined) });
    const { tester, producer } = await apps.startParts({ providers: [hangs] });
    await producer.offer('orders', null, '30m', { id: 'o-1', type: 'hang' });
    const startedAt = performance.now();
    await expect(tester.advance('1h')).rejects.toMatchObject({
      code: 'UNFINISHED',
      messageId: 'o-1',
      message: expect.stringMatching(
        /^advance\(\): .*hang has not ended within 4000 ms.*queue 'orders', message 'o-1' of type 'hang'/,
      ),
    });
    const took = performance.now() - startedAt;
    expect(took).toBeGreaterThan(3900);
    expect(took).toBeLessThan(8000);
  });

  test('fails as soon as its own patience runs out, and does not delay the end of the application', async () => {
    const { module, tester, producer } = await apps.startParts({
      providers: [handlerOf('orders', () => new Promise(() => undefined))],
    });
    await producer.offer('orders', null, '30m');
    const startedAt = performance.now();
    await expect(tester.drain({ patience: 50 })).rejects.toMatchObject({ code: 'UNFINISHED' });
    await expect(tester.handle('orders', null, { patience: 50 })).rejects.toMatchObject({
      code: 'UNFINISHED',
      messageId: 'test-1',
    });
    await module.close();
    // Less than the 4 s of the default patience.
    expect(performance.now() - startedAt).toBeLessThan(3000);
  });

  test('applies its patience to each handler separately, not to all of them together', async () => {
    let handled = 0;
    const handle = async () => {
      await sleep(10);
      handled++;
    };
    const { tester, producer } = await apps.startParts({
      providers: [handlerOf('orders', handle, { concurrency: 1 })],
    });
    await producer.offerMany(
      'orders',
      Array.from({ length: 20 }, () => ({ payload: null, delay: '1h' })),
    );
    await tester.advance('1h', { patience: 100 });
    expect(handled).toBe(20);
  });

  test.each([
    ['at intervals', '1d'],
    ['at once', 0],
  ])('fails when again() keeps redelivering a message %s', async (_, delay) => {
    const { tester, producer } = await apps.startParts({ providers: [handlerOf('reminders', () => again(delay))] });
    await producer.offer('reminders', null, '1d', { id: 'r-1' });
    await expect(tester.drain({ limit: 100 })).rejects.toMatchObject({
      code: 'UNFINISHED',
      message: expect.stringMatching(/^drain\(\): 100 attempts have ended.*queue 'reminders', message 'r-1'/),
    });
    await expect(tester.drain()).rejects.toMatchObject({
      message: expect.stringMatching(/^drain\(\): 10000 attempts/),
    });
  });

  test('succeeds with as many attempts as its limit allows, and does not handle more', async () => {
    const handled: unknown[] = [];
    const { tester, producer } = await apps.startParts({
      providers: [handlerOf('orders', (p) => void handled.push(p))],
    });
    const offerThree = () =>
      producer.offerMany(
        'orders',
        ['1h', '2h', '3h'].map((delay) => ({ payload: delay, delay })),
      );
    await offerThree();
    await tester.drain({ limit: 3 });
    expect(handled).toEqual(['1h', '2h', '3h']);
    await offerThree();
    await expect(tester.advance('4h', { limit: 2 })).rejects.toMatchObject({ code: 'UNFINISHED' });
    expect(handled.slice(3)).toEqual(['1h', '2h']);
  });

  test('leaves a dead letter for a message whose type has no handler', async () => {
    const { tester, producer } = await apps.startParts({
      providers: [typedHandlersOf('orders', { pay: () => undefined })],
    });
    await producer.offer('orders', null, '1h', { type: 'unheard-of' });
    await tester.drain();
    expect(await producer.counts('orders')).toMatchObject({ delayed: 0, dead: 1 });
  });

  test('is refused while another one is under way, such as inside a handler', async () => {
    const refused: unknown[] = [];
    const nested = () => app.tester.advance('1h').catch((error: unknown) => refused.push(error));
    const app = await apps.startParts({ providers: [handlerOf('orders', nested)] });
    await app.producer.offer('orders', null, '1h');
    const first = app.tester.advance('1h');
    await expect(app.tester.drain()).rejects.toMatchObject({ code: 'UNFINISHED' });
    await expect(app.tester.clear()).rejects.toMatchObject({ code: 'UNFINISHED' });
    await first;
    expect(refused).toMatchObject([
      { code: 'UNFINISHED', message: expect.stringContaining('advance() is still under way') },
    ]);
  });
});

describe('a handler that is called with one message', () => {
  const apps = new TestedApps();

  class Declined extends Error {}

  const outcomes: Record<string, () => unknown> = {
    ack: () => 'whatever',
    fail: () => Promise.reject(new Declined('no money')),
    reject: () => {
      throw new RejectMessage('no such order');
    },
    defer: () => {
      throw new DeferMessage('15m');
    },
    again: () => again('1d', { payload: { nth: 2 } }),
    same: () => again('1d'),
  };

  const start = () =>
    apps.startParts({
      options: { queues: { payments: { attempts: 3, backoff: { type: 'exponential', delay: '10s', jitter: 0.5 } } } },
      providers: [typedHandlersOf('payments', outcomes)],
      testing: DelayQueueTestingModule.startAt(START),
    });

  test('yields the outcome that the message would have', async () => {
    const { tester } = await start();
    const handle = (type: string, attempt = 1) => tester.handle('payments', { nth: 1 }, { type, attempt });
    expect(await handle('ack')).toEqual({ kind: 'ack' });
    expect(await handle('fail')).toEqual({ kind: 'retry', delay: 10_000, error: expect.any(Declined) });
    expect(await handle('fail', 2)).toEqual({ kind: 'retry', delay: 20_000, error: expect.any(Declined) });
    expect(await handle('fail', 3)).toEqual({ kind: 'dead', error: expect.any(Declined) });
    expect(await handle('reject')).toEqual({ kind: 'dead', error: new RejectMessage('no such order') });
    expect(await handle('defer')).toEqual({ kind: 'defer', delay: 15 * MINUTE });
    expect(await handle('again')).toEqual({ kind: 'again', delay: DAY, payload: { nth: 2 } });
    expect(await handle('same')).toEqual({ kind: 'again', delay: DAY, payload: { nth: 1 } });
  });

  test('gets the message as it would be delivered, and nothing is stored', async () => {
    const got: DelayedMessage[] = [];
    const handler = handlerOf('orders', (_, message) => void got.push(message));
    const { tester, producer } = await apps.startParts({
      providers: [handler],
      testing: DelayQueueTestingModule.startAt(START),
    });
    await tester.handle(
      'orders',
      { on: START, gone: undefined },
      { id: 'o-1', headers: { tenant: 'acme' }, attempt: 2 },
    );
    await tester.handle('orders', null);
    const [first, second] = got;
    expect(first).toMatchObject({
      queue: 'orders',
      id: 'o-1',
      type: '',
      headers: { tenant: 'acme' },
      attempt: 2,
      dueAt: START,
      offeredAt: START,
    });
    expect(first!.payload).toEqual({ on: START.toISOString() });
    expect(first!.signal.aborted).toBe(false);
    expect(second).toMatchObject({ id: 'test-1', attempt: 1 });
    expect(await producer.counts('orders')).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
    expect(tester.offered()).toEqual([]);
  });

  test('has the attempts and backoff that the test gives it, or those that an offer shows', async () => {
    const { tester, producer } = await start();
    const retries = { attempts: 2, backoff: { type: 'fixed', delay: '7s' } } as const;
    const handle = (attempt: number) => tester.handle('payments', 1, { type: 'fail', attempt, ...retries });
    expect(await handle(1)).toMatchObject({ kind: 'retry', delay: 7000 });
    expect(await handle(2)).toMatchObject({ kind: 'dead', error: expect.any(Declined) });
    expect(await handle(3)).toMatchObject({ kind: 'dead', error: { name: 'LeaseExpired' } });
    await producer.offer('payments', 1, '1h', { type: 'fail', id: 'a', ...retries });
    await producer.offer('payments', 1, '1h', { type: 'ack' });
    const [own, plain] = tester.offered('payments');
    expect(own).toMatchObject({ attempts: 2, backoff: { type: 'fixed', delay: 7000, jitter: 0 } });
    expect(plain).not.toHaveProperty('attempts');
    await tester.advance('2h');
    expect(await producer.find('payments', 'a')).toMatchObject({ state: 'dead', failedAttempts: 2 });
  });

  test('fails even if it throws undefined', async () => {
    const handler = handlerOf('orders', () => {
      // eslint-disable-next-line @typescript-eslint/only-throw-error
      throw undefined;
    });
    const { tester } = await apps.startParts({ providers: [handler] });
    expect(await tester.handle('orders', null, { attempt: 5 })).toEqual({ kind: 'dead', error: undefined });
  });

  test('is called even if the process only offers', async () => {
    const { tester } = await apps.startParts({
      options: { consume: false },
      providers: [handlerOf('orders', () => 1)],
    });
    expect(await tester.handle('orders', null)).toEqual({ kind: 'ack' });
  });
});

describe('an invalid call of the tester', () => {
  const apps = new TestedApps();
  const start = () =>
    apps.startParts({ providers: [typedHandlersOf('payments', { ack: () => undefined, fail: () => undefined })] });

  test.each([
    [
      'a queue without a handler',
      (t: Tester) => t.handle('mails', null),
      /no handler for queue 'mails'; it handles 'payments'/,
    ],
    [
      'a type without a handler',
      (t: Tester) => t.handle('payments', null, { type: 'pay' }),
      /no handler for type 'pay', only for 'ack', 'fail'/,
    ],
    [
      'no type where all handlers have one',
      (t: Tester) => t.handle('payments', null),
      /no handler for messages without a type/,
    ],
    ['an invalid queue name', (t: Tester) => t.handle('{}', null), /^queue: /],
    [
      'attempt 0',
      (t: Tester) => t.handle('payments', null, { type: 'ack', attempt: 0 }),
      /^attempt must be a whole number from 1/,
    ],
    [
      'an unknown option',
      (t: Tester) => t.handle('payments', null, { kind: 'ack' } as never),
      /type, id, headers, group, attempt/,
    ],
    ['an invalid id', (t: Tester) => t.handle('payments', null, { type: 'ack', id: '' }), /^id: /],
    [
      'patience without a unit',
      (t: Tester) => t.handle('payments', null, { type: 'ack', patience: 'much' }),
      /^patience is not a duration/,
    ],
    ['a duration without a unit', (t: Tester) => t.advance('30 mins ago' as never), /^duration is not a duration/],
    ['a negative duration', (t: Tester) => t.advance(-1), /^duration must be between 0 ms/],
    ['a limit of 0', (t: Tester) => t.drain({ limit: 0 }), /^limit must be a whole number from 1/],
    ['an unknown bound', (t: Tester) => t.advance(1, { timeout: 1 } as never), /limit, patience/],
  ])('is refused with %s', async (_, call, message) => {
    const { tester } = await start();
    await expect(call(tester)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(message),
    });
  });

  test('is refused for a payload that cannot be stored', async () => {
    const { tester } = await start();
    await expect(tester.handle('payments', new Map(), { type: 'ack' })).rejects.toMatchObject({
      code: 'INVALID_PAYLOAD',
    });
  });
});

type Tester = Awaited<ReturnType<TestedApps['start']>>['tester'];

describe('tests that share an application', () => {
  const apps = new TestedApps();

  test('start empty after a clear, at the time at which the previous test ended', async () => {
    const handled: unknown[] = [];
    const handle = (payload: unknown) => {
      if (payload === 'bad') throw new RejectMessage('bad');
      handled.push(payload);
    };
    const { tester, producer } = await apps.startParts({
      providers: [handlerOf('orders', handle)],
      testing: DelayQueueTestingModule.startAt(START),
    });
    await producer.offer('orders', 'bad', '1h');
    await producer.offer('orders', 'left over', '2h');
    await producer.offer('others', 'left over', '2h');
    await tester.advance('1h');
    await producer.pause('orders');
    await tester.clear();
    expect(await producer.counts('orders')).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
    expect(await producer.counts('others')).toMatchObject({ delayed: 0 });
    expect(tester.offered()).toEqual([]);
    expect(tester.now()).toEqual(new Date('2031-03-05T13:00:00Z'));
    await producer.offer('orders', 'fresh', '1h');
    await tester.drain();
    expect(handled).toEqual(['fresh']);
  });
});
