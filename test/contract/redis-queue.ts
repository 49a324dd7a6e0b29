import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { systemClock } from '../../lib/timing/clock.js';
import type { MessageStore } from '../../lib/store/message-store.js';
import { RedisConnections } from '../../lib/store/redis/redis-connections.js';
import { LoggedEvents } from '../support/logged-events.js';
import { randomName } from '../support/random-name.js';
import { sharedRedisUrl } from '../support/redis/shared-redis.js';
import type { QueueUnderTest } from './contract-queue.js';

/** Keys that describe the queue itself and outlive its messages. */
const OF_THE_QUEUE = /:(wake|mover|paused|sequence)$/;

/** A fresh queue in Redis, in any layout. */
export function openRedisQueue(
  openStore: (connections: RedisConnections, queue: string) => MessageStore,
): QueueUnderTest {
  const connection = sharedRedisUrl();
  const settings = {
    connection,
    clock: systemClock,
    events: new LoggedEvents(),
    commandTimeout: 5000,
    heartbeat: 5000,
  };
  const [here, there] = [new RedisConnections(settings), new RedisConnections(settings)];
  const queue = randomName('contract');
  const redis = new Redis(connection);
  const keys = () => redis.keys(`*${queue}*`);

  const now = async () => {
    const [seconds, micros] = await redis.time();
    return Number(seconds) * 1000 + Number(micros) / 1000;
  };
  return {
    store: openStore(here, queue),
    secondView: openStore(there, queue),
    now,
    advance: async (ms) => {
      const end = (await now()) + ms;
      for (let left = ms; left > 0; left = end - (await now())) await sleep(left);
    },
    leftovers: async () => (await keys()).filter((key) => !OF_THE_QUEUE.test(key)),
    close: async () => {
      await redis.del(...(await keys()), 'none');
      await Promise.all([redis.quit(), here.close(), there.close()]);
    },
  };
}
