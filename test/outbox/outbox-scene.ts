import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { DelayQueueModuleOptions } from '../../lib/index.js';
import { createTableSql, DelayQueueOutbox, OutboxModule, type OutboxOptions } from '../../packages/outbox/src/index.js';
import { randomName } from '../support/random-name.js';
import { Scene } from '../support/scene.js';
import type { TestRedisOptions } from '../support/redis/test-redis.js';
import type { TestApp, TestAppParts } from '../support/test-app.js';
import { type Library, openLibrary } from './library.js';

/** A database server of a suite. */
export interface RunningServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** An application with an outbox. */
export interface OutboxApp extends TestApp {
  readonly outbox: DelayQueueOutbox;
}

interface AppSettings extends TestAppParts {
  readonly module?: DelayQueueModuleOptions;
  readonly outbox?: Partial<OutboxOptions>;
}

/** Where the tests of a suite play: a Redis, a database through one library, and a table of its own for each test. */
export class OutboxScene {
  readonly #scene: Scene;
  #library: Library | undefined;
  #table: string | undefined;

  /** @param redis - options of a Redis for this suite alone. Default: the one that all suites share */
  constructor(library: string, startServer: () => Promise<RunningServer>, redis?: TestRedisOptions) {
    this.#scene = new Scene(redis);
    let server: RunningServer | undefined;
    beforeAll(async () => {
      server = await startServer();
      this.#library = await openLibrary(library, server.url);
    });
    afterEach(() => (this.#table = undefined));
    afterAll(async () => {
      await this.#library?.close();
      await server?.stop();
    });
  }

  get library(): Library {
    if (!this.#library) throw new Error('There is a library only while tests run.');
    return this.#library;
  }

  get redis() {
    return this.#scene.redis;
  }

  /** The target of messages. */
  get target() {
    return { redisUrl: this.#scene.url, prefix: this.#scene.prefix };
  }

  newQueue(): string {
    return this.#scene.newQueue();
  }

  /** The table of this test. */
  async table(): Promise<string> {
    if (this.#table === undefined) {
      this.#table = randomName('outbox').replaceAll('-', '_');
      await this.library.execute(createTableSql(this.library.database.dialect, this.#table));
    }
    return this.#table;
  }

  /** Runs a statement in a transaction, such as another version of the outbox does; `%table` is the table of this test. */
  async write(statement: string): Promise<void> {
    const sql = statement.replaceAll('%table', await this.table());
    const { database } = this.library;
    if (database.transactionAtOnce) await database.transactionAtOnce((run) => run(sql));
    else await database.transaction((run) => run(sql));
  }

  /** With the default of `offerTimeout`, because a scene's 30 s are too long for the default lease of an outbox. */
  async startApp({ outbox = {}, module, imports = [], ...parts }: AppSettings = {}): Promise<OutboxApp> {
    const options = { database: this.library.database, table: await this.table(), ...outbox };
    const app = await this.#scene.startApp({
      module: { offerTimeout: '5s', ...module },
      imports: [OutboxModule.forRoot(options), ...imports],
      ...parts,
    });
    return Object.assign(app, { outbox: app.context.get(DelayQueueOutbox) });
  }

  transact<Result>(work: (transaction: object) => Promise<Result>): Promise<Result> {
    return this.library.transact(work);
  }
}
