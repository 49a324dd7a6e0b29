import { type ConfigurableModuleAsyncOptions, type DynamicModule, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { DelayQueueError } from './message/delay-queue-errors.js';
import { showFailure } from './message/failure.js';
import { readInstanceName } from './message/instance-name.js';
import { isLiteral } from './message/read-fields.js';
import { showGiven } from './message/show-given.js';
import {
  ConfigurableModuleClass,
  type DelayQueueModuleOptions,
  type DelayQueueOptionsFactory,
} from './options/module-options.js';
import { observerProviders } from './observers/observer-providers.js';
import { namedProviders, producerProviders } from './producer/producer-providers.js';
import { repeatProviders } from './repeats/repeat-providers.js';

/**
 * An application's delay queue. Import it once, in the root module. It is global, so any module can inject `DelayQueueProducer`. An
 * application with several Redis servers imports it once for each, under a `name`.
 * @example
 * ```ts
 * @Module({ imports: [DelayQueueModule.forRoot({ connection: 'redis://127.0.0.1:6379' })] })
 * class AppModule {}
 * ```
 */
@Module({
  imports: [DiscoveryModule],
  providers: [...observerProviders, ...producerProviders, ...repeatProviders],
})
export class DelayQueueModule {
  /**
   * Creates the module from fixed options.
   * @param options - all optional; with an invalid one, startup fails with an `INVALID_OPTION` that names the field. A `name`, 1–64 of the
   *   characters `A–Z a–z 0–9 _ -`, creates a separate instance with its own producer, handlers and listeners (`docs/instances.md`)
   * @throws DelayQueueError `INVALID_OPTION` immediately if this is not an options object, or the name is malformed
   */
  static forRoot(options: DelayQueueModuleOptions & { readonly name?: string | undefined } = {}): DynamicModule {
    const given = readGivenOptions('forRoot()', options);
    const name = readInstanceName(given.name, 'DelayQueueModule.forRoot(): name');
    return instanceOf(ConfigurableModuleClass.forRoot(given), name);
  }

  /**
   * Creates the module from options that come from other providers.
   * @param options - `useFactory` with `inject`, or `useClass` or `useExisting` with a {@link DelayQueueOptionsFactory}; pass `name` next
   *   to these, not from the factory, because Nest needs it before it calls the factory
   * @throws DelayQueueError `INVALID_OPTION` immediately if none of the three is given, or the name is malformed
   * @example
   * ```ts
   * DelayQueueModule.forRootAsync({
   *   inject: [ConfigService],
   *   useFactory: (config: ConfigService) => ({ connection: config.getOrThrow('REDIS_URL') }),
   * });
   * ```
   */
  static forRootAsync(
    options: ConfigurableModuleAsyncOptions<DelayQueueModuleOptions, keyof DelayQueueOptionsFactory> & {
      readonly name?: string | undefined;
    },
  ): DynamicModule {
    const given = readGivenOptions('forRootAsync()', options);
    if (!given.useFactory && !given.useClass && !given.useExisting) {
      const problem = 'needs useFactory, useClass or useExisting';
      throw new DelayQueueError('INVALID_OPTION', `DelayQueueModule.forRootAsync(): ${problem}`);
    }
    const name = readInstanceName(given.name, 'DelayQueueModule.forRootAsync(): name');
    return instanceOf(ConfigurableModuleClass.forRootAsync(given), name);
  }
}

/**
 * Returns the module of one instance. `DelayQueueModule` does not extend the class that Nest builds, because its type declarations would
 * then expose that class and its helpers. Its `@Module` decorator exports nothing, because every named instance would export the same.
 */
function instanceOf(definition: DynamicModule, name: string): DynamicModule {
  const { providers, exports } = namedProviders(name);
  return {
    ...definition,
    module: DelayQueueModule,
    providers: [...(definition.providers ?? []), ...providers],
    exports,
  };
}

/**
 * Copies an options object. Refuses anything else, because Nest would spread a URL or a function into empty options.
 * @throws DelayQueueError `INVALID_OPTION`
 */
function readGivenOptions<T extends object>(method: string, given: T): T {
  const refuse = (problem: string, cause?: unknown) =>
    new DelayQueueError('INVALID_OPTION', `DelayQueueModule.${method}: ${problem}`, { cause });
  // A string is not shown, because a URL may contain a password.
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
