import type { Adapter, Payload, Server } from '../adapters/adapter.js';
import { distributionOf } from '../measure/percentiles.js';
import type { ConsumerTasks, Handled } from './tasks.js';

/** Carries out the tasks of a consumer process, in the same way for every system. Its handler takes no time. */
export class ConsumerRunner implements ConsumerTasks {
  #lateness: number[] = [];
  #firstAt = NaN;
  #lastAt = NaN;
  #awaited = Infinity;
  #enough: () => void = () => undefined;

  constructor(
    private readonly adapter: Adapter,
    private readonly server: Server,
  ) {}

  async start(): Promise<{ startedAt: number }> {
    const startedAt = Date.now();
    await this.adapter.startConsumer(this.server, (payload) => this.#handle(payload));
    return { startedAt };
  }

  async handled({ count }: { count: number }): Promise<Handled> {
    if (this.#lateness.length < count) {
      await new Promise<void>((resolve) => {
        this.#awaited = count;
        this.#enough = resolve;
      });
    }
    return this.look();
  }

  look(): Promise<Handled> {
    return Promise.resolve({
      count: this.#lateness.length,
      firstAt: this.#firstAt,
      lastAt: this.#lastAt,
      lateness: distributionOf(this.#lateness),
    });
  }

  reset(): Promise<void> {
    this.#lateness = [];
    this.#firstAt = this.#lastAt = NaN;
    this.#awaited = Infinity;
    return Promise.resolve();
  }

  #handle({ due }: Payload): void {
    const now = Date.now();
    if (this.#lateness.length === 0) this.#firstAt = now;
    this.#lastAt = now;
    this.#lateness.push(now - due);
    if (this.#lateness.length === this.#awaited) this.#enough();
  }
}
