import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster, Redis } from 'ioredis';
import { systemClock } from '../../lib/timing/clock.js';
import type { MessageStore } from '../../lib/store/message-store.js';
import { RedisConnections } from '../../lib/redis/redis-connections.js';
import { LoggedEvents } from '../support/logged-events.js';
import { randomName } from '../support/random-name.js';
import { sharedRedisUrl } from '../support/redis/shared-redis.js';
import type { QueueUnderTest } from './contract-queue.js';

/** Keys that describe the queue itself and outlive its messages. */
const OF_THE_QUEUE = /:(wake|mover|paused|sequence|partitions)$/;

type OpenStore = (connections: RedisConnections, queue: string) => MessageStore;

/** A server to start from. */
interface Address {
  readonly host: string;
  readonly port: number;
}

/** A fresh queue in Redis, in any layout: on the server that all tests share, or in the cluster with these nodes. */
export function openRedisQueue(openStore: OpenStore, nodes?: Address[]): QueueUnderTest {
  const connection = nodes ? { cluster: { nodes } } : sharedRedisUrl();
  const settings = {
    connection,
    clock: systemClock,
    events: new LoggedEvents(),
    commandTimeout: 5000,
    heartbeat: 5000,
  };
  const [here, there] = [new RedisConnections(settings), new RedisConnections(settings)];
  const queue = randomName('contract');
  const look = nodes ? new Cluster(nodes) : new Redis(sharedRedisUrl());
  const keys = async () => {
    const servers = look instanceof Cluster ? look.nodes('master') : [look];
    return (await Promise.all(servers.map((server) => server.keys(`*${queue}*`)))).flat();
  };

  const now = async () => {
    const [seconds, micros] = await look.time();
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
    lose: async (id) => {
      for (const key of await keys()) if (key.endsWith(':messages')) await look.hdel(key, id);
    },
    damage: async (part) => {
      for (const key of await keys()) if (`${key}:`.includes(`:${part}:`)) await look.del(key);
    },
    leftovers: async () => (await keys()).filter((key) => !OF_THE_QUEUE.test(key)),
    close: async () => {
      await Promise.all((await keys()).map((key) => look.del(key)));
      look.disconnect();
      await Promise.all([here.close(), there.close()]);
    },
  };
}
