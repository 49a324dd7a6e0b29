import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandCount } from '../support/command-count.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';

const QUEUES = 200;
const MINUTE = 60_000;

const scene = new Scene({});

test('wake-up signals that share connections call Redis at most 600 times a minute for 200 idle queues', async () => {
  await scene.startApp({
    providers: Array.from({ length: QUEUES }, () => handlerOf(scene.newQueue(), () => undefined)),
  });
  await sleep(2000);
  const count = await CommandCount.start(scene.redis);
  await sleep(MINUTE);
  const calls = await count.stop();
  const sent = ['evalsha', 'eval', 'blpop', 'ping', 'client|unblock', 'client|id', 'subscribe'];
  const total = sent.reduce((sum, command) => sum + (calls[command] ?? 0), 0);
  console.log(`${QUEUES} idle queues: ${total} calls a minute; all, in scripts, too: ${JSON.stringify(calls)}`);
  expect(total).toBeLessThanOrEqual(600);
});
