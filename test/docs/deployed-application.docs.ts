import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { metrics } from '@opentelemetry/api';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { Redis } from 'ioredis';
import { observeQueues } from '../../lib/otel/index.js';
import { printedRules } from '../support/access-rules.js';
import { Latch } from '../support/latch.js';
import { onRandomPort, PortInUseError } from '../support/redis/random-port.js';
import { ENVIRONMENT, TYPESCRIPT } from '../support/run-program.js';
import { Scene } from '../support/scene.js';
import { handlerOf, startTestApp } from '../support/test-app.js';
import { until } from '../support/until.js';
import { readBlock, ROOT } from './deployment-files.js';

const scene = new Scene({});

describe('the application on the deployment page', () => {
  let folder: string;
  let running: ChildProcess | undefined;

  beforeAll(async () => {
    // Inside the project, so that imports resolve as in a user's file.
    await mkdir(path.join(ROOT, 'temp'), { recursive: true });
    folder = await mkdtemp(path.join(ROOT, 'temp', 'application-'));
    await writeFile(path.join(folder, 'main.ts'), await readBlock('main.ts'));
  });

  afterEach(async () => {
    running?.kill('SIGKILL');
    await scene.server.thaw();
  });

  afterAll(() => rm(folder, { recursive: true }));

  /** @returns its port */
  function start(variables: Readonly<Record<string, string>> = {}): Promise<number> {
    return onRandomPort(async (port) => {
      const env = { ...ENVIRONMENT, ...variables, PORT: String(port), REDIS_URL: scene.url };
      const child = spawn(process.execPath, [...TYPESCRIPT, path.join(folder, 'main.ts')], { cwd: ROOT, env });
      running = child;
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => (output += String(chunk)));
      const isUp = () => output.includes('successfully started') && ask(port, 'live').then((code) => code === 200);
      await until(() => child.exitCode !== null || isUp(), { within: 30_000 });
      if (output.includes('EADDRINUSE')) throw new PortInUseError(output);
      expect(child.exitCode).toBeNull();
      return port;
    });
  }

  const ask = async (port: number, where: string) => (await fetch(`http://127.0.0.1:${port}/${where}`)).status;

  test.each(['true', 'false'])(
    'is alive but not healthy while Redis does not respond (CONSUME=%s)',
    async (consume) => {
      const port = await start({ CONSUME: consume });
      await until(async () => (await ask(port, 'health')) === 200);
      await scene.server.freeze();
      expect([await ask(port, 'live'), await ask(port, 'health')]).toEqual([200, 503]);
      await scene.server.thaw();
      await until(async () => (await ask(port, 'health')) === 200, { within: 30_000 });
    },
  );

  test('exits on SIGTERM', async () => {
    await start();
    const exited = once(running!, 'exit');
    running!.kill('SIGTERM');
    expect(await exited).toEqual([null, 'SIGTERM']);
  });
});

test("the scaler's Redis user can count the ready messages of its queue and do nothing else", async () => {
  const rules = await printedRules('deployment.md', 'scaler');
  const release = new Latch();
  const { producer } = await scene.startApp({
    module: { prefix: 'delay-queue' },
    providers: [handlerOf('orders', () => release.opened, { concurrency: 1 })],
  });
  await scene.redis.call('ACL', 'SETUSER', 'orders-scaler', 'reset', ...rules);
  const scaler = new Redis(scene.url.replace('redis://', 'redis://orders-scaler:secret@'), { enableReadyCheck: false });
  try {
    await producer.offerMany(
      'orders',
      [1, 2, 3].map((payload) => ({ payload, delay: 0 })),
    );
    await until(async () => (await producer.counts('orders')).ready === 2);
    // As KEDA asks: by a script that looks at the type first.
    const script = `return redis.call('type', KEYS[1]).ok == 'list' and redis.call('llen', KEYS[1])`;
    await scaler.ping();
    expect(await scaler.eval(script, 1, 'delay-queue:{orders}:ready')).toBe(2);
    await expect(scaler.eval(script, 1, 'delay-queue:{orders}:delayed')).rejects.toThrow('NOPERM');
    await expect(scaler.eval(`return redis.call('del', KEYS[1])`, 1, 'delay-queue:{orders}:ready')).rejects.toThrow();
    await expect(scaler.lrange('delay-queue:{orders}:ready', 0, -1)).rejects.toThrow('NOPERM');
  } finally {
    release.open();
    scaler.disconnect();
  }
});

test('the Prometheus trigger queries the metrics of `observeQueues()`', async () => {
  const exporter = new PrometheusExporter({ preventServerStart: true });
  const provider = new MeterProvider({ readers: [exporter] });
  metrics.setGlobalMeterProvider(provider);
  const release = new Latch();
  const { context, producer, close } = await startTestApp(
    { store: 'memory' },
    { providers: [handlerOf('orders', () => release.opened, { concurrency: 1 })] },
  );
  try {
    await producer.offerMany(
      'orders',
      [1, 2, 3].map((payload) => ({ payload, delay: 0 })),
    );
    await until(async () => (await producer.counts('orders')).ready === 2);
    observeQueues(context, ['orders']);
    const { resourceMetrics } = await exporter.collect();
    const lines = new PrometheusSerializer().serialize(resourceMetrics).split('\n');
    const query = await readBlock('prometheus-trigger.yaml');
    const [, metric = ''] = /\(([a-z_]+)\{/.exec(query) ?? [];
    const [, queue = ''] = /([a-z_]+="orders")/.exec(query) ?? [];
    const [, state = '', states = ''] = /([a-z_]+)=~"(.+?)"/.exec(query) ?? [];
    const chosen = lines.filter((line) => line.startsWith(`${metric}{`) && line.includes(queue));
    const values = states.split('|').map((each) => chosen.find((line) => line.includes(`${state}="${each}"`)));
    expect(values.map((line) => line?.split(' ').at(-1))).toEqual(['2', '1']);
    expect(query).toContain(`by (${state})`);
  } finally {
    metrics.disable();
    await provider.shutdown();
    release.open();
    await close();
  }
});
