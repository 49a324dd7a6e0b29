import { describe, expect, test } from '@jest/globals';
import type { Redis } from 'ioredis';
import { type NativeKeys, nativeKeys } from '../../lib/store/native/native.keys.js';
import { Handled } from '../support/handled.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const ACTIVE = 100;
/** More than one call of the repair examines. */
const MESSAGES = 1000;

/** What somebody does to a queue with messages in every state. */
const DAMAGES: Record<string, (redis: Redis, keys: NativeKeys) => Promise<unknown>> = {
  'the claims of consumers are deleted': (redis, { claims, leases }) => redis.del(claims, leases),
  'the ready messages are deleted': (redis, { ready }) => redis.del(ready),
  'some of the delayed messages are deleted': (redis, { delayed }) => redis.zremrangebyrank(delayed, 1, -1),
  'the dead letters are deleted': (redis, { dead, errors }) => redis.del(dead, errors),
};

describe('messages in no state', () => {
  const scene = new Scene();

  test.each([
    ['native', 'the claims of consumers are deleted'],
    ['native', 'the ready messages are deleted'],
    ['native', 'some of the delayed messages are deleted'],
    ['native', 'the dead letters are deleted'],
    ['redisson', 'the claims of consumers are deleted'],
    ['redisson', 'the dead letters are deleted'],
  ] as const)('are ready again after the next start, and the log says so: layout %s, %s', async (layout, damage) => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const { producer } = await scene.startApp({ module: { consume: false, defaults: { layout } } });
    const holding = await scene.startApp({
      module: { shutdownTimeout: 1, defaults: { layout } },
      providers: [
        handlerOf(
          queue,
          (payload) => {
            if (payload === 'dies') throw new Error('no');
            return new Promise(() => undefined);
          },
          { concurrency: ACTIVE, lease: '1h', attempts: 1 },
        ),
      ],
    });
    await producer.offer(queue, 'dies', 0, { id: 'dead' });
    await until(async () => (await producer.counts(queue)).dead === 1);
    const many = (delay: number | string, prefix: string) =>
      Array.from({ length: MESSAGES / 2 }, (_, n) => ({ payload: n, delay, id: `${prefix}-${n}` }));
    await producer.offerMany(queue, many(0, 'due'));
    await producer.offerMany(queue, many('1h', 'later'));
    await until(async () => (await producer.counts(queue)).active === ACTIVE);
    await holding.close();
    await DAMAGES[damage]!(scene.redis, nativeKeys(scene.prefix, queue));

    const { delayed, ready, active, dead } = await producer.counts(queue);
    const lost = MESSAGES + 1 - delayed - ready - active - dead;
    const { log } = await scene.startApp({
      module: { defaults: { layout } },
      providers: [handlerOf(queue, handled.record, { lease: '1h' })],
    });
    await until(() => log.some((line) => line.startsWith(`error ${queue}: ${lost} messages were in no state`)));
    await handled.untilCalls(lost + ready);
    expect(lost).toBeGreaterThan(0);
    expect(await producer.counts(queue)).toMatchObject({ delayed, dead });
    await producer.clear(queue);
  });
});
