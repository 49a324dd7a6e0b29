import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { randomName } from '../random-name.js';
import { sharedRedisUrl } from '../redis/shared-redis.js';
import { until } from '../until.js';
import { encodeRequest, RequestParser } from './request-parser.js';
import { TcpProxy } from './tcp-proxy.js';

/** The time to wait for an answer that does not come, ms. */
const SILENCE = 150;

describe('a TCP proxy', () => {
  let proxy: TcpProxy;
  let client: Redis;
  let key: string;

  beforeEach(async () => {
    key = randomName('key');
    proxy = await TcpProxy.start(sharedRedisUrl());
    client = new Redis(proxy.url, { connectionName: 'first', retryStrategy: () => 10, disconnectTimeout: 100 });
    client.on('error', () => undefined);
    await client.set(key, 'value', 'PX', 60_000);
  });

  afterEach(async () => {
    client.disconnect();
    await proxy.stop();
  });

  const orSilence = (answer: Promise<unknown>) =>
    Promise.race([answer.catch(() => 'failed'), sleep(SILENCE, 'silence')]);

  test('forwards everything and identifies connections by their names and commands', async () => {
    expect(await client.get(key)).toBe('value');
    expect(proxy.connections).toMatchObject([{ name: 'first', isOpen: true }]);
    expect([...proxy.connections[0]!.sent]).toEqual(expect.arrayContaining(['SET', 'GET']));
  });

  test('silences one connection, and forwards others, even later ones', async () => {
    const other = new Redis(proxy.url, { connectionName: 'other' });
    await other.ping();
    expect(proxy.goDarkOnceFor(({ name }) => name === 'first')).toHaveLength(1);
    expect(await orSilence(client.get(key))).toBe('silence');
    expect(await other.get(key)).toBe('value');
    expect(client.status).toBe('ready');

    client.disconnect(true);
    await until(async () => (await client.get(key)) === 'value');
    other.disconnect();
  });

  test('keeps a silenced connection to the server open after its client has gone', async () => {
    const id = await client.client('ID');
    proxy.goDark();
    client.disconnect();
    const direct = new Redis(sharedRedisUrl());
    await until(() => client.status === 'end');
    expect(await direct.client('LIST', 'ID', id)).toContain('name=first');
    direct.disconnect();
  });

  test('delays bytes in both directions', async () => {
    const end = proxy.slowDown(60);
    const start = performance.now();
    await client.ping();
    // A delay in one direction takes 60 ms. Timers count from the beginning of their event-loop turn, so each may fire early.
    expect(performance.now() - start).toBeGreaterThan(100);
    end();
  });

  test('limits the bytes per second in each direction', async () => {
    const large = 'x'.repeat(20_000);
    const took = async (call: () => Promise<unknown>) => {
      const start = performance.now();
      await call();
      return performance.now() - start;
    };
    const end = proxy.limitBandwidth(100_000);
    // A timer may fire up to a millisecond early.
    expect(await took(() => client.set(key, large))).toBeGreaterThanOrEqual(198);
    expect(await took(() => client.get(key))).toBeGreaterThanOrEqual(198);
    // What stands in front on the line takes its time, too.
    const first = client.set(key, large);
    expect(await took(() => client.ping())).toBeGreaterThanOrEqual(195);
    await first;
    end();
    expect(await took(() => client.set(key, large.repeat(10)))).toBeLessThan(1900);
  });

  test('resets connections', async () => {
    const errors: unknown[] = [];
    client.on('error', (error) => errors.push(error));
    expect(proxy.reset()).toBe(1);
    await until(() => errors.length > 0);
    expect(errors).toMatchObject([{ code: 'ECONNRESET' }]);
  });

  test('answers the next commands of one kind with an error, each in its place in the pipeline', async () => {
    const refused = proxy.refuse(({ command }) => command === 'GET', 'READONLY No writes here.', 2);
    const replies = await client.pipeline().set(key, '1').get(key).incr(key).get(key).get(key).exec();
    expect(replies?.map(([error, value]) => error?.message ?? value)).toEqual([
      'OK',
      'READONLY No writes here.',
      2,
      'READONLY No writes here.',
      '2',
    ]);
    expect(refused.count).toBe(2);
  });

  test('holds a command and everything that follows it until it is released', async () => {
    const hold = proxy.hold(({ command }) => command === 'INCR');
    const direct = new Redis(sharedRedisUrl());
    await client.set(key, '1');
    const answers = Promise.all([client.incr(key), client.get(key)]);
    expect(await orSilence(answers)).toBe('silence');
    expect(hold.count).toBe(1);
    expect(await direct.get(key)).toBe('1');
    hold.release();
    expect(await answers).toEqual([2, '2']);
    direct.disconnect();
  });

  test("drops a client's connection at a given command, and delivers the rest when released", async () => {
    const late = proxy.deliverLate(({ command }) => command === 'INCR');
    const direct = new Redis(sharedRedisUrl());
    await direct.set(key, '1');
    const cutOff = new Redis(proxy.url, { connectionName: 'cut off', retryStrategy: () => null });
    cutOff.on('error', () => undefined);
    await until(() => cutOff.status === 'ready');
    const answers = await Promise.allSettled([cutOff.incr(key), cutOff.append(key, '0')]);
    expect(answers).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
    expect(late.count).toBe(1);
    expect(await client.incr(key)).toBe(2);

    late.release();
    await until(async () => (await direct.get(key)) === '30');
    await until(() => proxy.connections.every(({ name }) => name === 'first'));
    direct.disconnect();
  });

  test('holds the reply to an executed command', async () => {
    const hold = proxy.holdReplies(({ command }) => command === 'INCR');
    const direct = new Redis(sharedRedisUrl());
    await client.set(key, '1');
    const answer = client.incr(key);
    await until(async () => (await direct.get(key)) === '2');
    expect(await orSilence(answer)).toBe('silence');
    hold.release();
    expect(await answer).toBe(2);
    direct.disconnect();
  });
});

describe('a request parser', () => {
  test('finds the same commands however the bytes are split', () => {
    const bytes = Buffer.concat([encodeRequest('set', 'k', Buffer.from('\r\n$3')), encodeRequest('PING')]);
    for (let cut = 0; cut <= bytes.length; cut++) {
      const parser = new RequestParser();
      const requests = [...parser.push(bytes.subarray(0, cut)), ...parser.push(bytes.subarray(cut))];
      expect(requests.map(({ command, args }) => [command, ...args.map(String)])).toEqual([
        ['SET', 'k', '\r\n$3'],
        ['PING'],
      ]);
      expect(Buffer.concat(requests.map((request) => request.bytes))).toEqual(bytes);
    }
  });
});
