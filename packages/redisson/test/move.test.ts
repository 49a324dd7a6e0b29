import { afterEach, describe, expect, test } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { DelayedHandler, type DelayedMessage, type QueueOptions } from '../../../lib/index.js';
import { redisson } from '../src/index.js';
import { redissonKeys } from '../src/redisson-keys.js';
import { Handled } from '../../../test/support/handled.js';
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
    const pay = async (id: string) => (await producer.cancel(after, id)) || producer.cancel(before, id);
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
});
