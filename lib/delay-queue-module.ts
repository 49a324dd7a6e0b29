import { type ConfigurableModuleAsyncOptions, type DynamicModule, Module } from '@nestjs/common';
import { ApplicationConfig, DiscoveryModule, ModulesContainer } from '@nestjs/core';
import { type Clock, systemClock } from './timing/clock.js';
import { showFailure } from './message/failure.js';
import { DelayQueueError } from './message/delay-queue-errors.js';
import { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } from './options/delay-queue-module-definition.js';
import type { DelayQueueModuleOptions, DelayQueueOptionsFactory } from './options/module-options.js';
import { type ResolvedModuleOptions } from './options/module-options-schema.js';
import { resolveModuleOptionsInSlices } from './options/resolve-options.js';
import { DelayQueueRuntime } from './runtime/delay-queue-runtime.js';
import { CLOCK, RANDOM, RESOLVED_OPTIONS, STORES, SUBSTITUTES } from './runtime/delay-queue-tokens.js';
import { logEvents } from './events/event-log.js';
import { Events } from './events/events.js';
import { nameOf, Observers } from './events/observers.js';
import { SafeLogger } from './events/safe-logger.js';
import { AgainAdvice } from './handler/again-advice.js';
import { HandlerCalls } from './handler/handler-calls.js';
import { HandlerExplorer } from './handler/handler-explorer.js';
import { HandlerRegistry } from './handler/handler-registry.js';
import { ListenerExplorer } from './handler/listener/listener-explorer.js';
import { Changes } from './producer/changes.js';
import { Offers } from './producer/offers.js';
import { DelayQueueProducer } from './producer/delay-queue-producer.js';
import { MisspeltNames } from './runtime/misspelt-names.js';
import { QueueRegistrar } from './runtime/queue-registrar.js';
import { Queues } from './runtime/queues.js';
import { isLiteral } from './message/read-fields.js';
import { showGiven } from './message/show-given.js';
import { ShutdownHint } from './runtime/shutdown-hint.js';
import { SingleImport } from './runtime/single-import.js';
import { Workers } from './runtime/workers.js';
import { createStores } from './runtime/create-stores.js';
import type { Substitutes } from './runtime/substitutes.js';

const IN_A_TEST = { token: SUBSTITUTES, optional: true };

/**
 * The delay queue of an application. Import it once, in the root module. It is global, so every other module can inject
 * `DelayQueueProducer`.
 *
 * @example
 * ```ts
 * @Module({ imports: [DelayQueueModule.forRoot({ connection: 'redis://127.0.0.1:6379' })] })
 * class AppModule {}
 * ```
 */
@Module({
  imports: [DiscoveryModule],
  providers: [
    {
      provide: RESOLVED_OPTIONS,
      useFactory: resolveGivenOptions,
      inject: [{ token: MODULE_OPTIONS_TOKEN, optional: true }],
    },
    { provide: CLOCK, useFactory: (test?: Substitutes) => test?.clock ?? systemClock, inject: [IN_A_TEST] },
    { provide: RANDOM, useFactory: (test?: Substitutes) => test?.random ?? Math.random, inject: [IN_A_TEST] },
    {
      provide: STORES,
      useFactory: (options: ResolvedModuleOptions, clock: Clock, events: Events, test?: Substitutes) =>
        test?.openStores(events) ?? createStores(options, { clock, events }),
      inject: [RESOLVED_OPTIONS, CLOCK, Events, IN_A_TEST],
    },
    { provide: Events, useFactory: loggedEvents },
    {
      provide: Observers,
      useFactory: (events: Events, clock: Clock, { observers }: ResolvedModuleOptions) => {
        const all = new Observers(events, clock);
        for (const [i, observer] of observers.entries()) all.add(observer, nameOf(observer, `observers[${i}]`));
        return all;
      },
      inject: [Events, CLOCK, RESOLVED_OPTIONS],
    },
    ListenerExplorer,
    HandlerRegistry,
    HandlerExplorer,
    {
      provide: HandlerCalls,
      useFactory: (modules: ModulesContainer, config: ApplicationConfig, options: ResolvedModuleOptions) =>
        new HandlerCalls(modules, options.inheritAppConfig ? config : new ApplicationConfig()),
      inject: [ModulesContainer, ApplicationConfig, RESOLVED_OPTIONS],
    },
    {
      provide: AgainAdvice,
      useFactory: (clock: Clock, events: Events) => new AgainAdvice(clock, events),
      inject: [CLOCK, Events],
    },
    Queues,
    MisspeltNames,
    QueueRegistrar,
    Workers,
    {
      provide: ShutdownHint,
      useFactory: (clock: Clock, events: Events, test?: Substitutes) =>
        test ? undefined : new ShutdownHint(clock, events),
      inject: [CLOCK, Events, IN_A_TEST],
    },
    DelayQueueRuntime,
    Offers,
    Changes,
    DelayQueueProducer,
    {
      provide: SingleImport,
      useFactory: (modules: ModulesContainer) => new SingleImport(DelayQueueModule, modules),
      inject: [ModulesContainer],
    },
  ],
  exports: [DelayQueueProducer, Offers, Changes],
})
export class DelayQueueModule {
  /**
   * Creates the module from fixed options.
   *
   * @param options - all optional; an invalid one fails the start-up with `INVALID_OPTION`, naming the field
   * @throws DelayQueueError `INVALID_OPTION` immediately if this is not an options object
   *
   * @example
   * ```ts
   * DelayQueueModule.forRoot({ connection: 'redis://127.0.0.1:6379', defaults: { attempts: 3 } });
   * ```
   */
  static forRoot(options: DelayQueueModuleOptions = {}): DynamicModule {
    return asThisModule(ConfigurableModuleClass.forRoot(readGivenOptions('forRoot()', options)));
  }

  /**
   * Creates the module from options that come from other providers.
   *
   * @param options - `useFactory` with `inject`, or `useClass` or `useExisting` with a {@link DelayQueueOptionsFactory}
   * @throws DelayQueueError `INVALID_OPTION` immediately if none of the three is given
   *
   * @example
   * ```ts
   * DelayQueueModule.forRootAsync({
   *   inject: [ConfigService],
   *   useFactory: (config: ConfigService) => ({ connection: config.getOrThrow('REDIS_URL') }),
   * });
   * ```
   */
  static forRootAsync(
    options: ConfigurableModuleAsyncOptions<DelayQueueModuleOptions, keyof DelayQueueOptionsFactory>,
  ): DynamicModule {
    const given = readGivenOptions('forRootAsync()', options);
    if (!given.useFactory && !given.useClass && !given.useExisting) {
      const problem = 'needs useFactory, useClass or useExisting';
      throw new DelayQueueError('INVALID_OPTION', `DelayQueueModule.forRootAsync(): ${problem}`);
    }
    return asThisModule(ConfigurableModuleClass.forRootAsync(given));
  }
}

/**
 * Nest would only say that it cannot resolve a dependency.
 *
 * @throws DelayQueueError `INVALID_OPTION`
 */
async function resolveGivenOptions(options?: DelayQueueModuleOptions): Promise<ResolvedModuleOptions> {
  if (options !== undefined) return resolveModuleOptionsInSlices(options);
  throw new DelayQueueError(
    'INVALID_OPTION',
    'DelayQueueModule has no options: import DelayQueueModule.forRoot({ … }) in the root module instead of DelayQueueModule ' +
      'itself, and nothing in other modules, because it is global; a factory of forRootAsync() must return the options',
  );
}

/** `DelayQueueModule` does not extend the class that Nest builds: the declarations would then expose that class and its helpers. */
function asThisModule(definition: DynamicModule): DynamicModule {
  return { ...definition, module: DelayQueueModule };
}

function loggedEvents(): Events {
  const events = new Events();
  logEvents(events, { queues: new SafeLogger('DelayQueue'), redis: new SafeLogger('DelayQueueRedis') });
  return events;
}

/**
 * Copies the options. Nest spreads whatever it is given, so a URL or a function in their place would count as no options.
 *
 * @throws DelayQueueError `INVALID_OPTION`
 */
function readGivenOptions<T extends object>(method: string, given: T): T {
  const refuse = (problem: string, cause?: unknown) =>
    new DelayQueueError('INVALID_OPTION', `DelayQueueModule.${method}: ${problem}`, { cause });
  // A URL may contain a password.
  const shown = typeof given === 'string' ? 'text: a URL goes into { connection }' : showGiven(given);
  const mismatch = `must be given an options object, not ${shown}`;
  if (typeof given !== 'object' || (given as unknown) === null) throw refuse(mismatch);
  try {
    const copy = { ...given };
    if (Object.keys(copy).length > 0 || isLiteral(given)) return copy;
  } catch (cause) {
    throw refuse(`its options cannot be read (${showFailure(cause)})`, cause);
  }
  throw refuse(mismatch);
}
