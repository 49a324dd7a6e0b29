import { expect, test } from '@jest/globals';
import { RedisConnections } from '../../lib/redis/redis-connections.js';
import { nativeKeys } from '../../lib/store/native/native-keys.js';
import { nativeFunctions, nativeLibrary } from '../../lib/store/native/native-library.js';
import { NativeMessageStore } from '../../lib/store/native/native-store.js';
import { Latch } from '../support/latch.js';
import { LoggedEvents } from '../support/logged-events.js';
import { ManualClock } from '../support/manual-clock.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const QUEUES = 50;
const CONNECTIONS = 30;

const scene = new Scene({});

/** How often a command was called since the server started, and how often it failed. */
async function countCalls(command: string): Promise<{ calls: number; failed: number }> {
  const info = await scene.redis.info('commandstats');
  const [, calls = 0, failed = 0] =
    new RegExp(`^cmdstat_${command}:calls=(\\d+).*failed_calls=(\\d+)`, 'm').exec(info) ?? [];
  return { calls: Number(calls), failed: Number(failed) };
}

test('a process with 50 queues notices each lost library once and loads it once', async () => {
  const providers = Array.from({ length: QUEUES }, () => handlerOf(scene.newQueue(), () => undefined));
  await scene.startApp({ providers });
  await scene.server.kill9();
  await scene.server.restart();
  // After an outage, each queue makes a transfer and a claim.
  await until(async () => (await countCalls('fcall')).calls >= 2 * QUEUES, { within: 30_000 });
  // The library of the queues, and the one that checks permissions. Each is looked for twice before it is loaded.
  expect((await countCalls('function\\|load')).calls).toBeLessThanOrEqual(2);
  expect((await countCalls('fcall')).failed).toBeLessThanOrEqual(4);
  expect((await countCalls('eval')).calls).toBe(0);
});

test.each(['FUNCTION FLUSH', 'FUNCTION DELETE', 'SCRIPT FLUSH', 'FLUSHALL'] as const)(
  'messages are offered and handled as before after %s',
  async (command) => {
    const handled: unknown[] = [];
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({
      providers: [handlerOf(queue, (payload) => void handled.push(payload))],
    });
    await producer.offer(queue, 'before', 0);
    await until(() => handled.length === 1);
    const [word, ...rest] = command.split(' ');
    const names = command === 'FUNCTION DELETE' ? [nativeLibrary.name] : [];
    await scene.redis.call(word!, ...rest, ...names);
    await producer.offer(queue, 'after', 0);
    await until(() => handled.length === 2);
    expect(handled).toEqual(['before', 'after']);
  },
);

test('messages are settled by scripts while the library is missing and memory is low, and by functions again afterwards', async () => {
  const queue = scene.newQueue();
  const started = new Latch();
  const release = new Latch();
  const handler = handlerOf(queue, async () => {
    started.open();
    await release.opened;
  });
  const { producer } = await scene.startApp({ providers: [handler] });
  await producer.offer(queue, 'held', 0);
  await started.opened;
  await scene.redis.call('FUNCTION', 'FLUSH');
  await scene.redis.config('SET', 'maxmemory', '1');
  try {
    release.open();
    await until(async () => (await scene.redis.exists(nativeKeys(scene.prefix, queue).messages)) === 0);
    expect((await countCalls('eval')).calls).toBeGreaterThan(0);
  } finally {
    await scene.redis.config('SET', 'maxmemory', '0');
  }
  await until(
    async () => {
      await producer.offer(queue, 'after', 0);
      return ((await scene.redis.call('FUNCTION', 'LIST')) as unknown[]).length > 0;
    },
    { within: 15_000 },
  );
});

test('connections opened at the same time load the library once, in a few attempts', async () => {
  await scene.redis.call('FUNCTION', 'FLUSH');
  const before = await countCalls('function\\|load');
  const { failed: missed } = await countCalls('fcall');
  const clock = new ManualClock();
  const settings = {
    ...{ connection: scene.url, clock, events: new LoggedEvents() },
    ...{ commandTimeout: 10_000, heartbeat: 60_000 },
  };
  const connections = Array.from({ length: CONNECTIONS }, () => new RedisConnections(settings));
  const stores = connections.map(
    (each) =>
      new NativeMessageStore(each, {
        keys: nativeKeys(scene.prefix, scene.newQueue()),
        limits: { attempts: 1, maxDeadLetters: 1, maxMessages: null },
      }),
  );
  let areAnswered = false;
  const answers = Promise.all(stores.map((store) => store.status())).finally(() => {
    areAnswered = true;
  });
  const pass = async () => {
    await until(async () => (await countCalls('fcall')).failed >= missed + CONNECTIONS);
    // Each pauses for a time of its own. If real time passed, a stall of this process would end all pauses at once.
    await until(async () => {
      await clock.advance(1);
      for (let roundTrips = 0; roundTrips < 4; roundTrips++) await scene.redis.ping();
      return areAnswered;
    });
  };
  await Promise.all([answers, pass()]);
  await Promise.all(connections.map((each) => each.close()));
  const { calls, failed } = await countCalls('function\\|load');
  expect(calls - failed - (before.calls - before.failed)).toBe(1);
  expect(calls - before.calls).toBeLessThan(10);
});

test('another version of the function library runs side by side with this one', async () => {
  const [own = '', other] = [
    nativeLibrary.source,
    nativeLibrary.source.replaceAll(nativeLibrary.name.slice(-12), '0123456789ab'),
  ];
  await scene.redis.call('FUNCTION', 'FLUSH');
  await scene.redis.call('FUNCTION', 'LOAD', other);
  await scene.redis.call('FUNCTION', 'LOAD', own);
  const keys = nativeKeys(scene.prefix, scene.newQueue());
  const arrange = [3, keys.delayed, keys.messages, keys.partitions, '0', keys.due, '0', '', 'id', '+3600000', 'body'];
  const { calledAs } = nativeFunctions.offer;
  expect(await scene.redis.call('FCALL', 'offer_0123456789ab', ...arrange)).toBeGreaterThan(0);
  expect(await scene.redis.call('FCALL', calledAs, ...arrange)).toBeNull();
});
