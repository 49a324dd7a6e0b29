import { describe, expect, test } from '@jest/globals';
import { Injectable, type Type } from '@nestjs/common';
import {
  again,
  DelayedHandler,
  type DelayedMessage,
  DelayQueue,
  type DelayQueueEvent,
  type DelayQueueModuleOptions,
  payload,
  type QueueOptions,
  RetryMessage,
} from '../../lib/index.js';
import { calendar } from '../../lib/calendar/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const AT_ONCE = { type: 'fixed', delay: 0 } as const;
const SHOWN = { type: 'fixed', delay: 60_000, jitter: 0 } as const;

/** Fails, and notes each attempt by the message's id. */
class Failing {
  readonly attempts: Record<string, number[]> = {};
  readonly messages: DelayedMessage[] = [];

  readonly handle = (_payload: unknown, message: DelayedMessage): unknown => {
    (this.attempts[message.id] ??= []).push(message.attempt);
    this.messages.push(message);
    throw new Error('failed');
  };
}

describe.each<[string, DelayQueueModuleOptions]>([
  ['Redis', {}],
  ['Redis with partitions', { defaults: { partitions: 3 } }],
  ['Redis with groups', { defaults: { groups: { concurrency: 1 } } }],
  ['memory', { store: 'memory' }],
])('a message with its own attempts and backoff: %s', (_name, given) => {
  const scene = new Scene();

  async function start(providers: (queue: string) => Type[], options: QueueOptions = {}) {
    const queue = scene.newQueue();
    const events: DelayQueueEvent[] = [];
    const observer = { event: (event: DelayQueueEvent) => void events.push(event) };
    const module = { ...given, calendar, defaults: { ...given.defaults, ...options }, observers: [observer] };
    const app = await scene.startApp({ module, providers: providers(queue) });
    const dead = async () => (await app.producer.counts(queue)).dead;
    return { ...app, queue, events, dead };
  }

  test('has as many attempts as it says, more or fewer than its queue, also after a redrive', async () => {
    const failing = new Failing();
    const { producer, queue, events, dead } = await start((name) => [handlerOf(name, failing.handle)], {
      ...{ attempts: 3, backoff: AT_ONCE },
    });
    const group = given.defaults?.groups ? { group: 'g' } : {};
    await producer.offer(queue, 1, 0, { id: 'fewer', attempts: 1, ...group });
    await producer.offerMany(queue, [
      { payload: 1, delay: 0, id: 'more', attempts: 5, ...group },
      { payload: 1, delay: 0, id: 'as its queue' },
    ]);
    await until(async () => (await dead()) === 3);
    expect(failing.attempts).toEqual({ fewer: [1], more: [1, 2, 3, 4, 5], 'as its queue': [1, 2, 3] });
    expect(failing.messages.map(({ id, attempts }) => `${id} ${attempts}`)).toContain('more 5');
    const failed = events.filter((event) => event.name === 'failed');
    expect(new Set(failed.map(({ id, attempts }) => `${id} ${attempts}`))).toEqual(
      new Set(['fewer 1', 'more 5', 'as its queue 3']),
    );

    await producer.deadLetters(queue).redriveAll();
    await until(async () => (await dead()) === 3);
    expect(failing.attempts.fewer).toEqual([1, 1]);
    expect(failing.attempts.more).toEqual([1, 2, 3, 4, 5, 1, 2, 3, 4, 5]);
    expect(await producer.find(queue, 'more')).toMatchObject({ attempts: 5, failedAttempts: 5 });
  });

  test('waits as long as its own backoff says', async () => {
    const failing = new Failing();
    const { producer, queue } = await start((name) => [handlerOf(name, failing.handle)], {
      backoff: { type: 'fixed', delay: '1h' },
    });
    await producer.offer(queue, 1, 0, { id: 'quick', attempts: 3, backoff: AT_ONCE });
    await producer.offer(queue, 1, 0, {
      id: 'slow',
      backoff: { type: 'exponential', delay: '1d', maxDelay: '2d', jitter: 0 },
    });
    await until(() => failing.attempts.quick?.length === 3);
    await until(async () => (await producer.find(queue, 'slow'))?.failedAttempts === 1);
    const { dueAt, backoff, attempts } = (await producer.find(queue, 'slow'))!;
    expect(dueAt.getTime()).toBeGreaterThan(Date.now() + 23 * 3_600_000);
    expect(backoff).toEqual({ type: 'exponential', delay: 86_400_000, factor: 2, maxDelay: 172_800_000, jitter: 0 });
    expect(attempts).toBeUndefined();
  });

  test('keeps them through changes, again() and an expiry, and shows them', async () => {
    let calls = 0;
    const handle = () => (++calls === 1 ? again('1h', { payload: 2 }) : undefined);
    const { producer, queue } = await start((name) => [handlerOf(name, handle)]);
    const retries = { attempts: 7, backoff: { type: 'fixed', delay: '1m' } } as const;
    await producer.offer(queue, 1, '1h', { id: 'a', type: 't', headers: { h: '1' }, expiresAfter: '1d', ...retries });
    const shown = { attempts: 7, backoff: SHOWN, type: 't', headers: { h: '1' } };
    expect(await producer.find(queue, 'a')).toMatchObject({ payload: 1, ...shown });
    expect((await producer.list(queue, 'delayed')).messages).toMatchObject([shown]);
    expect((await producer.search(queue, { state: 'delayed', type: 't' })).messages).toMatchObject([shown]);
    await producer.reschedule(queue, 'a', '2h', { payload: 3 });
    expect(await producer.find(queue, 'a')).toMatchObject({ payload: 3, ...shown });
    await producer.reschedule(queue, 'a', 0);
    await until(async () => (await producer.find(queue, 'a'))?.payload === 2);
    expect(await producer.find(queue, 'a')).toMatchObject({ state: 'delayed', ...shown });
  });

  test('gets others with a change, but at least one more attempt', async () => {
    const failing = new Failing();
    const { producer, queue, dead } = await start((name) => [handlerOf(name, failing.handle)]);
    await producer.offer(queue, 1, '1h', { id: 'a' });
    await producer.reschedule(queue, 'a', '1h', { attempts: 3 });
    await producer.reschedule(queue, 'a', '1h', { backoff: { type: 'fixed', delay: '1h' } });
    expect(await producer.find(queue, 'a')).toMatchObject({ attempts: 3, payload: 1 });
    for (const failed of [1, 2]) {
      await producer.reschedule(queue, 'a', 0);
      await until(async () => (await producer.find(queue, 'a'))?.failedAttempts === failed);
      await until(async () => (await producer.find(queue, 'a'))?.state === 'delayed');
    }
    await producer.reschedule(queue, 'a', 0, { attempts: 1 });
    await until(async () => (await dead()) === 1);
    expect(failing.attempts).toEqual({ a: [1, 2, 3] });
    expect(await producer.find(queue, 'a')).toMatchObject({ attempts: 3, error: { name: 'Error' } });
  });

  test('may follow or replace another', async () => {
    const { producer, queue } = await start(() => []);
    await producer.offer(queue, 1, '1h', { id: 'a', attempts: 2 });
    await producer.offer(queue, 2, '1h', { id: 'a', onDuplicate: 'replace' });
    expect((await producer.find(queue, 'a'))!.attempts).toBeUndefined();
    await producer.offer(queue, 2, '1h', { id: 'a', onDuplicate: 'replace', attempts: 9, maxWait: '2h' });
    expect(await producer.find(queue, 'a')).toMatchObject({ attempts: 9 });
  });

  test('has those of its type if it is offered through the class of its queue, unless it has its own', async () => {
    const queue = scene.newQueue();
    class Orders extends DelayQueue(
      queue,
      { remind: payload<number>(), cancel: payload<number>() },
      { attempts: 2, types: { remind: { attempts: 4, backoff: { type: 'fixed', delay: '1m' } } } },
    ) {}
    const { context, producer } = await scene.startApp({ module: { ...given, calendar }, providers: [Orders] });
    const orders = context.get(Orders, { strict: false });
    await orders.offer('remind', 1, '1h', { id: 'a' });
    await orders.offer('remind', 1, '1h', { id: 'b', attempts: 9, headers: { h: '1' } });
    await orders.offerMany([
      { type: 'remind', payload: 1, delay: '1h', id: 'c' },
      { type: 'remind', payload: 1, delay: '1h', id: 'd', backoff: AT_ONCE },
      { type: 'cancel', payload: 1, delay: '1h', id: 'e' },
    ]);
    const found = async (id: string) => {
      const { attempts, backoff } = (await producer.find(queue, id))!;
      return [attempts, backoff];
    };
    expect(await found('a')).toEqual([4, SHOWN]);
    expect(await found('b')).toEqual([9, SHOWN]);
    expect(await found('c')).toEqual([4, SHOWN]);
    expect(await found('d')).toEqual([4, { ...AT_ONCE, jitter: 0 }]);
    expect(await found('e')).toEqual([undefined, undefined]);
    if (given.defaults?.groups) return;
    await orders.repeat('remind', 'f', { cron: '0 9 * * *', attempts: 1 }, 1);
    expect(await found('f')).toEqual([1, SHOWN]);
  });

  test('is retried after the delay of a RetryMessage instead of its backoff, and dies with its last attempt', async () => {
    const failing = new Failing();
    const handle = (value: unknown, message: DelayedMessage) => {
      try {
        failing.handle(value, message);
      } catch (cause) {
        throw new RetryMessage(message.attempt === 1 ? 0 : '1h', { cause });
      }
    };
    const { producer, queue, dead } = await start((name) => [handlerOf(name, handle)], {
      ...{ attempts: 3, backoff: { type: 'fixed', delay: '1d' } },
    });
    await producer.offer(queue, 1, 0, { id: 'a' });
    await until(async () => (await producer.find(queue, 'a'))?.failedAttempts === 2);
    await until(async () => (await producer.find(queue, 'a'))?.state === 'delayed');
    const wait = (await producer.find(queue, 'a'))!.dueAt.getTime() - Date.now();
    expect(wait).toBeGreaterThan(3_500_000);
    expect(wait).toBeLessThan(3_700_000);
    await producer.reschedule(queue, 'a', 0);
    await until(async () => (await dead()) === 1);
    expect(failing.attempts).toEqual({ a: [1, 2, 3] });
    const { error } = (await producer.find(queue, 'a'))!;
    expect(error).toMatchObject({ name: 'RetryMessage', message: expect.stringContaining('failed') });
  });

  test('is retried on its own in a batch', async () => {
    const seen: string[] = [];
    const { producer, queue, dead } = await start((name) => {
      @Injectable()
      class Batches {
        @DelayedHandler(name, { batch: 3, batchWait: '200ms', attempts: 2 })
        handle(_payloads: unknown[], messages: DelayedMessage[]) {
          seen.push(...messages.map(({ id, attempt }) => `${id} ${attempt}`));
          return messages.map(({ id }) => (id === 'fine' ? undefined : new RetryMessage(0)));
        }
      }
      return [Batches];
    });
    await producer.offerMany(queue, [
      { payload: 1, delay: 0, id: 'once', attempts: 1 },
      { payload: 1, delay: 0, id: 'twice' },
      { payload: 1, delay: 0, id: 'fine' },
    ]);
    await until(async () => (await dead()) === 2);
    expect(seen.sort()).toEqual(['fine 1', 'once 1', 'twice 1', 'twice 2']);
  });
});

describe('a repeating message with its own attempts', () => {
  const scene = new Scene();

  test('has them for each occurrence, and its dead letters keep them', async () => {
    const queue = scene.newQueue();
    const failing = new Failing();
    const module = { calendar, defaults: { attempts: 5, backoff: AT_ONCE } };
    const { producer } = await scene.startApp({ module, providers: [handlerOf(queue, failing.handle)] });
    await producer.repeat(queue, 'a', { cron: '* * * * * *', attempts: 2 }, 1);
    expect(await producer.find(queue, 'a')).toMatchObject({ attempts: 2, repeat: { cron: '* * * * * *' } });
    await until(async () => (await producer.counts(queue)).dead >= 2);
    await producer.cancel(queue, 'a');
    expect(failing.attempts.a!.slice(0, 4)).toEqual([1, 2, 1, 2]);
    const { messages } = await producer.deadLetters(queue).list();
    expect(messages[0]).toMatchObject({ attempts: 2, failedAttempts: 2 });
  });

  test('is replaced by an offer with others', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { calendar } });
    await producer.repeat(queue, 'a', { cron: '0 9 * * *', attempts: 2 }, 1);
    await producer.repeat(queue, 'a', { cron: '0 9 * * *', attempts: 3 }, 1);
    expect(await producer.find(queue, 'a')).toMatchObject({ attempts: 3 });
  });
});

describe("Redisson's layout", () => {
  const scene = new Scene();

  test('refuses attempts and backoff of a message, in words, before anything is written', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { calendar, defaults: { layout: redisson() } } });
    const refused = { code: 'UNSUPPORTED_BY_LAYOUT', message: expect.stringContaining('leave it out') };
    await expect(producer.offer(queue, 1, 1, { attempts: 2 })).rejects.toMatchObject(refused);
    await expect(producer.offer(queue, 1, 1, { attempts: 2 })).rejects.toThrow('attempts: layout');
    await expect(producer.offer(queue, 1, 1, { backoff: AT_ONCE })).rejects.toThrow('backoff: layout');
    await expect(producer.offerMany(queue, [{ payload: 1, delay: 1, attempts: 2 }])).rejects.toMatchObject(refused);
    await expect(producer.reschedule(queue, 'a', 1, { attempts: 2 })).rejects.toThrow('attempts: layout');
    expect(await producer.counts(queue)).toMatchObject({ delayed: 0, ready: 0 });
  });
});
