import { describe, expect, it } from '@jest/globals';
import { redissonKeys } from '../src/redisson-keys.js';

describe('the keys of a queue in the Redisson layout', () => {
  const named = (redissonName: string) => redissonKeys({ prefix: 'delay-queue', queue: 'orders', redissonName });

  it('are the keys of Redisson and those of the native layout', () => {
    expect(redissonKeys({ prefix: 'delay-queue', queue: 'orders' })).toMatchObject({
      target: 'orders',
      timeouts: 'redisson_delay_queue_timeout:{orders}',
      entries: 'redisson_delay_queue:{orders}',
      channel: 'redisson_delay_queue_channel:{orders}',
      offered: 'delay-queue:{orders}:offered',
      ready: 'delay-queue:{orders}:ready',
    });
  });

  it("keep the hash tag of the queue's name in Redisson", () => {
    expect(named('shop:{eu}:orders')).toMatchObject({
      target: 'shop:{eu}:orders',
      timeouts: 'redisson_delay_queue_timeout:shop:{eu}:orders',
      entries: 'redisson_delay_queue:shop:{eu}:orders',
      channel: 'redisson_delay_queue_channel:shop:{eu}:orders',
      offered: 'delay-queue:{eu}@orders:offered',
      ready: 'delay-queue:{eu}@orders:ready',
    });
  });

  it('keep a hash tag made of any characters', () => {
    expect(named('{a\nb}:orders')).toMatchObject({ target: '{a\nb}:orders', ready: 'delay-queue:{a\nb}@orders:ready' });
  });

  it("are the same if the queue's own name is given as its name in Redisson", () => {
    expect(named('orders')).toEqual(redissonKeys({ prefix: 'delay-queue', queue: 'orders' }));
  });

  it('never clash with those of another queue with the same hash tag', () => {
    const other = redissonKeys({ prefix: 'delay-queue', queue: 'eu' });
    const all = [named('{eu}:orders'), other].flatMap((keys) => Object.values(keys) as string[]);
    expect(new Set(all).size).toBe(all.length);
  });
});
