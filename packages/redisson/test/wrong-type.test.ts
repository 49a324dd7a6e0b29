import { describe, expect, test } from '@jest/globals';
import { FOREIGN_VALUES, foreignTypes } from '../../../test/support/foreign-types.js';
import { refusalOf } from '../../../test/support/refusal.js';
import { until } from '../../../test/support/until.js';
import { CALLS, dump, FAR, fill, offer } from './full-redisson-queue.js';
import { redissonQueues } from './redisson-queue.js';

const RIGHT_TYPES = {
  target: 'list',
  timeouts: 'zset',
  entries: 'list',
  offered: 'hash',
  values: 'hash',
  repeated: 'zset',
  sequence: 'string',
  rate: 'string',
} as const;

describe('a call that meets a key of another type in the Redisson layout', () => {
  const open = redissonQueues();

  test.each(foreignTypes(RIGHT_TYPES))(
    'fails with a typed error and changes nothing, or leaves the key alone: key %s, type %s',
    async (part, type) => {
      let refusals = 0;
      for (const [name, call] of Object.entries(CALLS)) {
        const queue = open({ rate: { max: 1000, per: 3_600_000 } });
        await fill(queue);
        const key = queue.keys[part];
        const pipeline = queue.redis.multi().del(key);
        FOREIGN_VALUES[type]!(pipeline, key);
        await pipeline.exec();
        const before = await dump(queue);
        const refusal = await refusalOf(call(queue.store));
        const after = await dump(queue);
        if (refusal === undefined) {
          expect({ name, [key]: after[key] }).toEqual({ name, [key]: before[key] });
        } else {
          refusals++;
          expect({ name, refusal }).toMatchObject({ name, refusal: { code: 'STORE_REFUSED' } });
          expect({ name, after }).toEqual({ name, after: before });
        }
      }
      expect(refusals).toBeGreaterThan(0);
    },
  );

  test.each(['offered', 'values', 'repeated'] as const)(
    'fails and changes nothing when it recovers a lease while nothing is due: key %s',
    async (part) => {
      const queue = open();
      await queue.offer({ expired: { at: 0, value: 'of expired' } });
      await queue.transfer();
      const { now } = await queue.store.claim({ token: 'gone', limit: 1, lease: 0 });
      await until(async () => (await queue.store.status()).now > now + 1);
      await queue.redis.set(queue.keys[part], 'garbage');
      const before = await dump(queue);
      await expect(queue.transfer()).rejects.toMatchObject({ code: 'STORE_REFUSED' });
      expect(await dump(queue)).toEqual(before);
    },
  );

  test.each(['target', 'values', 'repeated'] as const)(
    'fails and changes nothing when it offers an id that Java removed before it was due: key %s',
    async (part) => {
      const queue = open();
      await queue.offer({ removed: { at: FAR, value: 'of removed' } });
      await queue.redis.del(queue.keys.timeouts, queue.keys.entries);
      await queue.redis.set(queue.keys[part], 'garbage');
      const before = await dump(queue);
      await expect(offer('removed', 'reject')(queue.store)).rejects.toMatchObject({ code: 'STORE_REFUSED' });
      expect(await dump(queue)).toEqual(before);
    },
  );
});
