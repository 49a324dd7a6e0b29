import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { ConsoleLogger, Injectable, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { again, DelayQueueModule, type DelayQueueModuleOptions } from '../../lib/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { DelayQueueTester, DelayQueueTestingModule } from '../../lib/testing/index.js';
import { argumentsFor, ENVIRONMENT } from '../support/run-program.js';
import { handlerOf } from '../support/test-app.js';
import { appModule, NOWHERE, TestedApps } from '../support/tested-app.js';

/** The resources that keep a process alive. */
const resources = () => process.getActiveResourcesInfo().filter((kind) => /TCP|Timeout|Immediate|DNS/i.test(kind));

const handled: unknown[] = [];
const providers = [handlerOf('orders', (payload) => handled.push(payload))];

afterEach(() => {
  handled.length = 0;
});

describe('the testing module', () => {
  const apps = new TestedApps();

  const unusable = () => {
    throw new Error('no client is made in a test');
  };
  const options: [string, DelayQueueModuleOptions][] = [
    ['a URL that leads nowhere', { connection: NOWHERE }],
    ['a client factory that throws', { connection: unusable }],
    ['a cluster', { connection: { cluster: { nodes: [{ host: 'nowhere.invalid', port: 1 }] } } }],
    ['the memory store', { store: 'memory' }],
    ["Redisson's layout", { connection: NOWHERE, defaults: { layout: redisson() } }],
  ];

  test.each(options)('replaces Redis when the application has %s', async (_, given) => {
    const { tester, producer } = await apps.startParts({ options: given, providers });
    await producer.offer('orders', 'o-1', '30m');
    await tester.advance('30m');
    expect(handled).toEqual(['o-1']);
  });

  const AsyncModule = () => {
    const useFactory = () => Promise.resolve({ connection: NOWHERE });
    @Module({ imports: [DelayQueueModule.forRootAsync({ useFactory })], providers })
    class AppModule {}
    return AppModule;
  };
  const NestedModule = () => {
    @Module({ imports: [appModule({ providers })] })
    class OuterModule {}
    return OuterModule;
  };

  test.each([
    ['after the application', () => [appModule({ providers }), DelayQueueTestingModule]],
    ['before the application', () => [DelayQueueTestingModule, appModule({ providers })]],
    ['after one with forRootAsync()', () => [AsyncModule(), DelayQueueTestingModule]],
    ['before one with forRootAsync()', () => [DelayQueueTestingModule, AsyncModule()]],
    [
      'before one that has the delay queue further down',
      () => [DelayQueueTestingModule.startAt(new Date(0)), NestedModule()],
    ],
  ])('replaces Redis when it is imported %s', async (_, imports) => {
    const { tester, producer } = await apps.start(...imports());
    await producer.offer('orders', 'o-1', '30m');
    await tester.drain();
    expect(handled).toEqual(['o-1']);
  });

  test('connects to nothing and leaves nothing open when the application has closed', async () => {
    let connections = 0;
    const server = createServer(() => connections++).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const before = resources();
    const { module, tester, producer } = await apps.startParts({
      options: { connection: `redis://127.0.0.1:${port}` },
      providers,
    });
    await producer.offer('orders', 'o-1', '30m');
    await tester.advance('30m');
    expect(resources()).toEqual(before);
    await module.close();
    expect(resources()).toEqual(before);
    expect(connections).toBe(0);
    server.close();
  });

  test('still makes startup fail if the options contain a mistake', async () => {
    const wrong = appModule({ options: { connection: 'postgres://nowhere.invalid' } });
    await expect(apps.compile(wrong, DelayQueueTestingModule)).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  });

  test('does not make a process that only offers handle messages', async () => {
    const { tester, producer } = await apps.startParts({ options: { consume: false }, providers });
    await producer.offer('orders', 'o-1', '30m');
    await tester.advance('1h');
    expect(handled).toEqual([]);
    expect(await producer.counts('orders')).toMatchObject({ delayed: 1 });
    await expect(tester.drain()).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining('consume: false'),
    });
  });

  test('gives each application in a test its own queues', async () => {
    const one = await apps.startParts({ providers });
    const other = await apps.startParts({ providers });
    await one.producer.offer('orders', 'of one', '1h');
    await other.tester.advance('2h');
    expect(handled).toEqual([]);
    expect(other.tester.offered()).toEqual([]);
    expect(other.tester.now().getTime() - one.tester.now().getTime()).toBeGreaterThanOrEqual(2 * 60 * 60_000);
  });
});

describe('the testing module, used wrongly', () => {
  const apps = new TestedApps();

  const compile = (...imports: Type[]) =>
    Test.createTestingModule({ imports })
      .setLogger(new ConsoleLogger({ logLevels: [] }))
      .compile();
  const withoutQueue = { code: 'INVALID_OPTION', message: expect.stringContaining('without DelayQueueModule') };

  test('makes startup fail if there is no delay queue, in production too', async () => {
    const module = await compile(DelayQueueTestingModule);
    await expect(module.init()).rejects.toMatchObject(withoutQueue);
    @Module({ imports: [DelayQueueTestingModule] })
    class AppModule {}
    const start = NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
    await expect(start).rejects.toMatchObject(withoutQueue);
  });

  test('makes each call fail if there is no delay queue and nobody starts the application', async () => {
    const tester = (await compile(DelayQueueTestingModule)).get(DelayQueueTester);
    expect(() => tester.offered()).toThrow(expect.objectContaining(withoutQueue));
    await expect(tester.advance('1h')).rejects.toMatchObject(withoutQueue);
    await expect(tester.drain()).rejects.toMatchObject(withoutQueue);
    await expect(tester.handle('orders', null)).rejects.toMatchObject(withoutQueue);
  });

  test('is refused when it is imported twice', async () => {
    const imports = [appModule({}), DelayQueueTestingModule, DelayQueueTestingModule.startAt(new Date(0))];
    const module = await Test.createTestingModule({ imports })
      .setLogger(new ConsoleLogger({ logLevels: [] }))
      .compile();
    await expect(module.init()).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining('import it once'),
    });
  });

  test('logs a warning in an application that is not a test', async () => {
    const warnings: string[] = [];
    class Logger extends ConsoleLogger {
      override warn(message: string): void {
        warnings.push(message);
      }
    }
    @Module({ imports: [appModule({}), DelayQueueTestingModule] })
    class AppModule {}
    const app = await NestFactory.createApplicationContext(AppModule, { logger: new Logger({ logLevels: ['warn'] }) });
    await app.close();
    expect(warnings).toContainEqual(expect.stringContaining('none falls due until a test moves time'));
  });

  test.each([new Date(NaN), new Date(-1), '2030-01-01', undefined])(
    'refuses to start the clock at the invalid instant %s',
    (date) => {
      expect(() => DelayQueueTestingModule.startAt(date as Date)).toThrow(
        expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
      );
    },
  );

  test('rejects calls that need handlers before init(), and says why', async () => {
    const { tester, producer } = await apps.compile(appModule({ providers }), DelayQueueTestingModule);
    await producer.offer('orders', 'o-1', '30m');
    const notStarted = { code: 'NOT_STARTED', message: expect.stringContaining('await init()') };
    await expect(tester.advance('30m')).rejects.toMatchObject(notStarted);
    await expect(tester.drain()).rejects.toMatchObject(notStarted);
    await expect(tester.handle('orders', null)).rejects.toMatchObject(notStarted);
    await tester.clear();
    expect(tester.offered()).toEqual([]);
  });

  test('refuses to move time once the application has closed', async () => {
    const { module, tester } = await apps.startParts({ providers });
    await module.close();
    const closed = { code: 'CLOSED', message: expect.stringContaining('has shut down') };
    await expect(tester.advance('30m')).rejects.toMatchObject(closed);
    await expect(tester.handle('orders', null)).rejects.toMatchObject(closed);
  });
});

describe('an application under test that closes', () => {
  const apps = new TestedApps();

  test('waits for a running handler and moves time no further', async () => {
    const steps: unknown[] = [];
    let started: () => void;
    const running = new Promise<void>((resolve) => (started = resolve));
    const handle = async (payload: string) => {
      started();
      await sleep(50);
      steps.push(payload);
    };
    const { module, tester, producer } = await apps.startParts({ providers: [handlerOf('orders', handle)] });
    await producer.offer('orders', 'first', '1h');
    await producer.offer('orders', 'second', '2h');
    const advanced = tester.advance('3h').catch((error: unknown) => error);
    await running;
    await module.close();
    steps.push('closed');
    expect(await advanced).toMatchObject({ code: 'CLOSED' });
    expect(steps).toEqual(['first', 'closed']);
  });

  test('does not start the handler of a ready message', async () => {
    const steps: unknown[] = [];
    const handle = async (payload: string) => {
      steps.push(payload);
      await sleep(50);
    };
    const providers = [handlerOf('orders', handle, { concurrency: 1 })];
    const { module, tester, producer } = await apps.startParts({ providers });
    await producer.offerMany('orders', [
      { payload: 'first', delay: '1h' },
      { payload: 'second', delay: '1h' },
    ]);
    const advanced = tester.advance('1h').catch((error: unknown) => error);
    while (steps.length === 0) await sleep(1);
    await module.close();
    expect(await advanced).toMatchObject({ code: 'CLOSED' });
    expect(steps).toEqual(['first']);
  });

  test.each(['close', 'leave'])('lets its process end, whether it is closed or left open: %s', async (ending) => {
    const program = new URL('../support/tested-program.ts', import.meta.url);
    const run = promisify(execFile)(process.execPath, [...argumentsFor(program), ending], {
      env: ENVIRONMENT,
      timeout: 20_000,
    });
    expect(JSON.parse((await run).stdout)).toEqual({ handled: 1, resources: [] });
  });
});

describe("an application with the test framework's fake timers", () => {
  afterEach(() => {
    jest.useRealTimers();
  });
  const apps = new TestedApps();

  @Injectable()
  class Nothing {}

  test('starts, offers, handles and closes as with real timers', async () => {
    jest.useFakeTimers({ now: new Date('2032-02-29T00:00:00Z') });
    const { module, tester, producer } = await apps.startParts({ providers: [Nothing, ...providers] });
    await producer.offer('orders', 'o-1', '30m');
    await Promise.all([producer.offer('orders', 'o-2', '1h'), producer.offer('orders', 'o-3', '2h')]);
    await tester.advance('30m');
    expect(handled).toEqual(['o-1']);
    expect(tester.now()).toEqual(new Date('2032-02-29T00:30:00Z'));
    await tester.drain();
    expect(handled).toEqual(['o-1', 'o-2', 'o-3']);
    expect(await tester.handle('orders', 'o-4')).toEqual({ kind: 'ack' });
    await module.close();
  });

  test('fails with an explanation when a handler waits for a fake timer', async () => {
    jest.useFakeTimers();
    const waits = handlerOf('orders', () => new Promise((resolve) => setTimeout(resolve, 1000)));
    const { module, tester, producer } = await apps.startParts({ providers: [waits] });
    await producer.offer('orders', 'o-1', '30m');
    await expect(tester.advance('1h', { patience: 100 })).rejects.toMatchObject({
      code: 'UNFINISHED',
      message: expect.stringContaining('Timers are fake now'),
    });
    await module.close();
  });

  test('lets a handler continue when the test moves its timer', async () => {
    jest.useFakeTimers();
    const waits = handlerOf('orders', async () => {
      await new Promise((resolve) => setTimeout(resolve, 1000));
      return again('1d');
    });
    const { tester, producer } = await apps.startParts({ providers: [waits] });
    await producer.offer('orders', 'o-1', '30m');
    const advanced = tester.advance('1h');
    await jest.advanceTimersByTimeAsync(0);
    while (jest.getTimerCount() === 0) await sleep(1);
    await jest.advanceTimersByTimeAsync(1000);
    await advanced;
    expect(await producer.counts('orders')).toMatchObject({ delayed: 1 });
  });

  test('delays offers correctly when code computes their instants from Date', async () => {
    jest.useFakeTimers();
    const { tester, producer } = await apps.startParts({ providers });
    await producer.offerAt('orders', 'o-1', new Date(Date.now() + 60_000));
    expect(tester.offered('orders')).toMatchObject([{ delay: 60_000 }]);
  });
});
