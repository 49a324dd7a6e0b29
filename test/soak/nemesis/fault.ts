import type { Redis } from 'ioredis';
import type { TestRedis } from '../../support/redis/test-redis.js';
import type { TcpProxy } from '../../support/tcp-proxy/tcp-proxy.js';
import type { Fleet } from '../processes/fleet.js';
import type { Random } from '../random.js';
import type { SoakSettings } from '../soak-settings.js';
import type { FaultWindow } from './fault-window.js';

/** What a fault can be done to. */
export interface Scene {
  readonly fleet: Fleet;
  readonly redis: TestRedis;
  /** A connection of the nemesis itself, past the proxy. */
  readonly admin: Redis;
  readonly proxy: TcpProxy;
  /** The folder of the server's data. */
  readonly data: string;
  readonly soak: SoakSettings;
  /** Opens a fault's window, before the deed: which processes feel it, and what exactly is done. The result closes it. */
  open(processes: FaultWindow['processes'], detail: string): () => void;
  /** Waits so many ms, or until all is to be healed. */
  wait(length: number): Promise<void>;
}

/** One kind of fault. */
export interface Fault {
  readonly kind: string;
  /** Faults of the server happen one after the other, so that each is what its name says. */
  readonly of: 'server' | 'network' | 'process';
  /** Whether it alone may keep a worker from extending its leases until they end: only then it explains duplicates. */
  readonly costsLeases: boolean;
  /**
   * Whether Redis may forget what it acknowledged before. Such a fault happens only if it is asked for: what is lost then says
   * nothing about the module.
   */
  readonly forgets?: boolean;
  /** Does it, tells its window, and heals it. `turn`: how often it was done before. */
  readonly strike: (scene: Scene, random: Random, turn: number) => Promise<void>;
}
