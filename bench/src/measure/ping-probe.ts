import type { Redis } from 'ioredis';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Distribution, distributionOf } from './percentiles.js';

const PAUSE = 2;

/** Another client of the server, which asks for nothing but a PING again and again: how long does it wait? */
export class PingProbe {
  readonly #times: number[] = [];
  readonly #probing: Promise<void>;
  #stopped = false;

  constructor(redis: Redis) {
    this.#probing = this.#probe(redis);
  }

  async stop(): Promise<Distribution> {
    this.#stopped = true;
    await this.#probing;
    return distributionOf(this.#times);
  }

  async #probe(redis: Redis): Promise<void> {
    while (!this.#stopped) {
      const start = performance.now();
      await redis.ping();
      this.#times.push(performance.now() - start);
      await sleep(PAUSE);
    }
  }
}
