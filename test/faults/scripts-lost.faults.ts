import { expect, test } from '@jest/globals';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const QUEUES = 50;

const scene = new Scene({});

/** How often a command was called since the server started, and how often it failed. */
async function countCalls(command: string): Promise<{ calls: number; failed: number }> {
  const info = await scene.redis.info('commandstats');
  const [, calls = 0, failed = 0] =
    new RegExp(`^cmdstat_${command}:calls=(\\d+).*failed_calls=(\\d+)`, 'm').exec(info) ?? [];
  return { calls: Number(calls), failed: Number(failed) };
}

test('a process with 50 queues notices once for each script that its server has lost it, and sends it whole once', async () => {
  const providers = Array.from({ length: QUEUES }, () => handlerOf(scene.newQueue(), () => undefined));
  await scene.startApp({ providers });
  await scene.server.kill9();
  await scene.server.restart();
  // After an outage, each queue makes a transfer and a claim.
  const calls = async () => (await countCalls('eval')).calls + (await countCalls('evalsha')).calls;
  await until(async () => (await calls()) >= 2 * QUEUES, { within: 30_000 });
  // The check of permissions, two kinds of transfers, and the claim.
  expect((await countCalls('eval')).calls).toBeLessThanOrEqual(4);
  expect((await countCalls('evalsha')).failed).toBeLessThanOrEqual(4);
});
