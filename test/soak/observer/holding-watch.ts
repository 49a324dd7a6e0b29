import type { Redis } from 'ioredis';
import type { Journal } from '../journal/journal.js';
import { numberOf } from '../workload/content.js';
import { LEASE } from '../workload/message-plan.js';
import type { QueueKeys } from './queue-keys.js';

interface Seen {
  readonly token: string;
  readonly from: number;
  to: number;
}

/** Sees which claims hold which messages, and writes down those that were held for longer than a lease. */
export class HoldingWatch {
  #seen = new Map<string, Seen>();

  constructor(
    private readonly redis: Redis,
    private readonly queues: readonly QueueKeys[],
    private readonly journal: Journal,
  ) {}

  async look(): Promise<void> {
    // Before the answer, so that nothing is said to have been held for longer than it was.
    const at = this.journal.now();
    const claims = await Promise.all(this.queues.map((queue) => this.redis.hgetall(queue.claims)));
    const seen = new Map<string, Seen>();
    for (const [token, held] of claims.flatMap((each) => Object.entries(each))) {
      for (const id of held.split('\n').filter((part) => part !== '')) {
        const before = this.#seen.get(id);
        seen.set(id, before?.token === token ? Object.assign(before, { to: at }) : { token, from: at, to: at });
      }
    }
    for (const [id, before] of this.#seen) if (seen.get(id) !== before) this.#write(id, before);
    this.#seen = seen;
  }

  /** Looks no more: writes down what is still held. */
  finish(): void {
    for (const [id, seen] of this.#seen) this.#write(id, seen);
    this.#seen.clear();
    this.journal.flush();
  }

  #write(id: string, { from, to }: Seen): void {
    const n = numberOf(id);
    // Of an id that the library made, nobody knows the message.
    if (n !== null && to - from > LEASE) void this.journal.append({ kind: 'held', n, from, at: to });
  }
}
