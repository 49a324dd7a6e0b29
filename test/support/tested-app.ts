import { afterEach } from '@jest/globals';
import { type DynamicModule, type LoggerService, Module, type Type } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { DelayQueueModule, type DelayQueueModuleOptions, DelayQueueProducer } from '../../lib/index.js';
import { DelayQueueTester, DelayQueueTestingModule } from '../../lib/testing/index.js';
import type { TestAppParts } from './test-app.js';

/** An address without a Redis. */
export const NOWHERE = 'redis://nowhere.invalid:1';

export interface TestedApp {
  readonly module: TestingModule;
  readonly tester: DelayQueueTester;
  readonly producer: DelayQueueProducer;
}

export interface TestedAppSettings extends TestAppParts {
  /** Options of the delay queue. */
  readonly options?: DelayQueueModuleOptions;
  /** The testing module as the test imports it. */
  readonly testing?: Type | DynamicModule;
}

const SILENT: LoggerService = { log: () => undefined, warn: () => undefined, error: () => undefined };

/** Starts applications as a team's tests do; they close after each test. */
export class TestedApps {
  readonly #modules: TestingModule[] = [];

  constructor() {
    afterEach(async () => {
      await Promise.all(this.#modules.splice(0).map((module) => module.close()));
    });
  }

  /** Compiles what a test imports, and starts it. */
  async start(...imports: readonly (Type | DynamicModule)[]): Promise<TestedApp> {
    const app = await this.compile(...imports);
    await app.module.init();
    return app;
  }

  async compile(...imports: readonly (Type | DynamicModule)[]): Promise<TestedApp> {
    const module = await Test.createTestingModule({ imports: [...imports] })
      .setLogger(SILENT)
      .compile();
    this.#modules.push(module);
    return {
      module,
      tester: module.get(DelayQueueTester),
      producer: module.get(DelayQueueProducer, { strict: false }),
    };
  }

  /** Starts an application of some parts, whose Redis is nowhere. */
  async startParts({ testing = DelayQueueTestingModule, ...parts }: TestedAppSettings = {}): Promise<TestedApp> {
    return this.start(appModule(parts), testing);
  }
}

/** The root module of an application, as production has it. */
export function appModule({ options, imports = [], ...parts }: Omit<TestedAppSettings, 'testing'>): Type {
  @Module({ imports: [DelayQueueModule.forRoot({ connection: NOWHERE, ...options }), ...imports], ...parts })
  class AppModule {}
  return AppModule;
}
