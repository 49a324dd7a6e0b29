import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { Redis } from 'ioredis';
import type { DelayQueueModuleOptions } from '../../lib/index.js';
import { randomName } from './random-name.js';
import { sharedRedisUrl } from './redis/shared-redis.js';
import { startRedis } from './redis/start-redis.js';
import type { TestRedis, TestRedisOptions } from './redis/test-redis.js';
import { startTestApp, type TestApp, type TestAppParts } from './test-app.js';
import { until } from './until.js';
import { WorkerProcess } from './worker/worker-process.js';
import type { WorkerSettings } from './worker/worker-settings.js';

type AppSettings = TestAppParts & { readonly module?: DelayQueueModuleOptions };

/**
 * Where the tests of one suite play: a key prefix of its own on a Redis, with the applications and worker processes that
 * a test starts there. They are stopped after each test; the keys are removed after the last one.
 */
export class Scene {
  readonly prefix = randomName('test');
  readonly #server: TestRedisOptions | 'shared';
  readonly #apps: TestApp[] = [];
  readonly #workers: WorkerProcess[] = [];
  #ownServer: TestRedis | undefined;
  #redis: Redis | undefined;

  /** @param server - options of a server for this suite alone. Default: the server all suites share. */
  constructor(server: TestRedisOptions | 'shared' = 'shared') {
    this.#server = server;
    beforeAll(async () => {
      if (this.#server !== 'shared') this.#ownServer = await startRedis(this.#server);
      this.#redis = new Redis(this.url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
      // Says nothing: suites take the server away from under it.
      this.#redis.on('error', () => undefined);
    });
    afterEach(async () => {
      await Promise.all(this.#workers.splice(0).map((worker) => worker.end('SIGKILL')));
      await Promise.all(this.#apps.splice(0).map(closeInTime));
    });
    afterAll(async () => {
      if (!this.#ownServer) await this.#removeKeys();
      this.#redis?.disconnect();
      await this.#ownServer?.stop();
    });
  }

  get url(): string {
    return this.#ownServer?.url ?? sharedRedisUrl();
  }

  /** The suite's own server. */
  get server(): TestRedis {
    if (!this.#ownServer) throw new Error('This suite shares a server.');
    return this.#ownServer;
  }

  /** A client to look with. */
  get redis(): Redis {
    if (!this.#redis) throw new Error('There is a client only while tests run.');
    return this.#redis;
  }

  /** A queue nobody else uses. */
  newQueue(): string {
    return randomName('queue');
  }

  /** A key of a queue. */
  key(queue: string, part: string): string {
    return `${this.prefix}:{${queue}}:${part}`;
  }

  /** Starts an application in this process. */
  async startApp({ module = {}, ...parts }: AppSettings = {}): Promise<TestApp> {
    const app = await startTestApp({ ...this.#common, ...module }, parts);
    this.#apps.push(app);
    return app;
  }

  /** Starts an application in a process of its own. */
  async startWorker({ module, ...settings }: Partial<WorkerSettings> & { queue: string }): Promise<WorkerProcess> {
    const worker = await WorkerProcess.start({
      ...settings,
      module: { ...this.#common, ...module },
    });
    this.#workers.push(worker);
    return worker;
  }

  /** The options of all applications of a scene. A busy machine may take longer than the default of `offerTimeout`, 5 s. */
  get #common(): Pick<DelayQueueModuleOptions, 'connection' | 'prefix' | 'offerTimeout'> {
    return { connection: this.url, prefix: this.prefix, offerTimeout: '30s' };
  }

  async #removeKeys(): Promise<void> {
    for await (const keys of this.redis.scanStream({ match: `${this.prefix}:*`, count: 1000 })) {
      if ((keys as string[]).length > 0) await this.redis.unlink(...(keys as string[]));
    }
  }
}

/** Says what is wrong, rather than holding up the tests after it. */
async function closeInTime(app: TestApp): Promise<void> {
  let closed = false;
  void app.close().finally(() => (closed = true));
  await until(() => closed, { within: 30_000 }).catch(() => {
    throw new Error('An application did not close within 30 s.');
  });
}
