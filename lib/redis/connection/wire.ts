import type { RedisClient } from './redis-client.js';

/** What it takes to send over a connection, to a server or to whichever server of a cluster is the right one. */
export interface Wire {
  readonly client: RedisClient;
  readonly isReady: boolean;
  readonly isClosed: boolean;
  connect(): void;
  ready(command: string, timeout?: number): Promise<void>;
  answer<Answer>(answer: Promise<Answer>, patience?: number): Promise<Answer>;
  /** Whether an error says that the key is not, or not yet, on this server. If so, the next command goes where it is. */
  isElsewhere(error: unknown): boolean;
  close(): Promise<void>;
}

/** How long after its timeout a blocked call may answer before the connection counts as dead, ms. */
export const ANSWER_GRACE = 5000;
