/** How rows get to Redis. */
export type Relaying = 'woken' | 'polled' | 'every second' | 'none';

/** The settings of a process. */
export interface LatencySettings {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly relaying: Relaying;
  /** Transactions a second, and how many in all. */
  readonly rate: number;
  readonly transactions: number;
  /** The file that the writer's result goes to. */
  readonly result: string;
}

export const QUEUE = 'latency';
