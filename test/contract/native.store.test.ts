import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { systemClock } from '../../lib/clock.js';
import { NativeMessageStore } from '../../lib/store/native/native.store.js';
import { RedisConnections } from '../../lib/store/redis/redis-connections.js';
import { QuietLogger } from '../support/quiet-logger.js';
import { randomName } from '../support/random-name.js';
import { sharedRedisUrl } from '../support/redis/shared-redis.js';
import { describeMessageStore } from './message-store.contract.js';

/** Keys that say something about the queue, not about a message. */
const OF_THE_QUEUE = /:(wake|mover|paused)$/;

describeMessageStore('NativeMessageStore', (limits) => {
  const connection = sharedRedisUrl();
  const settings = { connection, clock: systemClock, logger: new QuietLogger(), commandTimeout: 5000, heartbeat: 5000 };
  const [here, there] = [new RedisConnections(settings), new RedisConnections(settings)];
  const options = { prefix: 'delay-queue', queue: randomName('contract'), limits };
  const redis = new Redis(connection);
  const store = new NativeMessageStore(here, options);

  const now = async () => {
    const [seconds, micros] = await redis.time();
    return Number(seconds) * 1000 + Number(micros) / 1000;
  };
  return Promise.resolve({
    store,
    secondView: new NativeMessageStore(there, options),
    now,
    advance: async (ms) => {
      const end = (await now()) + ms;
      for (let left = ms; left > 0; left = end - (await now())) await sleep(left);
    },
    leftovers: async () => (await redis.keys(`*{${options.queue}}*`)).filter((key) => !OF_THE_QUEUE.test(key)),
    close: async () => {
      await redis.del(...(await redis.keys(`*{${options.queue}}*`)), 'none');
      await Promise.all([redis.quit(), here.close(), there.close()]);
    },
  });
});
