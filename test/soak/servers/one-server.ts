import { Redis } from 'ioredis';
import { resolve } from 'node:path';
import { rmSync } from 'node:fs';
import { startRedis } from '../../support/redis/start-redis.js';
import type { TestRedis } from '../../support/redis/test-redis.js';
import { TcpProxy } from '../../support/tcp-proxy/tcp-proxy.js';
import type { SoakSettings } from '../soak-settings.js';
import { asSoakUser, USER_ARGUMENTS } from '../soak-user.js';
import type { Servers } from './servers.js';

/** Every write is on disk before it is acknowledged; the file stays short, so that restarts are quick. */
const ARGUMENTS = [
  '--appendonly',
  'yes',
  '--appendfsync',
  'always',
  '--auto-aof-rewrite-min-size',
  '16mb',
  '--aof-load-truncated',
  'yes',
];

/** A single server, which forgets nothing when it is killed. */
export class OneServer implements Servers {
  readonly durability = 'appendfsync always';
  readonly commandConnections = 1;
  readonly client: Redis;

  private constructor(
    readonly redis: TestRedis,
    readonly network: TcpProxy,
    /** The folder of the server's data. */
    readonly data: string,
  ) {
    this.client = new Redis(redis.url, { connectionName: 'soak', retryStrategy: () => 50, maxRetriesPerRequest: null });
    this.client.on('error', () => undefined);
  }

  static async start({ out }: Pick<SoakSettings, 'out'>): Promise<OneServer> {
    const data = resolve(out, 'data');
    rmSync(data, { recursive: true, force: true });
    const redis = await startRedis({ args: [...ARGUMENTS, ...USER_ARGUMENTS], dir: data });
    try {
      return new OneServer(redis, await TcpProxy.start(redis.url), data);
    } catch (error) {
      await redis.stop();
      throw error;
    }
  }

  get connection(): string {
    return asSoakUser(this.redis.url);
  }

  get proxiedConnection(): string {
    return asSoakUser(this.network.url);
  }

  async ask(command: string, ...words: readonly (string | number)[]): Promise<unknown[]> {
    return [await this.client.call(command, ...words)];
  }

  async stop(): Promise<void> {
    this.client.disconnect();
    await this.network.stop();
    await this.redis.stop();
    rmSync(this.data, { recursive: true, force: true });
  }
}
