import { describe, expect, test } from '@jest/globals';
import { getMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { again, DelayedHandler, type DelayedMessage, type DelayQueueObserver } from '../../lib/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const ENVELOPE = ['attempt', 'dueAt', 'headers', 'id', 'offeredAt', 'payload', 'queue', 'type'];

/** Assigns every field, as a handler in JavaScript may, and modifies the values. */
function spoil(message: DelayedMessage): void {
  message.dueAt.setTime(0);
  message.offeredAt.setTime(0);
  Object.assign(message.headers, { spoilt: 7 });
  for (const key of [
    ...ENVELOPE,
    'group',
    'expiresAt',
    'repeat',
    'token',
    'lease',
    'firstDue',
    'repetition',
    'thrown',
  ]) {
    Reflect.set(message, key, 'spoilt');
  }
}

describe.each([
  ['native', {}],
  ['redisson', { defaults: { layout: redisson() } }],
  ['memory', { store: 'memory' as const }],
])('the message passed to a handler, on %s', (_, module) => {
  const scene = new Scene();

  test('may be modified without effect on its outcome', async () => {
    const queue = scene.newQueue();
    const calls: number[] = [];
    const handle = (_payload: unknown, message: DelayedMessage) => {
      calls.push(message.attempt);
      spoil(message);
      if (calls.length === 1) throw new Error('not yet');
      return calls.length === 2 ? again(0, { payload: 2 }) : undefined;
    };
    const options = { backoff: { type: 'fixed', delay: 0 } } as const;
    const { producer, log } = await scene.startApp({ module, providers: [handlerOf(queue, handle, options)] });
    await producer.offer(queue, 1, 0, { id: 'a' });
    await until(() => calls.length === 3);
    await until(async () => (await producer.find(queue, 'a')) === null);
    expect(calls).toEqual([1, 2, 1]);
    expect(log.join('\n')).not.toContain('spoilt');
  });

  test('may be modified by a batch handler without effect, as may the list of messages, also by an observer', async () => {
    const queue = scene.newQueue();
    @Injectable()
    class Batches {
      @DelayedHandler(queue, { batch: 2, batchWait: '10s' })
      handle(payloads: unknown[], messages: DelayedMessage[]): unknown {
        const results = payloads.map((payload) => (payload === 'again' ? again('1h') : undefined));
        messages.forEach(spoil);
        messages.reverse();
        messages.pop();
        return results;
      }
    }
    const observer: DelayQueueObserver = {
      handleBatch: (messages, next) => {
        (messages as unknown[]).reverse();
        return next();
      },
    };
    const { producer } = await scene.startApp({ module: { ...module, observers: [observer] }, providers: [Batches] });
    await producer.offerMany(queue, [
      { payload: 'again', delay: 0, id: 'a' },
      { payload: 'done', delay: 0, id: 'b' },
    ]);
    await until(async () => (await producer.find(queue, 'b')) === null);
    await until(async () => (await producer.find(queue, 'a'))?.state === 'delayed');
    expect(await producer.counts(queue)).toMatchObject({ delayed: 1, active: 0, dead: 0 });
  });

  test('has exactly the documented fields as its own', async () => {
    const queue = scene.newQueue();
    let keys: PropertyKey[] | undefined;
    const handle = (_payload: unknown, message: DelayedMessage) => void (keys = Reflect.ownKeys({ ...message }));
    const { producer } = await scene.startApp({ module, providers: [handlerOf(queue, handle)] });
    await producer.offer(queue, 1, 0);
    await until(() => keys !== undefined);
    expect(keys!.sort()).toEqual(ENVELOPE);
  });

  test('gives its lateness in whole milliseconds', async () => {
    const queue = scene.newQueue();
    const reported: number[] = [];
    const handle = async (_payload: unknown, message: DelayedMessage) => {
      reported.push(message.lateness);
      await sleep(5);
      reported.push(message.lateness);
    };
    const { producer } = await scene.startApp({ module, providers: [handlerOf(queue, handle)] });
    await producer.offer(queue, 1, 0);
    await until(() => reported.length === 2);
    expect(reported.map((lateness) => Number.isSafeInteger(lateness))).toEqual([true, true]);
    expect(reported[1]! - reported[0]!).toBeGreaterThan(0);
  });

  test('has a signal that accepts any number of listeners without a warning from Node.js', async () => {
    const queue = scene.newQueue();
    let most: number | undefined;
    const handle = (_payload: unknown, { signal }: DelayedMessage) => void (most = getMaxListeners(signal));
    const { producer } = await scene.startApp({ module, providers: [handlerOf(queue, handle)] });
    await producer.offer(queue, 1, 0);
    await until(() => most !== undefined);
    expect(most).toBe(Infinity);
  });
});

describe('a message with optional fields', () => {
  const scene = new Scene();

  test('has its group and its expiry as own fields', async () => {
    const queue = scene.newQueue();
    let copy: Partial<DelayedMessage> | undefined;
    const handle = (_payload: unknown, message: DelayedMessage) => void (copy = { ...message });
    const { producer } = await scene.startApp({
      providers: [handlerOf(queue, handle, { groups: { concurrency: 1 } })],
    });
    await producer.offer(queue, 1, 0, { group: 'alice', expiresAfter: '1h' });
    await until(() => copy !== undefined);
    expect(copy).toMatchObject({ group: 'alice', expiresAt: new Date(copy!.dueAt!.getTime() + 3_600_000) });
  });
});
