import type { Redis } from 'ioredis';
import type { TestRedis } from '../../support/redis/test-redis.js';
import type { TcpProxy } from '../../support/tcp-proxy/tcp-proxy.js';
import type { Fleet } from '../processes/fleet.js';
import type { Random } from '../random.js';
import type { SoakSettings } from '../soak-settings.js';
import type { FaultWindow } from './fault-window.js';

/** What a fault works with. */
export interface FaultContext {
  readonly fleet: Fleet;
  readonly redis: TestRedis;
  /** The nemesis' own connection, which bypasses the proxy. */
  readonly admin: Redis;
  readonly proxy: TcpProxy;
  /** The folder of the server's data. */
  readonly data: string;
  readonly soak: SoakSettings;
  /** Opens a fault's window before it strikes; `processes` feel it, `detail` says what is done. The result closes it. */
  open(processes: FaultWindow['processes'], detail: string): () => void;
  /** Waits for `length` ms, or until everything must be healed. */
  wait(length: number): Promise<void>;
}

export interface Fault {
  readonly kind: string;
  /** Faults of the server happen one at a time, so that each one is what its name says. */
  readonly of: 'server' | 'network' | 'process';
  /** Whether it alone can keep a worker from extending its leases until they end; only then does it explain duplicates. */
  readonly costsLeases: boolean;
  /**
   * Whether Redis may forget what it acknowledged before. Such a fault happens only if it is requested by name, because what
   * is lost then says nothing about the module.
   */
  readonly forgets?: boolean;
  /** Opens the window, strikes and heals. `turn`: how often this kind has struck before. */
  readonly strike: (context: FaultContext, random: Random, turn: number) => Promise<void>;
}
