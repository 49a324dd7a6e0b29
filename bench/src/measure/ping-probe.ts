import type { Redis } from 'ioredis';
import { type Distribution, distributionOf } from './percentiles.js';

/** Milliseconds. */
const INTERVAL = 2;

/** Sends PING to a server at a steady pace, and measures how long the server takes to answer. */
export class PingProbe {
  readonly #times: number[] = [];
  readonly #underWay = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;

  constructor(private readonly redis: Redis) {
    // Unanswered pings do not slow the pace down: a probe that waited would ask least often just while answers are slow.
    this.#timer = setInterval(() => this.#ping(), INTERVAL);
  }

  /** @returns the times of all answers, ms */
  async stop(): Promise<Distribution> {
    clearInterval(this.#timer);
    await Promise.all(this.#underWay);
    return distributionOf(this.#times);
  }

  #ping(): void {
    const sentAt = performance.now();
    const answered = this.redis.ping().then(() => {
      this.#times.push(performance.now() - sentAt);
      this.#underWay.delete(answered);
    });
    this.#underWay.add(answered);
  }
}
