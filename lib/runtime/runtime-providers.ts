import { Logger, type Provider } from '@nestjs/common';
import { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { logEvents } from '../events/event-log.js';
import { Events } from '../events/events.js';
import { AgainAdvice } from './again-advice.js';
import { HandlerCalls } from '../handler/handler-calls.js';
import { HandlerExplorer } from '../handler/handler-explorer.js';
import { HandlerRegistry } from '../handler/handler-registry.js';
import { INSTANCE, InstanceNames } from '../handler/instance-names.js';
import { LateClasses } from './late-classes.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { UNNAMED } from '../message/instance-name.js';
import { type DelayQueueModuleOptions, MODULE_OPTIONS_TOKEN } from '../options/module-options.js';
import type { ResolvedModuleOptions } from '../options/module-options-schema.js';
import { resolveModuleOptionsInSlices } from '../options/resolve-options.js';
import { type Clock, systemClock } from '../timing/clock.js';
import { inSlices } from '../timing/event-loop.js';
import { createStores } from './create-stores.js';
import { DelayQueueRuntime, ShutdownHint } from './delay-queue-runtime.js';
import { CLOCK, RANDOM, RESOLVED_OPTIONS, STORES, TEST_OVERRIDES } from './delay-queue-tokens.js';
import { Instance, InstanceCheck, namedInstance } from './instance.js';
import { MisspeltNames } from './misspelt-names.js';
import { QueueRegistrar } from './queue-registrar.js';
import { Queues } from './queues.js';
import { type TestOverrides, Workers } from './workers.js';

const IN_A_TEST = { token: TEST_OVERRIDES, optional: true };

/** All providers of a process except the producer: options, clock, stores, handlers, queues and workers. */
export const runtimeProviders: Provider[] = [
  // Replaced if the module has a name.
  namedInstance(UNNAMED),
  InstanceNames,
  InstanceCheck,
  Instance,
  {
    provide: RESOLVED_OPTIONS,
    useFactory: resolveGivenOptions,
    inject: [{ token: MODULE_OPTIONS_TOKEN, optional: true }],
  },
  { provide: CLOCK, useFactory: (test?: TestOverrides) => test?.clock ?? systemClock, inject: [IN_A_TEST] },
  { provide: RANDOM, useFactory: (test?: TestOverrides) => test?.random ?? Math.random, inject: [IN_A_TEST] },
  {
    provide: STORES,
    useFactory: (
      options: ResolvedModuleOptions,
      clock: Clock,
      events: Events,
      instance: string,
      test?: TestOverrides,
    ) => test?.openStores(instance, events) ?? createStores(options, { clock, events }),
    inject: [RESOLVED_OPTIONS, CLOCK, Events, INSTANCE, IN_A_TEST],
  },
  { provide: Events, useFactory: loggedEvents, inject: [INSTANCE] },
  HandlerRegistry,
  HandlerExplorer,
  LateClasses,
  {
    provide: HandlerCalls,
    useFactory: (modules: ModulesContainer, config: ApplicationConfig, options: ResolvedModuleOptions) =>
      new HandlerCalls(modules, options.inheritAppConfig ? config : new ApplicationConfig()),
    inject: [ModulesContainer, ApplicationConfig, RESOLVED_OPTIONS],
  },
  AgainAdvice,
  Queues,
  MisspeltNames,
  QueueRegistrar,
  Workers,
  {
    provide: ShutdownHint,
    useFactory: (clock: Clock, events: Events, test?: TestOverrides) =>
      test ? undefined : new ShutdownHint(clock, events),
    inject: [CLOCK, Events, IN_A_TEST],
  },
  DelayQueueRuntime,
];

/** Throws `INVALID_OPTION` if there are no options. Nest would only say that it cannot resolve a dependency. */
async function resolveGivenOptions(options?: DelayQueueModuleOptions): Promise<ResolvedModuleOptions> {
  if (options !== undefined) {
    return resolveModuleOptionsInSlices(options, (entries, check) => inSlices(entries, systemClock, check));
  }
  throw new DelayQueueError(
    'INVALID_OPTION',
    'DelayQueueModule has no options: import DelayQueueModule.forRoot({ … }) in the root module instead of DelayQueueModule ' +
      'itself, and nothing in other modules, because it is global; a factory of forRootAsync() must return the options',
  );
}

/** Creates the events of an instance, whose name ends the context of their log lines. */
function loggedEvents(instance: string): Events {
  const events = new Events(instance || undefined);
  const loggerOf = (context: string) => new SafeLogger(instance === UNNAMED ? context : `${context}:${instance}`);
  logEvents(events, { queues: loggerOf('DelayQueue'), redis: loggerOf('DelayQueueRedis') });
  return events;
}

/** A logger that never throws. Nest passes lines to the application's own logger, whose errors must not end a loop. */
class SafeLogger extends Logger {
  override log(...line: readonly [unknown, ...unknown[]]): void {
    attempt(() => super.log(...line));
  }

  override warn(...line: readonly [unknown, ...unknown[]]): void {
    attempt(() => super.warn(...line));
  }

  override error(...line: readonly [unknown, ...unknown[]]): void {
    attempt(() => super.error(...line));
  }
}

function attempt(write: () => void): void {
  try {
    write();
  } catch {
    // There is nowhere left to report the logger's own error.
  }
}
