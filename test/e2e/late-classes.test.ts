import { afterEach, describe, expect, test } from '@jest/globals';
import { Injectable, Module, type Type } from '@nestjs/common';
import { LazyModuleLoader, ModuleRef } from '@nestjs/core';
import {
  DelayedHandler,
  DelayQueueListener,
  type DelayQueueModuleOptions,
  OnDelayQueueEvent,
} from '../../lib/index.js';
import { startTestApp, type TestApp, type TestAppParts } from '../support/test-app.js';

const MEMORY: DelayQueueModuleOptions = { store: 'memory' };

describe('a class that is made after the start', () => {
  let app: TestApp;
  afterEach(() => app.close());
  const start = async (parts?: TestAppParts) => (app = await startTestApp(MEMORY, parts));
  const warnings = () => app.log.filter((line) => line.startsWith('warn') && line.includes('never called'));

  @Injectable()
  class Orders {
    @DelayedHandler('orders')
    handle(): void {}
    @OnDelayQueueEvent('dead')
    tell(): void {}
  }

  @DelayQueueListener()
  class Audit {
    event(): void {}
  }

  @Injectable()
  class Plain {}

  @Module({ providers: [Audit, Plain] })
  class NestedModule {}

  @Module({ imports: [NestedModule], providers: [Orders] })
  class LazyModule {}

  const warning = (methods: string, by: string) =>
    `warn ${methods}: never called, because handlers and listeners are looked for at the start only, and ${by} came later: ` +
    'provide the class in a module that the application imports';

  const load = (type: Type) => app.context.get(LazyModuleLoader).load(() => type);

  test('in modules that are loaded lazily, is told of when they are loaded, once', async () => {
    await start();
    await Promise.all([load(LazyModule), load(LazyModule)]);
    await load(LazyModule);
    expect(warnings().sort()).toEqual([
      warning('Audit', 'the lazily loaded NestedModule'),
      warning('Orders.handle, Orders.tell', 'the lazily loaded LazyModule'),
    ]);
  });

  test('by moduleRef.create(), is told of, also in a module that was loaded lazily', async () => {
    await start();
    expect(await app.context.get(ModuleRef).create(Orders)).toBeInstanceOf(Orders);
    await (await load(NestedModule)).create(Orders);
    expect(warnings().filter((line) => line.includes('Orders'))).toEqual(
      Array<string>(2).fill(warning('Orders.handle, Orders.tell', 'moduleRef.create()')),
    );
  });

  test('is not told of if it has no handlers, or was there at the start', async () => {
    await start({ imports: [LazyModule] });
    await app.context.get(ModuleRef).create(Plain);
    await app.context.get(ModuleRef).create(Orders);
    await load(LazyModule);
    expect(warnings()).toEqual([]);
  });
});
