import { describe, expect, test } from '@jest/globals';
import type { DelayQueueModuleOptions } from '../../lib/index.js';
import { GrowingQueue } from '../support/growing-queue.js';
import { randomName } from '../support/random-name.js';
import { sharedRedisUrl } from '../support/redis/shared-redis.js';
import { useCluster } from '../support/redis/use-cluster.js';

/** Grows repeatedly under load. */
async function expectExactGrowth(server: string, connection: DelayQueueModuleOptions['connection']): Promise<void> {
  for (let round = 0; round < 3; round++) {
    const growing = new GrowingQueue(randomName('growing'), { connection });
    const { offers, handled, ...problems } = await growing.run([1, 4, 8, 32], 1500);
    await growing.close();
    console.log(`${server}: ${offers} offers, ${handled} handled`);
    expect(problems).toEqual({ lost: [], tooMany: [], twice: 0, errors: [] });
    expect(handled).toBeGreaterThan(1000);
  }
}

describe('a queue that grows from 1 to 4, 8 and 32 partitions under load', () => {
  describe('in a cluster of three primaries', () => {
    const cluster = useCluster();

    test(
      'loses no message, handles none twice and creates no id twice',
      () => expectExactGrowth('a cluster', { cluster: { nodes: cluster().nodes } }),
      120_000,
    );
  });

  test(
    'loses no message, handles none twice and creates no id twice, on a single server',
    () => expectExactGrowth('a single server', sharedRedisUrl()),
    120_000,
  );
});
