import { Redis } from 'ioredis';
import type { Address, Server } from '../adapters/adapter.js';
import { RedisCluster } from '../../../test/support/redis/redis-cluster.js';
import { startRedis } from '../../../test/support/redis/start-redis.js';
import { SystemProcess } from '../process/system-process.js';
import { startPostgres } from '../servers/start-postgres.js';
import type { System } from '../systems.js';
import { PingProbe } from './ping-probe.js';
import { RedisMeter } from './redis-meter.js';

/** Decides how many messages a scenario takes. */
export type Size = 'quick' | 'full';

export interface StageSettings {
  readonly system: System;
  readonly size: Size;
  /** The folder of the built library. */
  readonly library: string;
  /** True if Redis is a cluster. */
  readonly cluster: boolean;
  /** Options of Node.js for the processes. */
  readonly nodeOptions?: readonly string[];
}

/** Servers that a stage has started. */
interface Started extends Server {
  stop(): Promise<void>;
}

/** One measurement of one system: an empty server of its own, and the processes that the scenario starts. */
export class Stage {
  readonly #processes: SystemProcess[] = [];

  private constructor(
    private readonly settings: StageSettings,
    private readonly server: Started,
    /** Clients of the benchmark's own: one for each server that has slots. None if the system needs another server than Redis. */
    readonly primaries: readonly Redis[],
  ) {}

  static async open(settings: StageSettings): Promise<Stage> {
    if (settings.system.server === 'postgres') return new Stage(settings, await startPostgres(), []);
    const server = settings.cluster ? await startCluster() : await startRedis();
    const { nodes = [server] }: Server = server;
    return new Stage(settings, server, await primariesOf(nodes));
  }

  /** A client of the benchmark's own. */
  get redis(): Redis {
    const [redis] = this.primaries;
    if (!redis) throw new Error(`${this.system.title} uses no Redis`);
    return redis;
  }

  get system(): System {
    return this.settings.system;
  }

  /** The value for the size of this run. */
  pick<Value>(values: Record<Size, Value>): Value {
    return values[this.settings.size];
  }

  /** Undefined: the system uses no Redis. */
  async startMeter(): Promise<RedisMeter | undefined> {
    const [redis] = this.primaries;
    return redis && RedisMeter.start(redis);
  }

  /** The processes of the primaries; none if the system uses no Redis. */
  async serverPids(): Promise<number[]> {
    const infos = await Promise.all(this.primaries.map((redis) => redis.info('server')));
    return infos.map((info) => Number(/^process_id:(\d+)/m.exec(info)![1]));
  }

  /** Undefined: the system uses no Redis. */
  startPings(): PingProbe | undefined {
    const [redis] = this.primaries;
    return redis && new PingProbe(redis);
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
    for (const redis of this.primaries) redis.disconnect();
    await Promise.all(this.#processes.map((process) => process.end()));
    await this.server.stop();
  }

  async #start(role: 'producer' | 'consumer'): Promise<SystemProcess> {
    const { system, library, nodeOptions } = this.settings;
    const { host, port, nodes } = this.server;
    const server = { host, port, ...(nodes && { nodes }) };
    const started = await SystemProcess.start({ system: system.name, role, server, library }, nodeOptions);
    this.#processes.push(started);
    return started;
  }
}

async function startCluster(): Promise<Started> {
  const cluster = await RedisCluster.start();
  const { nodes } = cluster;
  return { ...nodes[0]!, nodes, stop: () => cluster.stop() };
}

async function primariesOf(nodes: readonly Address[]): Promise<Redis[]> {
  const clients = nodes.map(({ host, port }) => new Redis(port, host));
  const roles = await Promise.all(clients.map((client) => client.role()));
  const isPrimary = (i: number) => roles[i]![0] === 'master';
  for (const [i, client] of clients.entries()) if (!isPrimary(i)) client.disconnect();
  return clients.filter((_, i) => isPrimary(i));
}
