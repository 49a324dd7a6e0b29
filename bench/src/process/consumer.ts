import { setTimeout as sleep } from 'node:timers/promises';
import type { Adapter, Payload, Server } from '../adapters/adapter.js';
import { distributionOf } from '../measure/percentiles.js';
import type { ConsumerTasks, Handled } from './tasks.js';

/** Carries out the tasks of a consumer process in the same way for every system. The handler does nothing, or waits. */
export class ConsumerRunner implements ConsumerTasks {
  /** When each message was handled; `#lateness` has the same order. */
  #times: number[] = [];
  #cpuAtFirst = process.cpuUsage();
  #lateness: number[] = [];
  #awaited = Infinity;
  #enough: () => void = () => undefined;
  /** How long the handler takes, ms. */
  #duration = 0;

  constructor(
    private readonly adapter: Adapter,
    private readonly server: Server,
  ) {}

  async start(): Promise<{ startedAt: number }> {
    const startedAt = Date.now();
    await this.adapter.startConsumer(this.server, (payload, at) => this.#handle(payload, at));
    return { startedAt };
  }

  async serveQueues({ names }: { names: readonly string[] }): Promise<void> {
    await this.adapter.serveQueues!(this.server, names);
  }

  async handled({ count, skip = 0 }: { count: number; skip?: number }): Promise<Handled> {
    if (this.#lateness.length < count) {
      await new Promise<void>((resolve) => {
        this.#awaited = count;
        this.#enough = resolve;
      });
    }
    return this.#describe(skip);
  }

  look(): Promise<Handled> {
    return Promise.resolve(this.#describe(0));
  }

  lateness(): Promise<number[]> {
    return Promise.resolve(this.#lateness);
  }

  takeTime({ duration }: { duration: number }): Promise<void> {
    this.#duration = duration;
    return Promise.resolve();
  }

  reset(): Promise<void> {
    this.#times = [];
    this.#lateness = [];
    this.#awaited = Infinity;
    return Promise.resolve();
  }

  #describe(skip: number): Handled {
    const { user, system } = process.cpuUsage(this.#cpuAtFirst);
    return {
      cpu: user + system,
      count: this.#times.length - skip,
      firstAt: this.#times[skip] ?? NaN,
      lastAt: this.#times.at(-1) ?? NaN,
      lateness: distributionOf(this.#lateness.slice(skip)),
    };
  }

  #handle({ due }: Payload, at = Date.now()): Promise<void> | undefined {
    if (this.#times.length === 0) this.#cpuAtFirst = process.cpuUsage();
    this.#times.push(at);
    this.#lateness.push(at - due);
    if (this.#lateness.length === this.#awaited) this.#enough();
    return this.#duration === 0 ? undefined : sleep(this.#duration);
  }
}
