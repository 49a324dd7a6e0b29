import type { Redis } from 'ioredis';
import type { TestRedis } from '../../support/redis/test-redis.js';
import type { TcpProxy } from '../../support/tcp-proxy/tcp-proxy.js';
import type { Fleet } from '../processes/fleet.js';
import type { Random } from '../random.js';
import type { FaultLog } from './fault-log.js';

/** What a fault can be done to. */
export interface Scene {
  readonly fleet: Fleet;
  readonly redis: TestRedis;
  /** A connection of the nemesis itself, past the proxy. */
  readonly admin: Redis;
  readonly proxy: TcpProxy;
  readonly log: FaultLog;
  /** Waits so many ms, or until all is to be healed. */
  wait(length: number): Promise<void>;
}

/** One kind of fault. */
export interface Fault {
  readonly kind: string;
  /** Faults of the server happen one after the other, so that each is what its name says. */
  readonly of: 'server' | 'network' | 'process';
  /** Does it, logs its window, and heals it. */
  readonly strike: (scene: Scene, random: Random) => Promise<void>;
}
