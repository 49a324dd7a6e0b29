import type { Adapter, Payload, Server } from '../adapters/adapter.js';
import { distributionOf } from '../measure/percentiles.js';
import type { ConsumerTasks, Handled } from './tasks.js';

/** Carries out the tasks of a consumer process, in the same way for every system. Its handler takes no time. */
export class ConsumerRunner implements ConsumerTasks {
  /** When each was handled, and how late that was, in the order of handling. */
  #times: number[] = [];
  #cpuAtFirst = process.cpuUsage();
  #lateness: number[] = [];
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

  async handled({ count, skip = 0 }: { count: number; skip?: number }): Promise<Handled> {
    if (this.#lateness.length < count) {
      await new Promise<void>((resolve) => {
        this.#awaited = count;
        this.#enough = resolve;
      });
    }
    return this.#tell(skip);
  }

  look(): Promise<Handled> {
    return Promise.resolve(this.#tell(0));
  }

  lateness(): Promise<number[]> {
    return Promise.resolve(this.#lateness);
  }

  reset(): Promise<void> {
    this.#times = [];
    this.#lateness = [];
    this.#awaited = Infinity;
    return Promise.resolve();
  }

  #tell(skip: number): Handled {
    const { user, system } = process.cpuUsage(this.#cpuAtFirst);
    return {
      cpu: user + system,
      count: this.#times.length - skip,
      firstAt: this.#times[skip] ?? NaN,
      lastAt: this.#times.at(-1) ?? NaN,
      lateness: distributionOf(this.#lateness.slice(skip)),
    };
  }

  #handle({ due }: Payload): void {
    const now = Date.now();
    if (this.#times.length === 0) this.#cpuAtFirst = process.cpuUsage();
    this.#times.push(now);
    this.#lateness.push(now - due);
    if (this.#lateness.length === this.#awaited) this.#enough();
  }
}
