import { Redis } from 'ioredis';
import { mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CompiledPrograms } from '../support/compiled-programs.js';
import { startRedis } from '../support/redis/start-redis.js';
import type { TestRedis } from '../support/redis/test-redis.js';
import { TcpProxy } from '../support/tcp-proxy/tcp-proxy.js';
import { Journal } from './journal/journal.js';
import { FaultLog } from './nemesis/fault-log.js';
import { Observer } from './observer/observer.js';
import { keysOfQueues, type QueueKeys } from './observer/queue-keys.js';
import { Fleet } from './processes/fleet.js';
import type { SoakSettings } from './soak-settings.js';
import { asSoakUser, USER_ARGUMENTS } from './soak-user.js';

/** Every write is on disk before it is acknowledged; the file stays short, so that restarts are quick. */
const SERVER_ARGUMENTS = [
  '--appendonly',
  'yes',
  '--appendfsync',
  'always',
  '--auto-aof-rewrite-min-size',
  '16mb',
  '--aof-load-truncated',
  'yes',
];

const PREFIX = 'soak';

/** Number 0, because the processes count from 1. */
const OBSERVER_JOURNAL = '000-observer.journal';

/** The stage of a run: a server, a proxy in front of it, the processes and the observer. */
export class SoakStage {
  readonly epoch = Date.now();
  readonly prefix = PREFIX;
  readonly queues: readonly QueueKeys[];
  readonly journals: string;
  /** The folder of the server's data. */
  readonly data: string;
  readonly log: FaultLog;
  readonly fleet: Fleet;
  readonly observer: Observer;
  /** Bypasses the proxy, for the nemesis and the observer. */
  readonly admin: Redis;

  private constructor(
    readonly settings: SoakSettings,
    readonly redis: TestRedis,
    readonly proxy: TcpProxy,
    private readonly programs: CompiledPrograms,
  ) {
    const folder = settings.out;
    this.queues = keysOfQueues(settings.layout, PREFIX);
    this.journals = join(folder, 'journals');
    this.data = dataFolder(settings);
    this.admin = new Redis(redis.url, { connectionName: 'soak', retryStrategy: () => 50, maxRetriesPerRequest: null });
    this.admin.on('error', () => undefined);
    this.log = new FaultLog(join(folder, 'faults.jsonl'), () => this.now());
    const urls = { directUrl: asSoakUser(redis.url), proxyUrl: asSoakUser(proxy.url) };
    this.fleet = new Fleet({ soak: settings, prefix: PREFIX, epoch: this.epoch, folder, programs, ...urls });
    this.observer = new Observer(this.admin, this.queues, {
      journal: new Journal(join(this.journals, OBSERVER_JOURNAL), this.epoch),
      fleet: this.fleet,
      log: this.log,
      now: () => this.now(),
    });
  }

  static async set(settings: SoakSettings): Promise<SoakStage> {
    for (const old of ['journals', 'logs', 'data', 'faults.jsonl'])
      rmSync(join(settings.out, old), { recursive: true, force: true });
    for (const folder of ['journals', 'logs']) mkdirSync(join(settings.out, folder), { recursive: true });
    const redis = await startRedis({ args: [...SERVER_ARGUMENTS, ...USER_ARGUMENTS], dir: dataFolder(settings) });
    try {
      return new SoakStage(settings, redis, await TcpProxy.start(redis.url), new CompiledPrograms());
    } catch (error) {
      await redis.stop();
      throw error;
    }
  }

  now(): number {
    return Date.now() - this.epoch;
  }

  /** Stops everything and leaves only files behind. */
  async clear(): Promise<void> {
    await this.observer.stop();
    await this.fleet.kill();
    this.admin.disconnect();
    await this.proxy.stop();
    await this.redis.stop();
    this.programs.remove();
    rmSync(this.data, { recursive: true, force: true });
  }
}

function dataFolder({ out }: SoakSettings): string {
  return resolve(out, 'data');
}
