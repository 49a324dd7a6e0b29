import { type ConfigurableModuleAsyncOptions, type DynamicModule, Module } from '@nestjs/common';
import { DiscoveryModule, ModulesContainer } from '@nestjs/core';
import { type Clock, systemClock } from './timing/clock.js';
import { showFailure } from './message/failure.js';
import { DelayQueueError } from './message/delay-queue.errors.js';
import { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } from './options/delay-queue.module-definition.js';
import type { DelayQueueModuleOptions, DelayQueueOptionsFactory } from './options/module-options.js';
import { type ResolvedModuleOptions } from './options/module-options.schema.js';
import { resolveModuleOptions } from './options/resolve-options.js';
import { DelayQueueRuntime } from './runtime/delay-queue.runtime.js';
import { CLOCK, RESOLVED_OPTIONS, STORES } from './runtime/delay-queue.tokens.js';
import { logEvents } from './events/event-log.js';
import { Events } from './events/events.js';
import { SafeLogger } from './events/safe-logger.js';
import { AgainAdvice } from './handler/again-advice.js';
import { HandlerExplorer } from './handler/handler.explorer.js';
import { HandlerRegistry } from './handler/handler.registry.js';
import { DelayQueueProducer } from './producer/delay-queue.producer.js';
import { Queues } from './runtime/queues.js';
import { isLiteral } from './message/read-fields.js';
import { showGiven } from './message/show-given.js';
import { SingleImport } from './runtime/single-import.js';
import { createStores } from './runtime/create-stores.js';

/**
 * The delay queue of an application. Import it once, in the root module; it is global.
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
    { provide: RESOLVED_OPTIONS, useFactory: resolveModuleOptions, inject: [MODULE_OPTIONS_TOKEN] },
    { provide: CLOCK, useValue: systemClock },
    {
      provide: STORES,
      useFactory: (options: ResolvedModuleOptions, clock: Clock, events: Events) =>
        createStores(options, { clock, events }),
      inject: [RESOLVED_OPTIONS, CLOCK, Events],
    },
    { provide: Events, useFactory: loggedEvents },
    HandlerRegistry,
    HandlerExplorer,
    {
      provide: AgainAdvice,
      useFactory: (clock: Clock, events: Events) => new AgainAdvice(clock, events),
      inject: [CLOCK, Events],
    },
    Queues,
    DelayQueueRuntime,
    DelayQueueProducer,
    {
      provide: SingleImport,
      useFactory: (modules: ModulesContainer) => new SingleImport(DelayQueueModule, modules),
      inject: [ModulesContainer],
    },
  ],
  exports: [DelayQueueProducer],
})
export class DelayQueueModule {
  /**
   * The module with options that are known when it is imported.
   *
   * @param options - all optional; a mistake in them fails the start-up with `INVALID_OPTION`, naming the field
   * @throws DelayQueueError `INVALID_OPTION` at once if they are no options at all
   */
  static forRoot(options: DelayQueueModuleOptions = {}): DynamicModule {
    return asThisModule(ConfigurableModuleClass.forRoot(readGivenOptions('forRoot()', options)));
  }

  /**
   * The module with options that other providers know.
   *
   * @param options - `useFactory` with `inject`, or `useClass` or `useExisting` of a {@link DelayQueueOptionsFactory}
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
      const problem = 'one of useFactory, useClass and useExisting is needed';
      throw new DelayQueueError('INVALID_OPTION', `DelayQueueModule.forRootAsync(): ${problem}`);
    }
    return asThisModule(ConfigurableModuleClass.forRootAsync(given));
  }
}

/** Not inherited: the class that Nest builds would be in the declarations, with all its helpers. */
function asThisModule(definition: DynamicModule): DynamicModule {
  return { ...definition, module: DelayQueueModule };
}

function loggedEvents(): Events {
  const events = new Events();
  logEvents(events, { queues: new SafeLogger('DelayQueue'), redis: new SafeLogger('DelayQueueRedis') });
  return events;
}

/**
 * Takes a copy. Nest spreads what it is given, so that a URL or a function in place of options would count as none.
 *
 * @throws DelayQueueError `INVALID_OPTION`
 */
function readGivenOptions<T extends object>(method: string, given: T): T {
  const refuse = (problem: string, cause?: unknown) =>
    new DelayQueueError('INVALID_OPTION', `DelayQueueModule.${method}: ${problem}`, { cause });
  // A URL may have a password in it.
  const shown = typeof given === 'string' ? 'text: a URL goes into { connection }' : showGiven(given);
  const mismatch = `must be given an object of options, not ${shown}`;
  if (typeof given !== 'object' || (given as unknown) === null) throw refuse(mismatch);
  try {
    const copy = { ...given };
    if (Object.keys(copy).length > 0 || isLiteral(given)) return copy;
  } catch (cause) {
    throw refuse(`its options cannot be read (${showFailure(cause)})`, cause);
  }
  throw refuse(mismatch);
}
