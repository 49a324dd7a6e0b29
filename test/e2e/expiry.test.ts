import { describe, expect, test } from '@jest/globals';
import { Injectable, type Type } from '@nestjs/common';
import {
  again,
  DeferMessage,
  DelayedHandler,
  type DelayedMessage,
  type DelayQueueEvent,
  type DelayQueueModuleOptions,
} from '../../lib/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { Handled } from '../support/handled.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

/** An instant in the distant past. */
const LONG_AGO = new Date(1_000_000_000_000);

class Watched {
  readonly events: DelayQueueEvent[] = [];
  /** The number of messages whose handling an observer has seen. */
  handlings = 0;

  readonly observer = {
    event: (event: DelayQueueEvent) => void this.events.push(event),
    handle: (_message: DelayedMessage, next: () => unknown) => {
      this.handlings++;
      return next();
    },
  };

  of<Name extends DelayQueueEvent['name']>(name: Name): DelayQueueEvent<Name>[] {
    return this.events.filter((event) => event.name === name) as unknown as DelayQueueEvent<Name>[];
  }
}

describe.each<[string, DelayQueueModuleOptions]>([
  ['Redis', {}],
  ['Redis with partitions', { defaults: { partitions: 3 } }],
  ['memory', { store: 'memory' }],
])('a message that expires: %s', (_name, given) => {
  const scene = new Scene();

  async function start(providers: (queue: string) => Type[], options: DelayQueueModuleOptions['defaults'] = {}) {
    const queue = scene.newQueue();
    const watched = new Watched();
    const module = { ...given, defaults: { ...given.defaults, ...options }, observers: [watched.observer] };
    const app = await scene.startApp({ module, providers: providers(queue) });
    const counts = async () => {
      const { delayed, ready, active, dead } = await app.producer.counts(queue);
      return [delayed, ready, active, dead];
    };
    return { ...app, queue, watched, counts };
  }

  test('is handled before its expiry but not after it', async () => {
    const handled = new Handled();
    const { producer, queue, watched, counts } = await start((name) => [handlerOf(name, handled.record)]);
    await producer.offerAt(queue, 'late', LONG_AGO, { id: 'late', expiresAfter: '10m' });
    await producer.offer(queue, 'in time', 10, { id: 'in time', expiresAfter: '10m', type: 't' });
    await until(async () => (await counts()).join() === '0,0,0,0');
    await until(() => watched.of('expired').length === 1);
    expect(handled.payloads).toEqual(['in time']);
    const { dueAt, expiresAt } = handled.calls[0]!.message;
    expect(expiresAt!.getTime() - dueAt.getTime()).toBe(600_000);
    const [expired] = watched.of('expired');
    expect(expired).toMatchObject({ queue, id: 'late', type: '', became: 'gone' });
    expect(expired!.lateBy).toBeGreaterThan(Date.now() - LONG_AGO.getTime() - 700_000);
    expect(watched.of('handled').map(({ id }) => id)).toEqual(['in time']);
    expect(watched.handlings).toBe(1);
  });

  test('becomes a dead letter if its queue says so, unless its offer says otherwise, and is handled after a redrive', async () => {
    const handled = new Handled();
    const { producer, queue, watched, counts } = await start((name) => [handlerOf(name, handled.record)], {
      onExpired: 'dead',
    });
    await producer.offerAt(queue, 'a', LONG_AGO, { id: 'a', expiresAfter: 0 });
    await producer.offerAt(queue, 'b', LONG_AGO, { id: 'b', expiresAfter: 0, onExpired: 'drop' });
    await until(async () => (await counts()).join() === '0,0,0,1');
    const [letter] = (await producer.deadLetters(queue).list()).messages;
    expect(letter).toMatchObject({ id: 'a', payload: 'a', error: { name: 'Expired' } });
    expect(letter!.expiresAt).toBeUndefined();
    await until(() => watched.of('dead').length === 1);
    expect(watched.of('dead')).toMatchObject([{ id: 'a', by: 'expired', failure: { name: 'Expired' } }]);
    expect(
      watched
        .of('expired')
        .map(({ id, became }) => `${id} ${became}`)
        .sort(),
    ).toEqual(['a dead', 'b gone']);
    expect(handled.payloads).toEqual([]);

    // With an expiry of 0 ms, it would seldom be in time.
    await producer.deadLetters(queue).discardAll();
    await producer.offerAt(queue, 'c', LONG_AGO, { id: 'c', expiresAfter: '1m' });
    await until(async () => (await counts()).join() === '0,0,0,1');
    await producer.deadLetters(queue).redrive('c');
    await until(() => handled.payloads.length === 1);
    expect(handled.payloads).toEqual(['c']);
  });

  test("expires according to its queue's options, unless the offer overrides them", async () => {
    const handled = new Handled();
    const { producer, queue, counts } = await start((name) => [handlerOf(name, handled.record)], {
      expiresAfter: '1m',
    });
    await producer.offerAt(queue, 'default', LONG_AGO);
    await producer.offerAt(queue, 'never', LONG_AGO, { expiresAfter: 'never' });
    await producer.offerAt(queue, 'own', LONG_AGO, { expiresAfter: '100y' });
    await until(async () => (await counts()).join() === '0,0,0,0');
    expect(handled.payloads.sort()).toEqual(['never', 'own']);
  });

  test('expires at a time counted from its first due time, even while it waits for a retry or is deferred', async () => {
    const handled = new Handled();
    const fails = (payload: unknown, message: DelayedMessage) => {
      handled.record(payload, message);
      if (payload === 'defers') throw new DeferMessage(400);
      throw new Error('fails');
    };
    const options = { backoff: { type: 'fixed', delay: 400 }, attempts: 100 } as const;
    const { producer, queue, watched, counts } = await start((name) => [handlerOf(name, fails)], options);
    await producer.offer(queue, 'defers', 0, { id: 'defers', expiresAfter: 900 });
    await producer.offer(queue, Buffer.from('fails'), 0, { id: 'fails', expiresAfter: 900, headers: { h: '1' } });
    await until(async () => (await counts()).join() === '0,0,0,0');
    await until(() => watched.of('expired').length === 2);
    for (const id of ['defers', 'fails']) {
      const calls = handled.of(id);
      expect(calls.length).toBeGreaterThanOrEqual(2);
      expect(calls.length).toBeLessThanOrEqual(3);
      const deadlines = new Set(calls.map(({ message }) => message.expiresAt!.getTime()));
      expect([...deadlines]).toEqual([calls[0]!.message.dueAt.getTime() + 900]);
    }
    expect(handled.of('fails')[1]!.message).toMatchObject({ payload: Buffer.from('fails'), headers: { h: '1' } });
  });

  test('keeps its expiry when it is moved or changed while it is deferred', async () => {
    const fails = () => Promise.reject(new DeferMessage('1h'));
    const { producer, queue } = await start((name) => [handlerOf(name, fails)]);
    const { dueAt } = await producer.offer(queue, 1, 0, { id: 'a', expiresAfter: '1h' });
    const expiresAt = new Date(dueAt.getTime() + 3_600_000);
    const isDeferred = async () => {
      const found = await producer.find(queue, 'a');
      return found?.state === 'delayed' && found.dueAt > dueAt;
    };
    await until(isDeferred);
    expect(await producer.reschedule(queue, 'a', '2h')).toBe(true);
    expect(await producer.find(queue, 'a')).toMatchObject({ payload: 1, expiresAt });
    expect(await producer.reschedule(queue, 'a', '3h', { payload: 2, headers: { h: '1' } })).toBe(true);
    expect(await producer.find(queue, 'a')).toMatchObject({ payload: 2, headers: { h: '1' }, expiresAt });
  });

  test('gets a new expiry when again() redelivers it', async () => {
    const handled = new Handled();
    const comesAgain = (payload: unknown, message: DelayedMessage): unknown => {
      handled.record(payload, message);
      if (message.attempt === 1 && handled.calls.length === 1) throw new Error('fails once');
      if (handled.calls.length === 2) return again(300);
      return handled.calls.length === 3 ? again(300, { payload: 'new' }) : undefined;
    };
    const options = { backoff: { type: 'fixed', delay: 300 } } as const;
    const { producer, queue, counts } = await start((name) => [handlerOf(name, comesAgain)], options);
    await producer.offer(queue, 'old', 0, { id: 'a', expiresAfter: '500ms' });
    await until(async () => (await counts()).join() === '0,0,0,0');
    expect(handled.payloads).toEqual(['old', 'old', 'old', 'new']);
    const due = handled.calls.map(({ message }) => message.dueAt.getTime());
    const deadlines = handled.calls.map(({ message }) => message.expiresAt!.getTime());
    expect(deadlines).toEqual([due[0]! + 500, due[0]! + 500, due[2]! + 500, due[3]! + 500]);
  });

  test('expires while it waits for its batch', async () => {
    const batches: unknown[][] = [];
    function batchHandlerOf(queue: string): Type {
      @Injectable()
      class BatchHandler {
        @DelayedHandler(queue, { batch: 10, batchWait: 600 })
        handle(payloads: unknown[]) {
          batches.push(payloads);
        }
      }
      return BatchHandler;
    }
    const { producer, queue, watched, counts } = await start((name) => [batchHandlerOf(name)]);
    await producer.offerMany(queue, [
      { payload: 'a', delay: 0, id: 'a', expiresAfter: 200 },
      { payload: 'b', delay: 0, id: 'b', expiresAfter: '1m' },
    ]);
    await until(async () => (await counts()).join() === '0,0,0,0');
    expect(batches).toEqual([['b']]);
    await until(() => watched.of('expired').length === 1);
    expect(watched.of('expired')).toMatchObject([{ id: 'a' }]);
  });

  test('is returned by find() with its expiry', async () => {
    const { producer, queue } = await start(() => [], { expiresAfter: '1h' });
    const { dueAt } = await producer.offer(queue, 1, '1h', { id: 'own', expiresAfter: '10m', type: 't' });
    await producer.offerAt(queue, 1, dueAt, { id: 'default' });
    await producer.offer(queue, 1, '1h', { id: 'never', expiresAfter: 'never' });
    const own = await producer.find(queue, 'own');
    expect(own).toMatchObject({ type: 't', expiresAt: new Date(dueAt.getTime() + 600_000) });
    expect(own).not.toHaveProperty('expiry');
    expect(await producer.find(queue, 'default')).toMatchObject({ expiresAt: new Date(dueAt.getTime() + 3_600_000) });
    expect((await producer.find(queue, 'never'))!.expiresAt).toBeUndefined();
    const moved = new Date(dueAt.getTime() + 60_000);
    await producer.reschedule(queue, 'own', moved);
    expect(await producer.find(queue, 'own')).toMatchObject({ expiresAt: new Date(moved.getTime() + 600_000) });
    expect((await producer.countsByType(queue)).get('t')).toMatchObject({ delayed: 1 });
  });
});

describe('an expiry', () => {
  const scene = new Scene();

  test.each([
    [{ expiresAfter: -1 }, 'expiresAfter must be between'],
    [{ expiresAfter: 'soon' }, "or 'never'"],
    [{ expiresAfter: null }, 'expiresAfter is not a duration'],
    [{ onExpired: 'dead' }, 'onExpired needs expiresAfter'],
    [{ expiresAfter: '1m', onExpired: 'vanish' }, "onExpired must be 'drop' or 'dead'"],
  ])('is refused before anything is written if it is invalid: %j', async (options, problem) => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({});
    await expect(producer.offer(queue, 1, 0, options as object)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining(problem),
    });
    expect(await producer.counts(queue)).toMatchObject({ delayed: 0 });
  });

  test('is refused by a layout that cannot store it', async () => {
    const queue = scene.newQueue();
    const module = { queues: { [queue]: { layout: redisson() } } };
    const { producer } = await scene.startApp({ module });
    await expect(producer.offer(queue, 1, 0, { expiresAfter: '1m' })).rejects.toMatchObject({
      code: 'UNSUPPORTED_BY_LAYOUT',
    });
    const expiring = { queues: { [queue]: { layout: redisson(), expiresAfter: '1m' } } };
    await expect(scene.startApp({ module: expiring })).rejects.toThrow(
      "expiresAfter must be 'never' with layout 'redisson'",
    );
  });

  test('does not count towards maxPayloadBytes', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { defaults: { maxPayloadBytes: 3 } } });
    const offer = producer.offer(queue, 'a', 0, { expiresAfter: '1m', onExpired: 'dead', type: 'some-type' });
    await expect(offer).resolves.toMatchObject({ created: true });
  });
});
