import { describe, expect, test } from '@jest/globals';
import { inspect } from 'node:util';
import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis-5';
import type { DelayQueueModuleOptions } from '../../lib/index.js';
import { Handled } from '../support/handled.js';
import { startRedis } from '../support/redis/start-redis.js';
import { refusalOf } from '../support/refusal.js';
import { Scene } from '../support/scene.js';
import { Proxies } from '../support/tcp-proxy/proxies.js';
import { handlerOf, startTestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

const OlderRedis = Redis5 as unknown as typeof Redis;

/** ioredis 6 greets with HELLO, ioredis 5 with AUTH. */
const MAJORS: Readonly<Record<string, (url: string) => DelayQueueModuleOptions['connection']>> = {
  'ioredis 6': (url) => url,
  'ioredis 5': (url) => (overrides) => new OlderRedis(url, overrides),
};

/** Replies to conditions that pass by themselves. */
const PASSING = [
  'LOADING Redis is loading the dataset in memory',
  "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
  'BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.',
  'ERR max number of clients reached',
  'ERR upstream failure',
];

/** Replies to conditions that do not pass, with our advice. */
const LASTING: readonly (readonly [reply: string, advice: RegExp])[] = [
  ['NOAUTH Authentication required.', /set it in `connection`/],
  ['WRONGPASS invalid username-password pair or user is disabled.', /percent-encode/],
  ['ERR invalid password', /percent-encode/],
  ['NOPERM User app has no permissions to run the command', /extend its ACL/],
  ["ERR unknown command 'AUTH', with args beginning with: 'default' 'p4ssw0rd' ", /Redis 7.0 or newer/],
];

describe.each(Object.entries(MAJORS))('a greeting by %s', (major, connect) => {
  const scene = new Scene();
  const proxies = new Proxies(scene);
  const greeting = major === 'ioredis 6' ? 'HELLO' : 'AUTH';

  async function startBehind(reply: string, times: number) {
    const proxy = await proxies.start();
    const refused = proxy.refuse(({ command }) => command === greeting, reply, times);
    const queue = scene.newQueue();
    const handled = new Handled();
    const connection = connect(proxy.url.replace('redis://', 'redis://:p4ssw0rd@'));
    const starting = scene.startApp({ module: { connection }, providers: [handlerOf(queue, handled.record)] });
    return { queue, handled, refused, starting };
  }

  test.each(PASSING)('is retried if the reply is %s, and startup waits for it', async (reply) => {
    const { queue, handled, refused, starting } = await startBehind(reply, 3);
    const { producer } = await starting;
    await producer.offer(queue, 1, 0, { id: 'm' });
    await handled.until('m');
    expect(refused.count).toBe(3);
  });

  test.each(LASTING)('makes startup fail at once if the reply is %s', async (reply, advice) => {
    const { starting } = await startBehind(reply, Infinity);
    const start = performance.now();
    const error = await refusalOf(starting);
    expect(performance.now() - start).toBeLessThan(2000);
    expect(error).toMatchObject({ code: 'LOGIN_REFUSED', message: expect.stringMatching(advice) });
    expect(inspect(error, { depth: Infinity, showHidden: true })).not.toContain('p4ssw0rd');
  });

  test('is retried after the server hangs up, which is logged', async () => {
    const queue = scene.newQueue();
    const proxy = await proxies.start();
    // Keeps greetings from the server, so that none is answered before the next reset.
    const greetings = proxy.hold(() => true);
    const hangUp = setInterval(() => proxy.reset(), 1);
    const app = await scene.startApp({ module: { connection: connect(proxy.url), offerTimeout: 300 } });
    expect(app.log.join()).toMatch(/ECONNRESET|closed before it was ready/);
    await expect(app.producer.offer(queue, 1, 0)).rejects.toMatchObject({
      code: 'NOT_CONNECTED',
      cause: expect.any(Error),
    });
    clearInterval(hangUp);
    greetings.release();
    await until(() => app.producer.offer(queue, 1, '1h').then(() => true));
  });
});

describe.each(Object.entries(MAJORS))('with %s', (_major, connect) => {
  const start = (url: string, handled = new Handled()) =>
    startTestApp({ connection: connect(url) }, { providers: [handlerOf('orders', handled.record)] });

  test.each([
    ['that requires a password', ['--requirepass', 'secret']],
    ['whose default user is disabled', ['--user', 'default', 'off']],
  ])(
    'a server %s makes startup without a password fail at once, and the error says that one is required',
    async (_what, args) => {
      const server = await startRedis({ args });
      const begin = performance.now();
      await expect(start(server.url)).rejects.toMatchObject({
        code: 'LOGIN_REFUSED',
        message: expect.stringMatching(/NOAUTH.*Redis requires a password/),
      });
      expect(performance.now() - begin).toBeLessThan(2000);
      await server.stop();
    },
  );

  test('a server without HELLO is served over the older protocol', async () => {
    const server = await startRedis({ args: ['--rename-command', 'HELLO', ''] });
    const handled = new Handled();
    const app = await start(server.url.replace('redis://', 'redis://default:@') + '/3', handled);
    const before = await app.producer.offer('orders', { a: 1 }, 100);
    await handled.until(before.id);
    await app.producer.offer('orders', 2, '1h', { id: 'later' });
    expect(await app.producer.find('orders', 'later')).toMatchObject({ payload: 2, state: 'delayed' });
    expect(await app.producer.reschedule('orders', 'later', 50)).toBe(true);
    expect((await handled.until('later')).late).toBeLessThan(2000);
    const redis = new Redis(server.url, { protocol: 2 });
    expect(await redis.dbsize()).toBe(0);
    redis.disconnect();
    await app.close();
    await server.stop();
  });

  test('a server that returns with too few databases gets no keys in another database', async () => {
    const server = await startRedis({ args: ['--databases', '4'] });
    const { port } = server;
    const handled = new Handled();
    const app = await start(`${server.url}/3`, handled);
    await app.producer.offer('orders', 1, 0, { id: 'before' });
    await handled.until('before');
    await until(async () => (await app.producer.find('orders', 'before')) === null);
    await server.stop();
    const smaller = await startRedis({ port, args: ['--databases', '1'] });
    const redis = new Redis(smaller.url);
    await until(async () => {
      const error = (await refusalOf(app.producer.offer('orders', 1, 0))) as { code: string } | undefined;
      return error?.code === 'LOGIN_REFUSED';
    });
    expect(app.log.filter((line) => line.includes('is back'))).toEqual([]);
    expect(await redis.dbsize()).toBe(0);
    expect(await redis.pubsub('CHANNELS', '*')).toEqual([]);
    expect(String(await redis.client('LIST'))).not.toContain('cmd=blpop');
    redis.disconnect();
    await app.close();
    await smaller.stop();
  });
});
