import type { QueueKeys } from '../observer/queue-keys.js';
import type { Fleet } from '../processes/fleet.js';
import type { Random } from '../random.js';
import type { Servers } from '../servers/servers.js';
import type { SoakSettings } from '../soak-settings.js';
import type { CloseWindow } from './fault-log.js';
import type { FaultWindow } from './fault-window.js';

/** The tools of a fault. */
export interface FaultContext<Redis extends Servers = Servers> {
  readonly fleet: Fleet;
  readonly servers: Redis;
  readonly queues: readonly QueueKeys[];
  readonly soak: SoakSettings;
  /** ms since the run's epoch. */
  now(): number;
  /** Opens a fault's window before it strikes; `processes` feel it, `detail` says what is done. The result closes it. */
  open(processes: FaultWindow['processes'], detail: string): CloseWindow;
  /** Waits for `length` ms, or until everything must be healed. */
  wait(length: number): Promise<void>;
}

/** `Redis`: what it needs to strike at. */
export interface Fault<Redis extends Servers = Servers> {
  readonly kind: string;
  /** Faults of the server happen one at a time, so that each one is what its name says. */
  readonly of: 'server' | 'network' | 'process' | 'data';
  /** True if it alone can keep a worker from extending its leases until they end; only then does it explain duplicates. */
  readonly costsLeases: boolean;
  /**
   * Whether Redis may forget what it acknowledged before. Such a fault happens only if it is requested by name, because what
   * is lost then says nothing about the module.
   */
  readonly forgets?: boolean;
  /** True if a message may fall behind later ones of its group. Default: no. */
  readonly disorders?: boolean;
  /** True if a group may have too many permits until it is repaired. Default: false. */
  readonly crowds?: boolean;
  /** True if another server may take a primary's place. Default: no. */
  readonly replaces?: boolean;
  /** Up to how many partitions it lets the queues grow. */
  readonly maxPartitions?: number;
  /** True if the module, as it is, is meant to survive it. Default: always. */
  readonly isPossible?: () => Promise<boolean>;
  /** Opens the window, strikes and heals. `turn`: how often this kind has struck before. */
  readonly strike: (context: FaultContext<Redis>, random: Random, turn: number) => Promise<void>;
}
