import { describe, expect, it } from '@jest/globals';
import { GrowingQueue } from '../support/growing-queue.js';
import { randomName } from '../support/random-name.js';
import { sharedRedisUrl } from '../support/redis/shared-redis.js';
import { useCluster } from '../support/redis/use-cluster.js';

const SERVERS = ['a cluster of three primaries', 'a single server'] as const;

describe.each(SERVERS)('on %s, a queue that grows from 1 to 4, 8 and 32 partitions under load', (server) => {
  const cluster = useCluster();

  it('loses no message, handles none twice, and creates each id once', async () => {
    for (let round = 0; round < 3; round++) {
      const connection = server === 'a single server' ? sharedRedisUrl() : { cluster: { nodes: cluster().nodes } };
      const growing = new GrowingQueue(randomName('growing'), { connection });
      const { offers, handled, ...problems } = await growing.run([1, 4, 8, 32], 1500);
      await growing.close();
      console.log(`${server}: ${offers} offers, ${handled} handled`);
      expect(problems).toEqual({ lost: [], tooMany: [], twice: 0, errors: [] });
      expect(handled).toBeGreaterThan(1000);
    }
  }, 120_000);
});
