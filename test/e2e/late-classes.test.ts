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

describe('a class created after startup', () => {
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
    `warn ${methods}: never called, because handlers and listeners are only discovered at startup, and ${by} came later: ` +
    'provide the class in a module that the application imports';

  const load = (type: Type) => app.context.get(LazyModuleLoader).load(() => type);

  test('causes one warning when it comes from a lazily loaded module', async () => {
    await start();
    await Promise.all([load(LazyModule), load(LazyModule)]);
    await load(LazyModule);
    expect(warnings().sort()).toEqual([
      warning('Audit', 'the lazily loaded NestedModule'),
      warning('Orders.handle, Orders.tell', 'the lazily loaded LazyModule'),
    ]);
  });

  test('causes a warning when moduleRef.create() creates it, even in a lazily loaded module', async () => {
    await start();
    expect(await app.context.get(ModuleRef).create(Orders)).toBeInstanceOf(Orders);
    await (await load(NestedModule)).create(Orders);
    expect(warnings().filter((line) => line.includes('Orders'))).toEqual(
      Array<string>(2).fill(warning('Orders.handle, Orders.tell', 'moduleRef.create()')),
    );
  });

  test('causes no warning if it has no handlers or if its module was there at startup', async () => {
    await start({ imports: [LazyModule] });
    await app.context.get(ModuleRef).create(Plain);
    await app.context.get(ModuleRef).create(Orders);
    await load(LazyModule);
    expect(warnings()).toEqual([]);
  });
});
