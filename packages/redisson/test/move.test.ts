import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { transform } from '@swc/core';
import { Injectable } from '@nestjs/common';
import {
  DelayedHandler,
  type DelayedMessage,
  type DelayQueueProducer,
  type OfferOptions,
  type QueueOptions,
} from '../../../lib/index.js';
import { redisson } from '../src/index.js';
import { redissonKeys } from '../src/redisson-keys.js';
import { encodeEntry } from './java/entry.codec.js';
import { Handled } from '../../../test/support/handled.js';
import { randomName } from '../../../test/support/random-name.js';
import { compiledFolder } from '../../../test/support/run-program.js';
import { Scene } from '../../../test/support/scene.js';
import { until } from '../../../test/support/until.js';

describe('moving a live queue from the Redisson layout to the native one', () => {
  const scene = new Scene();
  const before = scene.newQueue();
  const after = scene.newQueue();
  const shared: QueueOptions = { layout: redisson() };
  const numbers = (first: number) => Array.from({ length: 20 }, (_, index) => first + index);
  const paid = [3, 33];
  /** A paid order falls due only after the test, however long the machine takes to cancel it. */
  const delayOf = (n: number, unpaid: number) => (paid.includes(n) ? 3_600_000 : unpaid);

  afterEach(async () => {
    await scene.redis.unlink(Object.values(redissonKeys({ prefix: scene.prefix, queue: before })) as string[]);
  });

  test('loses nothing if one method handles both queues until the old one is empty', async () => {
    const old = await scene.startApp({ module: { consume: false, queues: { [before]: shared } } });
    for (const n of numbers(0)) await old.producer.offer(before, { n }, delayOf(n, 500), { id: `order ${n}` });
    await old.close();

    const handled = new Handled();
    @Injectable()
    class OrderTimeouts {
      @DelayedHandler(before)
      @DelayedHandler(after)
      cancelUnpaid(payload: unknown, message: DelayedMessage) {
        handled.record(payload, message);
      }
    }
    const { producer } = await scene.startApp({
      module: { queues: { [before]: shared, [after]: { layout: 'native' } } },
      providers: [OrderTimeouts],
    });
    for (const n of numbers(20)) await producer.offer(after, { n }, delayOf(n, 1000), { id: `order ${n}` });
    const pay = async (id: string) => {
      const wasInOld = await producer.cancel(before, id);
      return (await producer.cancel(after, id)) || wasInOld;
    };
    expect(await Promise.all(['order 3', 'order 33', 'order 99'].map(pay))).toEqual([true, true, false]);

    await handled.untilCalls(38);
    await until(async () => {
      const [{ delayed, ready, active }, there] = await Promise.all([producer.counts(before), producer.counts(after)]);
      return delayed + ready + active + there.active === 0;
    });
    expect(handled.ids.sort()).toEqual(
      [...numbers(0), ...numbers(20)]
        .filter((n) => !paid.includes(n))
        .map((n) => `order ${n}`)
        .sort(),
    );
  });

  describe('with moveDelayed from the page', () => {
    type Move = (producer: DelayQueueProducer, from: string, to: string) => Promise<{ moved: number; left: number }>;

    let moveDelayed: Move;
    let producer: DelayQueueProducer;
    let old: string;
    let target: string;

    beforeAll(async () => {
      const page = await readFile(path.join(import.meta.dirname, '../docs/moving.md'), 'utf8');
      const snippet = [...page.matchAll(/^```ts\n(.*?)^```$/gms)]
        .map(([, code]) => code!)
        .find((code) => code.includes('moveDelayed('));
      const { code } = await transform(snippet!, { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' } });
      const file = path.join(compiledFolder(), `${randomName('move')}.mjs`);
      await writeFile(file, code);
      ({ moveDelayed } = (await import(file)) as { moveDelayed: Move });
    });

    beforeEach(async () => {
      [old, target] = [scene.newQueue(), scene.newQueue()];
      const queues = { [old]: shared, [target]: { layout: 'native' as const } };
      ({ producer } = await scene.startApp({ module: { consume: false, queues } }));
    });
    afterEach(() => producer.clear(old));

    test('keeps ids, payloads and due times, leaves what is due soon or of Java, and may run again', async () => {
      const at = new Date(Date.now() + 3_600_000);
      await producer.offerMany(
        old,
        numbers(0).flatMap((n) => numbers(0).map((m) => ({ id: `${n} ${m}`, payload: { n, m }, at }))),
      );
      await producer.offer(old, { n: 'soon' }, '30s', { id: 'soon' });
      const keys = redissonKeys({ prefix: scene.prefix, queue: old });
      const entry = encodeEntry({ format: 'Bc0Lc0', id: randomBytes(8), value: Buffer.from('{"n":"java"}') });
      await scene.redis.multi().zadd(keys.timeouts, Number(at), entry).rpush(keys.entries, entry).exec();

      expect(await moveDelayed(producer, old, target)).toEqual({ moved: 400, left: 2 });
      expect(await moveDelayed(producer, old, target)).toEqual({ moved: 0, left: 2 });
      const { messages } = await producer.list(target, 'delayed', { limit: 1000 });
      expect(messages).toHaveLength(400);
      for (const { id, payload, dueAt } of messages) {
        const [n, m] = id.split(' ').map(Number);
        expect({ payload, dueAt }).toEqual({ payload: { n, m }, dueAt: at });
      }
      expect(await producer.counts(old)).toMatchObject({ delayed: 2 });
    });

    test('undoes the move of a message that is cancelled meanwhile, and keeps one that is in the new queue anyway', async () => {
      for (const id of ['a', 'b']) await producer.offer(old, id, '1h', { id });
      await producer.offer(target, 'of the new queue', '1h', { id: 'b' });
      const methods = {
        list: producer.list.bind(producer),
        cancel: producer.cancel.bind(producer),
        /** Somebody cancels the old message before the move does. */
        offerAt: async (queue: string, payload: unknown, date: Date, options: OfferOptions) => {
          const result = await producer.offerAt(queue, payload, date, options);
          await producer.cancel(old, result.id);
          return result;
        },
      };
      const interrupted = methods as unknown as DelayQueueProducer;

      expect(await moveDelayed(interrupted, old, target)).toEqual({ moved: 0, left: 2 });
      expect(await producer.find(target, 'a')).toBeNull();
      expect(await producer.find(target, 'b')).toMatchObject({ payload: 'of the new queue' });
    });
  });
});
