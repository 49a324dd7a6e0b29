import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { RejectMessage } from '../../lib/index.js';
import { registryKeys } from '../../lib/store/native/native-worker-registry.js';
import { startCommand } from '../support/command-line.js';
import { startRedis } from '../support/redis/start-redis.js';
import type { TestRedis } from '../support/redis/test-redis.js';
import { handlerOf, startTestApp, type TestApp } from '../support/test-app.js';
import { runInProcess } from '../support/test-terminal.js';
import { until } from '../support/until.js';

const ROOT = path.resolve(import.meta.dirname, '../..');

const page = await readFile(path.join(ROOT, 'docs/command-line.md'), 'utf8');
/** The commands on the page with what they print, in their order. */
const shown = [...page.matchAll(/^```console\n\$ npx nestjs-delay-queue-cli ([^\n]*)\n(.*?)^```$/gms)].map(
  ([, words = '', output = '']) => ({ words: words.split(' '), output }),
);

/** Without what differs from run to run. On a busy machine the probe may be late, which comes with advice. */
function masked(output: string): string {
  return output
    .replace(/^warn( {2}probe.*\n) .*\n/m, 'ok  $1')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'INSTANT')
    .replace(/\b[0-9a-f]{64}\b/, 'DIGEST')
    .replace(/\d+(\.\d+)? ms/g, 'N ms')
    .replace(/(ahead of|behind) this/, 'beside this')
    .replace(/127\.0\.0\.1:\d+/, 'SERVER')
    .replace(/(Redis|Valkey) \d+\.\S+/, 'SERVER VERSION');
}

class NoSuchOrder extends Error {
  override readonly name = 'Error';
  override stack = 'Error: no such order\n    at Orders.cancelUnpaid (orders.js:17:11)';

  constructor() {
    super('no such order');
  }
}

test("the page about the command line has all examples of the package's README", async () => {
  const readme = await readFile(path.join(ROOT, 'packages/cli/README.md'), 'utf8');
  const examples = readme.match(/^```console\n.*?^```$/gms);
  expect(examples).not.toBeNull();
  expect(examples!.filter((example) => !page.includes(example))).toEqual([]);
});

describe('the page about the command line', () => {
  let server: TestRedis;
  let app: TestApp;
  let settings: { url: string; prefix: string };

  const start = (handle: () => never, attempts: number) =>
    startTestApp(
      { connection: server.url, defaults: { attempts, backoff: { type: 'fixed', delay: 1 } } },
      { providers: [handlerOf('orders', handle)] },
    );

  /** Puts the reports of two processes into Redis. */
  async function putWorkers(): Promise<void> {
    const redis = new Redis(server.url);
    const { workers, seen, reports } = registryKeys(settings.prefix);
    const ofA = ['orders', 16, 1, 240, 2, 2, 15, 'unpaid:14', 'cancel-unpaid', 1000];
    const ofB = ['orders', 16, 0, 231, 0, 2, 13];
    for (const [host, queue] of Object.entries({ a: ofA, b: ofB })) {
      const report = { host, pid: 17, version: '0.1.0', age: 1000, queues: [queue] };
      await redis.zadd(workers, 0, host);
      // On a busy machine, the command may run half a minute later.
      await redis.zadd(seen, Date.now() + 25_000, host);
      await redis.hset(reports, host, JSON.stringify(report));
    }
    redis.disconnect();
  }

  beforeAll(async () => {
    server = await startRedis({ args: ['--appendonly', 'yes'] });
    settings = { url: server.url, prefix: 'delay-queue' };
    app = await start(() => {
      throw new NoSuchOrder();
    }, 5);
    const { producer } = app;
    const unpaid = (orderId: number) => ({ id: `unpaid:${orderId}`, type: 'cancel-unpaid' });
    await producer.offer('orders', { orderId: 12 }, 0, { ...unpaid(12), headers: { tenant: 'acme' } });
    await until(async () => (await producer.counts('orders')).dead === 1);
    await producer.offer('orders', { orderId: 13 }, 0, unpaid(13));
    await until(async () => (await producer.counts('orders')).dead === 2);
    await producer.offer('orders', { orderId: 17 }, '30m', unpaid(17));
    await producer.offer('orders', { orderId: 17 }, '1d', { id: 'remind:17', type: 'remind' });
    await producer.offer('mails', {}, '1d', { id: 'mail:17' });
    await producer.pause('mails');
    await app.close();
    await putWorkers();
  });

  afterAll(async () => {
    await app.close();
    await server.stop();
  });

  it('shows what the commands print', async () => {
    const finite = shown.filter(({ words }) => words[0] !== 'tail');
    expect(finite.length).toBeGreaterThan(10);
    for (const { words, output } of finite) {
      const result = await runInProcess(settings, ...words);
      const printed = masked(result.output + result.problems);
      expect({ words, output: printed }).toEqual({ words, output: masked(output) });
    }
  });

  it('shows what tail prints', async () => {
    const { words, output } = shown.find((each) => each.words[0] === 'tail')!;
    app = await start(() => {
      throw new RejectMessage('the order was archived');
    }, 1);
    await until(async () => (await app.producer.counts('orders')).ready === 0);
    await app.producer.clear('orders');
    for (const id of ['a', 'b']) await app.producer.offer('orders', {}, '1h', { id });
    const child = startCommand(settings, words);
    let printed = '';
    child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    await until(() => printed.includes('2 delayed'), { within: 20_000 });
    await app.producer.offer('orders', {}, '3s', { id: 'unpaid:21' });
    await until(() => printed.includes('dead  '), { within: 20_000 });
    const exited = once(child, 'exit');
    child.kill('SIGINT');
    await exited;
    expect(masked(printed)).toBe(masked(output));
  });
});
