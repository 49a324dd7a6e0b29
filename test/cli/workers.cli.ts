import { describe, expect, it } from '@jest/globals';
import { hostname } from 'node:os';
import { registryKeys } from '../../lib/store/native/native-worker-registry.js';
import { jsonLines, runCommand } from '../support/command-line.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

describe('the command workers', () => {
  const scene = new Scene();
  const run = (...words: string[]) => runCommand(scene, ...words);

  it('prints nothing if no process handles queues', async () => {
    await scene.startApp({ module: { consume: false } });
    expect(await run('workers')).toEqual({ code: 0, output: '', problems: '' });
    expect(await run('workers', '--json')).toEqual({ code: 0, output: '', problems: '' });
  });

  it('lists each process with its queues', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ providers: [handlerOf(queue, () => undefined)] });
    await until(async () => (await producer.workers()).workers.length === 1);
    const { code, output, problems } = await run('workers');
    expect({ code, problems }).toEqual({ code: 0, problems: '' });
    const [headings, ...rows] = output.trimEnd().split('\n');
    expect(headings!.split(/ {2,}/).map((each) => each.trim())).toEqual([
      ...['host', 'pid', 'version', 'queue', 'slots', 'used', 'handled', 'failed', 'p50', 'p99', 'longest', 'since'],
    ]);
    expect(rows.map((row) => row.split(/ +/))).toEqual([
      [hostname(), String(process.pid), expect.any(String), queue, '16', '0', '0', '0'],
    ]);
    expect(jsonLines((await run('workers', '--json')).output)).toEqual([
      {
        ...{ id: expect.any(String), host: hostname(), pid: process.pid, version: expect.any(String) },
        ...{ startedAt: expect.any(String), seenAt: expect.any(String) },
        queues: [{ queue, slots: 16, used: 0, handled: 0, failed: 0 }],
      },
    ]);
  });

  it('shows lateness and the longest handler, and makes names harmless', async () => {
    const { producer } = await scene.startApp({ module: { consume: false } });
    const keys = registryKeys(scene.prefix);
    const queues = [['orders', 16, 1, 240, 2, 2, 15, 'm\u001b[31m', '', 1000]];
    const report = { host: 'a\u001b]0;', pid: 17, version: '0.1.0', age: 1, queues };
    await scene.redis.zadd(keys.workers, 0, 'other');
    await scene.redis.zadd(keys.seen, Date.now(), 'other');
    await scene.redis.hset(keys.reports, 'other', JSON.stringify(report));
    expect((await producer.workers()).workers).toHaveLength(1);
    const { output } = await run('workers');
    expect(output).toMatch(
      /^a\\u\{1b\}\]0; +17 +0\.1\.0 +orders +16 +1 +240 +2 +2 ms +15 ms +m\\u\{1b\}\[31m +\d{4}-/m,
    );
  });
});
