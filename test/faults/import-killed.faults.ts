import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { DelayQueueExporter } from 'nestjs-delay-queue/export';
import { argumentsFor, ENVIRONMENT } from '../support/run-program.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const COMMAND_LINE = new URL('../../packages/cli/src/main.ts', import.meta.url);
const COUNT = 3000;
const PAST = { idsFor: { for: '1h' }, history: { for: '1h' } } as const;

describe('an import whose process is killed', () => {
  const scene = new Scene();

  test('among the messages, the history or the kept ids is completed by the next one, and nothing is doubled', async () => {
    const [queue, target] = [scene.newQueue(), scene.newQueue()];
    const module = { queues: { [queue]: { ...PAST, concurrency: 500 } } };
    const providers = [DelayQueueExporter, handlerOf(queue, () => undefined)];
    const app = await scene.startApp({ module, providers });
    const requests = (prefix: string, delay: string | number) =>
      Array.from({ length: COUNT }, (_, i) => ({ id: `${prefix}${i}`, payload: i, delay }));
    await app.producer.offerMany(queue, requests('handled', 0));
    await until(async () => (await scene.redis.zcard(scene.key(queue, 'kept'))) === COUNT, { within: 30_000 });
    await app.producer.offerMany(queue, requests('delayed', '1h'));
    await app.producer.pause(queue);
    const exporter = app.context.get(DelayQueueExporter);
    const lines: string[] = [];
    for await (const line of exporter.exportQueue(queue)) lines.push(line);
    const folder = await mkdtemp(path.join(os.tmpdir(), 'import-killed-'));
    try {
      const file = path.join(folder, 'export.ndjson');
      await writeFile(file, lines.join(''));
      for (const [part, command] of [
        ['messages', 'hlen'],
        ['handled', 'zcard'],
        ['kept', 'zcard'],
      ] as const) {
        const words = ['import', target, file, '--yes', '--url', scene.url, '--prefix', scene.prefix];
        const env = { ...ENVIRONMENT, NODE_NO_WARNINGS: '1' };
        const child = spawn(process.execPath, [...argumentsFor(COMMAND_LINE), ...words], { env, stdio: 'ignore' });
        const ended = once(child, 'exit');
        await until(async () => (await scene.redis[command](scene.key(target, part))) > 0, {
          every: 1,
          within: 30_000,
        });
        child.kill('SIGKILL');
        await ended;
      }
      const report = await exporter.importQueue(
        target,
        lines.map((line) => line.slice(0, -1)),
      );
      expect(report).toMatchObject({ messages: COUNT, dropped: 0 });
      let last = '';
      for await (const line of exporter.exportQueue(target)) last = line;
      const { digest, messages } = JSON.parse(last) as { digest: string; messages: number };
      expect({ digest, messages }).toEqual({ digest: report.digest, messages: COUNT });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
