import { type ConfigurableModuleAsyncOptions, type DynamicModule, Module } from '@nestjs/common';
import { DiscoveryModule, ModulesContainer } from '@nestjs/core';
import { showFailure } from './message/failure.js';
import { DelayQueueError } from './message/delay-queue-errors.js';
import { ConfigurableModuleClass } from './options/delay-queue-module-definition.js';
import type { DelayQueueModuleOptions, DelayQueueOptionsFactory } from './options/module-options.js';
import { Changes } from './producer/changes.js';
import { DeclaredRepeats } from './producer/declared-repeats.js';
import { Offers } from './producer/offers.js';
import { Repeats } from './producer/repeats.js';
import { DelayQueueProducer } from './producer/delay-queue-producer.js';
import { isLiteral } from './message/read-fields.js';
import { showGiven } from './message/show-given.js';
import { runtimeProviders } from './runtime/runtime-providers.js';
import { SingleImport } from './runtime/single-import.js';
import { START_TASK } from './runtime/start-task.js';

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
    ...runtimeProviders,
    Offers,
    Changes,
    Repeats,
    { provide: START_TASK, useClass: DeclaredRepeats },
    DelayQueueProducer,
    {
      provide: SingleImport,
      useFactory: (modules: ModulesContainer) => new SingleImport(DelayQueueModule, modules),
      inject: [ModulesContainer],
    },
  ],
  exports: [DelayQueueProducer, Offers, Changes, Repeats],
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

/** `DelayQueueModule` does not extend the class that Nest builds: the declarations would then expose that class and its helpers. */
function asThisModule(definition: DynamicModule): DynamicModule {
  return { ...definition, module: DelayQueueModule };
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
