import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandCount } from '../support/command-count.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const PROCESSES = 5;
const QUEUES = 200;
/** The length of the outage of Redis, ms. */
const OUTAGE = 2000;

const scene = new Scene({});

/** The number of consumers that wait for a wake-up signal. */
async function countWaiting(): Promise<number> {
  const clients = String(await scene.redis.client('LIST'));
  return clients.match(/name=delay-queue:wake-signals.*cmd=blpop/g)?.length ?? 0;
}

const scriptsOf = ({ eval: whole = 0, evalsha = 0 }: Record<string, number>) => whole + evalsha;

test('five processes with 200 queues run at most 3,000 scripts after Redis restarts or connections are killed', async () => {
  const providers = Array.from({ length: QUEUES }, () => handlerOf(scene.newQueue(), () => undefined));
  for (let i = 0; i < PROCESSES; i++) await scene.startApp({ providers });
  await sleep(3000);
  console.log(`at the start: ${JSON.stringify(await scene.redis.info('commandstats').then(callsIn))}`);
  const connections = await countWaiting();

  await scene.server.kill9();
  await sleep(OUTAGE);
  await scene.server.restart();
  await until(async () => (await countWaiting()) >= connections, { within: 30_000 });
  await sleep(5000);
  const afterRestart = callsIn(await scene.redis.info('commandstats'));

  const count = await CommandCount.start(scene.redis);
  await scene.redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  await scene.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  await sleep(1000);
  await until(async () => (await countWaiting()) >= connections, { within: 30_000 });
  await sleep(5000);
  const afterKill = await count.stop();

  console.log(`after a restart: ${JSON.stringify(afterRestart)}`);
  console.log(`after killed connections: ${JSON.stringify(afterKill)}`);
  console.log(`scripts: ${scriptsOf(afterRestart)} after a restart, ${scriptsOf(afterKill)} after killed connections`);
  expect(scriptsOf(afterRestart)).toBeLessThanOrEqual(3000);
  expect(scriptsOf(afterKill)).toBeLessThanOrEqual(3000);
});

function callsIn(info: string): Record<string, number> {
  return Object.fromEntries(
    [...info.matchAll(/^cmdstat_(evalsha|eval|info|blpop|script[^:]*|client[^:]*|subscribe):calls=(\d+)/gm)].map(
      ([, name, calls]) => [name!, Number(calls)],
    ),
  );
}
