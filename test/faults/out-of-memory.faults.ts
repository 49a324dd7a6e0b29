import { describe, expect, test } from '@jest/globals';
import { Handled } from '../support/handled.js';
import { isEmpty } from '../support/is-empty.js';
import { Latch } from '../support/latch.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const LEASE = 3000;

describe('a Redis that has run out of memory and evicts nothing', () => {
  const scene = new Scene({ args: ['--maxmemory-policy', 'noeviction'] });

  test('rejects offers with a typed error, while messages already stored are still handled', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const release = new Latch();
    const handler = handlerOf<string>(
      queue,
      async (payload, message) => {
        handled.record(payload, message);
        if (payload === 'held') await release.opened;
        if (payload === 'fails') throw new Error('no');
      },
      { attempts: 2, backoff: { type: 'fixed', delay: 50 }, lease: LEASE },
    );
    const { producer, log } = await scene.startApp({ providers: [handler] });
    await producer.offer(queue, 'held', 0, { id: 'held' });
    await producer.offer(queue, 'fails', 600, { id: 'fails' });
    await producer.offer(queue, 'good', 600, { id: 'good' });
    await producer.offer(queue, 'cancelled', '1h', { id: 'cancelled' });
    await producer.offer(queue, 'moved', '1h', { id: 'moved' });
    await handled.until('held');
    await scene.redis.config('SET', 'maxmemory', '1');

    const before = await producer.counts(queue);
    await expect(producer.offer(queue, 'new', 0)).rejects.toMatchObject({
      name: 'DelayQueueError',
      code: 'STORE_REFUSED',
      message: expect.stringMatching(/OOM.*maxmemory/),
    });
    expect(await producer.counts(queue)).toEqual(before);

    expect(await producer.cancel(queue, 'cancelled')).toBe(true);
    expect(await producer.reschedule(queue, 'moved', 700)).toBe(true);
    await producer.pause(queue);
    await producer.resume(queue);
    // The lease of the running handler is extended.
    const leaseEnd = async () => (await producer.find(queue, 'held'))!.leasedUntil!.getTime();
    const endsAt = await leaseEnd();
    await until(async () => (await leaseEnd()) > endsAt, { within: LEASE });
    release.open();
    await handled.until('good');
    await handled.until('moved');
    await until(async () => (await producer.find(queue, 'fails'))?.state === 'dead');
    await until(() => isEmpty(producer, queue, { dead: 1 }));
    expect(await producer.deadLetters(queue).redrive('fails')).toBe(true);
    await until(() => handled.of('fails').length >= 3);
    expect(handled.of('fails').map(({ attempt }) => attempt)).toEqual(expect.arrayContaining([1, 2, 1]));
    expect(log.filter((line) => line.includes('OOM'))).toEqual([]);

    await scene.redis.config('SET', 'maxmemory', '0');
    await producer.offer(queue, 'again', 0, { id: 'again' });
    await handled.until('again');
  });
});
