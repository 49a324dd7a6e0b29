import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import type { DynamicModule, INestApplicationContext, Provider, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DelayQueueProducer } from '../../../../lib/index.js';
import { startRedis } from '../../../../test/support/redis/start-redis.js';
import type { TestRedis } from '../../../../test/support/redis/test-redis.js';
import { until } from '../../../../test/support/until.js';
import { CODEC_LINES, type RedissonLine } from './java-build.js';
import { describeIfJava } from './java-suite.js';
import { docPairs, type DocPair } from './pairs/doc-pairs.js';
import { JavaStage } from './pairs/java-stage.js';

/** The lines that the page calls "3.21.0 or older". */
const OLD: readonly RedissonLine[] = ['3.16', '3.20'];
const PRINTED_URL = 'redis://127.0.0.1:6379';

interface Printed {
  readonly delayQueue: DynamicModule;
  readonly Orders: Type<{ place(orderId: string): Promise<unknown> }>;
  readonly OrderTimeouts: Type<object>;
}

/** The lines whose default codec is Kryo5. */
const WITH_KRYO5 = CODEC_LINES.filter((line) => line !== '3.16');

describeIfJava().each(docPairs())("the documentation's snippets about Redisson: pair $name", (pair) => {
  let server: TestRedis;
  let folder: string;
  let java: JavaStage | undefined;
  let app: INestApplicationContext | undefined;
  const lines = pair.name === 'kryo5' ? WITH_KRYO5 : CODEC_LINES;
  jest.setTimeout(600_000);
  // Now and then a client of Redisson gives up while it starts; Spring's supervisor would start it again.
  jest.retryTimes(1, { logErrorsBeforeRetry: true });

  beforeAll(() => {
    const temp = fileURLToPath(new URL('../../../../temp', import.meta.url));
    mkdirSync(temp, { recursive: true });
    folder = mkdtempSync(join(temp, 'pairs-'));
  });
  beforeEach(async () => {
    server = await startRedis();
  });
  afterEach(async () => {
    await app?.close();
    await java?.end();
    [app, java] = [undefined, undefined];
    jest.restoreAllMocks();
    await server.stop();
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** Imports the snippets, which only get another port, and what the page says about old versions. */
  async function printed({ ts }: DocPair, line: RedissonLine): Promise<Printed> {
    const modules = ts.map(async (snippet, i) => {
      const source = snippet.replace(PRINTED_URL, server.url);
      const file = join(folder, `${line}-${server.port}-${i}.ts`);
      writeFileSync(file, OLD.includes(line) ? source.replace('redisson({', "redisson({ format: 'dLc0',") : source);
      return (await import(pathToFileURL(file).href)) as object;
    });
    return Object.assign({}, ...(await Promise.all(modules))) as Printed;
  }

  async function startNode(delayQueue: DynamicModule, providers: Provider[]): Promise<INestApplicationContext> {
    class PairModule {}
    return NestFactory.createApplicationContext(
      { module: PairModule, imports: [delayQueue], providers },
      { logger: false },
    );
  }

  test.each(lines)('Node handles what Java offers (Redisson %s)', async (line) => {
    const said = jest.spyOn(console, 'log').mockImplementation(() => undefined);
    const { delayQueue, OrderTimeouts } = await printed(pair, line);
    [java, app] = await Promise.all([
      JavaStage.start(line, pair.java, server.url),
      startNode(delayQueue, [OrderTimeouts]),
    ]);
    for (const orderId of ['7', '8']) java.tell(`add ${orderId} 200`);
    await until(() => said.mock.calls.length === 2, { within: 20_000 });
    expect(said.mock.calls.sort()).toEqual([
      ['7', 1],
      ['8', 1],
    ]);
    expect(await app.get(DelayQueueProducer).counts('orders')).toMatchObject({ delayed: 0, ready: 0, dead: 0 });
  });

  test.each(lines)(
    "Node handles what Java forwards from a queue with Java's default codec (Redisson %s)",
    async (line) => {
      const said = jest.spyOn(console, 'log').mockImplementation(() => undefined);
      const { delayQueue, OrderTimeouts } = await printed(pair, line);
      [java, app] = await Promise.all([
        JavaStage.start(line, pair.java, server.url),
        startNode(delayQueue, [OrderTimeouts]),
      ]);
      java.tell('add-to-old 7 100');
      java.tell('switch');
      await until(() => said.mock.calls.length === 1, { within: 20_000 });
      expect(said.mock.calls).toEqual([['7', 1]]);
    },
  );

  test.each(lines)('Java takes what Node and Java offer, and exits without errors (Redisson %s)', async (line) => {
    const { delayQueue, Orders } = await printed(pair, line);
    [java, app] = await Promise.all([JavaStage.start(line, pair.java, server.url), startNode(delayQueue, [Orders])]);
    java.tell('consume');
    for (const orderId of ['n1', 'n2', 'n3']) {
      await app.get(Orders).place(orderId);
      await app.get(DelayQueueProducer).reschedule('orders', `unpaid:${orderId}`, 100);
    }
    java.tell('add j 100');
    for (const orderId of ['n1', 'n2', 'n3', 'j']) await java.says(`cancelled ${orderId}`);
    const { log } = java;
    await java.end();
    expect(log + java.log).not.toMatch(/Lost|Nothing could be taken/);
    java = undefined;
  });
});
