import { Redis } from 'ioredis';
import { startRedis } from '../../../test/support/redis/start-redis.js';
import type { TestRedis } from '../../../test/support/redis/test-redis.js';
import { SystemProcess } from '../process/system-process.js';
import type { System } from '../systems.js';

/** Decides how many messages a scenario takes. */
export type Size = 'quick' | 'full';

export interface StageSettings {
  readonly system: System;
  readonly size: Size;
  /** The folder of the built library. */
  readonly library: string;
}

/** One measurement of one system: an empty Redis of its own, and the processes that the scenario starts. */
export class Stage {
  readonly #processes: SystemProcess[] = [];

  private constructor(
    private readonly settings: StageSettings,
    private readonly server: TestRedis,
    /** A client of the benchmark's own. */
    readonly redis: Redis,
  ) {}

  static async open(settings: StageSettings): Promise<Stage> {
    const server = await startRedis();
    return new Stage(settings, server, new Redis(server.url));
  }

  get system(): System {
    return this.settings.system;
  }

  /** The value for the size of this run. */
  pick<Value>(values: Record<Size, Value>): Value {
    return values[this.settings.size];
  }

  startProducer(): Promise<SystemProcess> {
    return this.#start('producer');
  }

  /** The consumer handles nothing before it is asked to `start`. */
  startConsumer(): Promise<SystemProcess> {
    return this.#start('consumer');
  }

  /** A producer, and a consumer that has started. */
  async startBoth(): Promise<{ producer: SystemProcess; consumer: SystemProcess }> {
    const [producer, consumer] = await Promise.all([this.startProducer(), this.startConsumer()]);
    await consumer.ask('start');
    return { producer, consumer };
  }

  async close(): Promise<void> {
    this.redis.disconnect();
    await Promise.all(this.#processes.map((process) => process.end()));
    await this.server.stop();
  }

  async #start(role: 'producer' | 'consumer'): Promise<SystemProcess> {
    const { system, library } = this.settings;
    const { host, port } = this.server;
    const started = await SystemProcess.start({ system: system.name, role, server: { host, port }, library });
    this.#processes.push(started);
    return started;
  }
}
