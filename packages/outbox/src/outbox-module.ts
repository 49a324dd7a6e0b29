import { setTimeout as sleep } from 'node:timers/promises';
import {
  type DynamicModule,
  Inject,
  Injectable,
  type InjectionToken,
  Logger,
  Module,
  type ModuleMetadata,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type OnModuleInit,
  type OptionalFactoryDependency,
  type Provider,
} from '@nestjs/common';
import { DelayQueueProducer } from 'nestjs-delay-queue';
import { DelayQueueOutbox } from './delay-queue-outbox.js';
import {
  assertInstance,
  type OutboxInstance,
  type OutboxOptions,
  refuse,
  type ResolvedOutboxOptions,
  resolveOptions,
} from './outbox-options.js';
import { shown } from './offering/shown.js';
import { OutboxRelay } from './relay/outbox-relay.js';
import { type RelayTarget, targetOf } from './relay/relay-target.js';
import { TargetCheck } from './relay/target-check.js';
import { isMissingTable } from './table/missing-table.js';
import { OutboxTable } from './table/outbox-table.js';
import { inTransaction } from './table/steps.js';

const OPTIONS = Symbol('outbox options');
/** How long the start waits for the database, ms. */
const MAX_CHECK = 5000;

/** Options that come from other providers. */
export interface OutboxAsyncOptions<Transaction extends object = object>
  extends OutboxInstance, Pick<ModuleMetadata, 'imports'> {
  readonly inject?: readonly (InjectionToken | OptionalFactoryDependency)[] | undefined;
  readonly useFactory: (...injected: never[]) => OutboxOptions<Transaction> | Promise<OutboxOptions<Transaction>>;
}

/** Returns the token of a named outbox. That of the unnamed one is the class. */
export function getOutboxToken(instance?: string): InjectionToken {
  return instance === undefined ? DelayQueueOutbox : `DelayQueueOutbox:${instance}`;
}

/** Injects a named outbox, for an application with several. */
export function InjectOutbox(instance?: string): PropertyDecorator & ParameterDecorator {
  return Inject(getOutboxToken(instance));
}

/** Starts and stops the relay with the application. */
@Injectable()
class OutboxRuntime implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy {
  readonly #logger = new Logger('DelayQueueOutbox');

  constructor(
    readonly options: ResolvedOutboxOptions,
    readonly table: OutboxTable,
    readonly relay: OutboxRelay,
    readonly target: RelayTarget | undefined,
    readonly targetCheck: TargetCheck,
  ) {}

  /** Checks before anything is connected, because Nest calls no shutdown hooks for an application that failed to start. */
  async onModuleInit(): Promise<void> {
    this.#checkLease();
    await this.#check();
  }

  onApplicationBootstrap(): void {
    if (this.options.relay) this.relay.start();
  }

  /** A call must end before another relay takes the row. */
  #checkLease(): void {
    const { relay, lease } = this.options;
    const { offerTimeout = 0 } = this.target ?? {};
    if (!relay || lease >= 2 * offerTimeout) return;
    throw refuse(
      `lease: ${lease} ms must be at least twice offerTimeout of the delay queue, which is ${offerTimeout} ms`,
    );
  }

  async onModuleDestroy(): Promise<void> {
    await this.relay.stop();
  }

  async #check(): Promise<void> {
    const { database, table } = this.options;
    try {
      await Promise.race([inTransaction(database, () => this.table.check()), silence()]);
      if (!this.table.hasMessageIndex) {
        const command = `npx nestjs-delay-queue-outbox upgrade ${database.dialect} --table ${table}`;
        this.#logger.warn(`The table ${table} lacks an index, so rows of different messages may wait for each other. Print its SQL with: ${command}`); // prettier-ignore
      }
    } catch (error) {
      if (isMissingTable(error)) {
        const command = `npx nestjs-delay-queue-outbox migration ${database.dialect} --table ${table}`;
        throw refuse(
          `table: ${table} does not exist or lacks a column (${(error as Error).message.trim().split('\n').at(-1)}). Print its SQL with: ${command}`,
        );
      }
      // The application may start before the database. The relay retries until it is there.
      this.#logger.warn(`The table of the outbox could not be checked. ${String(error)}`);
    }
  }
}

/**
 * The outbox of an application: `DelayQueueOutbox` to write to, and the relay. Import it once, in the root module, beside
 * `DelayQueueModule`; it is global. An application with several names them by `instance`.
 * @example
 * ```ts
 * @Module({
 *   imports: [
 *     DelayQueueModule.forRoot({ connection: 'redis://127.0.0.1:6379' }),
 *     OutboxModule.forRoot({ database: pg(pool) }),
 *   ],
 * })
 * class AppModule {}
 * ```
 */
@Module({})
export class OutboxModule {
  /** Creates the outbox from fixed options. @throws DelayQueueError `INVALID_OPTION` */
  static forRoot<Transaction extends object>(given: OutboxOptions<Transaction> & OutboxInstance): DynamicModule {
    if (typeof given !== 'object' || (given as unknown) === null) {
      throw refuse(`forRoot() must be given an options object, not ${shown(given)}`);
    }
    const { instance, producer, ...options } = given;
    return moduleOf({ instance, producer }, { provide: OPTIONS, useValue: options });
  }

  /**
   * Creates the outbox from options that come from other providers.
   * @throws DelayQueueError `INVALID_OPTION`
   * @example
   * ```ts
   * OutboxModule.forRootAsync({
   *   inject: [DataSource],
   *   useFactory: (dataSource: DataSource) => ({ database: typeOrm(dataSource) }),
   * });
   * ```
   */
  static forRootAsync<Transaction extends object>(given: OutboxAsyncOptions<Transaction>): DynamicModule {
    if (typeof (given as Partial<typeof given> | undefined)?.useFactory !== 'function') {
      throw refuse('forRootAsync() needs useFactory, a function that returns the options');
    }
    const { instance, producer, imports, inject = [], useFactory } = given;
    const options = { provide: OPTIONS, useFactory: useFactory as () => OutboxOptions, inject: [...inject] };
    return { ...moduleOf({ instance, producer }, options), imports: imports ?? [] };
  }
}

/** Rejects after a while, because a database that accepts connections and never answers must not keep an application from starting. */
async function silence(): Promise<never> {
  await sleep(MAX_CHECK, undefined, { ref: false });
  throw new Error(`The database has not answered for ${MAX_CHECK} ms`);
}

function moduleOf({ instance, producer = DelayQueueProducer }: OutboxInstance, options: Provider): DynamicModule {
  if (instance !== undefined) assertInstance(instance);
  const token = getOutboxToken(instance);
  return {
    module: OutboxModule,
    global: true,
    providers: [
      options,
      {
        provide: OutboxRuntime,
        useFactory: (given: OutboxOptions, producer: DelayQueueProducer) => {
          const resolved = resolveOptions(given, instance);
          const { database } = resolved;
          const table = new OutboxTable(database.dialect, resolved.table);
          const target = targetOf(producer);
          const targetCheck = new TargetCheck(database, table, target);
          const relay = new OutboxRelay({ ...resolved, table, producer, target, targetCheck });
          return new OutboxRuntime(resolved, table, relay, target, targetCheck);
        },
        inject: [OPTIONS, producer],
      },
      {
        provide: token,
        useFactory: ({ options: { database }, table, relay, targetCheck }: OutboxRuntime) =>
          new DelayQueueOutbox({ database, table, relay, targetCheck }),
        inject: [OutboxRuntime],
      },
    ],
    exports: [token],
  };
}
