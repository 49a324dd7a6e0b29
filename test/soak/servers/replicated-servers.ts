import type { TestRedis } from '../../support/redis/test-redis.js';
import type { Random } from '../random.js';
import type { Servers } from './servers.js';

/** Servers that take each other's place. They replicate asynchronously, so what was acknowledged last may be lost then. */
export interface ReplicatedServers extends Servers {
  /** For how long a primary must be silent to be replaced, ms. */
  readonly patience: number;
  /** True if a primary that comes back with nothing knows at once that it has been replaced, and accepts no writes. */
  readonly knowsWhenBack: boolean;
  /** True if a primary that is replaced as planned hands over all that it acknowledged. */
  readonly handsOverAll: boolean;

  /** Which servers are primaries now, as text that changes when another server takes the place of one. */
  primaries(): Promise<string>;
  /** Any primary. */
  choosePrimary(random: Random): Promise<Primary>;
  /** Resolves when all servers run, agree who is a primary, and are in sync. */
  untilWhole(): Promise<void>;
}

export function isReplicated(servers: Servers): servers is ReplicatedServers {
  return 'primaries' in servers;
}

/** A server that is a primary now. */
export interface Primary {
  readonly server: TestRedis;
  /** Resolves when all its replicas have what it acknowledged before this call. Writes go on meanwhile. */
  replicate(): Promise<void>;
  /** Writes something that soon expires. @throws Error if the server refuses that, or does not answer */
  write(): Promise<void>;
  /** Has a replica take its place. */
  failOver(): Promise<void>;
  untilReplaced(): Promise<void>;
  isReplaced(): Promise<boolean>;
}
