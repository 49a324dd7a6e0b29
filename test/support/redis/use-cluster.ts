import { afterAll, beforeAll } from '@jest/globals';
import { RedisCluster } from './redis-cluster.js';

/**
 * Starts a cluster for the tests of one suite, and stops it after the last one.
 *
 * @returns the cluster, while tests run
 */
export function useCluster(args?: readonly string[]): () => RedisCluster {
  let cluster: RedisCluster | undefined;
  beforeAll(async () => {
    cluster = await RedisCluster.start(args);
  });
  afterAll(() => cluster?.stop());
  return () => {
    if (!cluster) throw new Error('There is a cluster only while tests run.');
    return cluster;
  };
}
