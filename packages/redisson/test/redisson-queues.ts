import { afterEach } from '@jest/globals';
import { redissonKeys } from '../src/redisson-keys.js';
import type { Scene } from '../../../test/support/scene.js';

/**
 * Makes names of queues for tests of the layout of Redisson. Its keys have no prefix, so they are removed after each test.
 *
 * @returns what makes a new name
 */
export function redissonQueuesOf(scene: Scene): () => string {
  const queues: string[] = [];
  afterEach(async () => {
    for (const queue of queues.splice(0))
      await scene.redis.unlink(Object.values(redissonKeys({ prefix: scene.prefix, queue })) as string[]);
  });
  return () => {
    const queue = scene.newQueue();
    queues.push(queue);
    return queue;
  };
}
