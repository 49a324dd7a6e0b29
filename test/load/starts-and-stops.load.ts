import { describe, expect, test } from '@jest/globals';
import { runProgram } from '../support/run-program.js';
import { Scene } from '../support/scene.js';
import type { Holdings } from '../support/worker/start-and-stop.js';

const MEGABYTE = 1024 * 1024;

describe('1,000 starts and stops in one process', () => {
  const scene = new Scene({});
  const clients = async () => ((await scene.redis.client('LIST')) as string).trimEnd().split('\n').length;

  test.each([
    ['redis', 1000],
    ['memory', 1000],
  ] as const)('leave nothing behind with the %s store', async (store, times) => {
    const clientsBefore = await clients();
    const settings = { module: { store, connection: scene.url, prefix: scene.prefix }, times };
    const { before, after } = await runProgram<{ before: Holdings; after: Holdings }>(
      './worker/start-and-stop.ts',
      settings,
      '--expose-gc',
    );
    console.log(`${store}: heap ${before.heap} B before, ${after.heap} B after`);

    expect(after.resources).toEqual(before.resources);
    expect(after.listeners).toBe(before.listeners);
    expect(await clients()).toBe(clientsBefore);
    // 4 kB for each start; a leaked client holds several times as much.
    expect(after.heap - before.heap).toBeLessThan(4 * MEGABYTE);
  });
});
