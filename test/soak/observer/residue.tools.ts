import { expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { directoryKeys } from '../../../lib/store/native/native-directory.js';
import { nativeKeys } from '../../../lib/store/native/native-keys.js';
import { startRedis } from '../../support/redis/start-redis.js';
import { keysOfQueues } from './queue-keys.js';
import { findResidue } from './residue.js';

test('a drained queue leaves only its partitions, its name in the directory and keys that expire', async () => {
  const redis = await startRedis();
  const client = new Redis(redis.url);
  try {
    const { partitions, claims } = nativeKeys('soak', 'orders');
    const queues = keysOfQueues({ layout: 'native', groups: 0 }, 'soak');
    await client.set(partitions, '1 1');
    await client.zadd(directoryKeys('soak').names, 0, 'orders');
    await client.set('for a while', '1', 'PX', 60_000);
    expect(await findResidue(client, queues)).toEqual([]);
    await client.hset(claims, 'm1', 'token');
    await client.rpush('elsewhere', 'm1');
    expect(await findResidue(client, queues)).toEqual(['elsewhere (list)', `${claims} (hash)`]);
  } finally {
    client.disconnect();
    await redis.stop();
  }
});
