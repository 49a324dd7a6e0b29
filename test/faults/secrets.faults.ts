import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Redis } from 'ioredis';
import { Redis as Client } from 'ioredis';
import { DelayQueueError } from '../../lib/index.js';
import { everythingOf } from '../support/everything-of.js';
import { Handled } from '../support/handled.js';
import { randomName } from '../support/random-name.js';
import { onRandomPort } from '../support/redis/random-port.js';
import { startRedis } from '../support/redis/start-redis.js';
import type { TestRedis } from '../support/redis/test-redis.js';
import { handlerOf, startTestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

const SECRET = 'hunter2-never-log-this';
const fileOf = (name: string) => fileURLToPath(new URL(`../support/tls/${name}`, import.meta.url));

describe('a Redis behind TLS and a password', () => {
  let server: TestRedis;
  let redis: Redis;
  let tlsPort: number;

  beforeAll(async () => {
    await onRandomPort(async (port) => {
      tlsPort = port;
      const tls = ['--tls-cert-file', fileOf('server.crt'), '--tls-key-file', fileOf('server.key')];
      const noClientCertificates = ['--tls-ca-cert-file', fileOf('ca.crt'), '--tls-auth-clients', 'no'];
      server = await startRedis({ args: ['--tls-port', String(port), ...tls, ...noClientCertificates] });
    });
    redis = new Client(server.url);
    await redis.call('ACL', 'SETUSER', 'app', 'on', `>${SECRET}`, '~*', '&*', '+@all');
  });

  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  const connection = () => ({
    host: '127.0.0.1',
    port: tlsPort,
    username: 'app',
    password: SECRET,
    tls: { ca: readFileSync(fileOf('ca.crt')) },
  });

  test('works like any other Redis', async () => {
    const queue = randomName('orders');
    const handled = new Handled();
    const app = await startTestApp({ connection: connection() }, { providers: [handlerOf(queue, handled.record)] });
    await app.producer.offer(queue, { a: 1 }, 20);
    expect(await handled.untilCalls(1)).toMatchObject({ payload: { a: 1 }, attempt: 1 });
    await app.close();
  });

  test('is not trusted without its certificate authority, and the log says why', async () => {
    const { tls: _authority, ...rest } = connection();
    const app = await startTestApp({ connection: { ...rest, tls: {} }, offerTimeout: 500 });
    expect(app.log.join('\n')).toMatch(/certificate/);
    await app.close();
  });

  test('exposes neither its password nor a payload in the log or in an error', async () => {
    const queue = randomName('orders');
    const errors: unknown[] = [];
    const note = (error: unknown) => errors.push(error);
    const options = { connection: connection(), offerTimeout: 500, shutdownTimeout: 200 };
    const handler = handlerOf(queue, () => {
      throw new Error('no such order');
    });
    const app = await startTestApp(
      { ...options, defaults: { attempts: 1, maxPayloadBytes: 200 } },
      { providers: [handler] },
    );
    const { producer, log } = app;
    await producer.offer(queue, { card: SECRET }, 0);
    await until(async () => (await producer.counts(queue)).dead === 1);
    // A body that cannot be read contains a payload too.
    await redis.hset(
      `delay-queue:{${queue}}:messages`,
      'broken',
      Buffer.concat([Buffer.alloc(12), Buffer.from(`J{"${SECRET}`)]),
    );
    await redis.rpush(`delay-queue:{${queue}}:ready`, 'broken');
    await redis.rpush(`delay-queue:{${queue}}:wake`, '1');
    await until(async () => (await producer.counts(queue)).dead === 2);

    const circle: Record<string, unknown> = { card: SECRET };
    circle.self = circle;
    for (const payload of [circle, { card: SECRET, pad: 'x'.repeat(500) }]) {
      await producer.offer(queue, payload, 0).catch(note);
    }
    await producer.offer(queue, { card: SECRET }, 0, { id: 'broken', onDuplicate: 'reject' }).catch(note);
    await redis.call('ACL', 'SETUSER', 'app', 'resetpass', '>another');
    await redis.call('CLIENT', 'KILL', 'USER', 'app');
    await producer.offer(queue, { card: SECRET }, 0).catch(note);
    await server.freeze();
    await producer.offer(queue, { card: SECRET }, 0).catch(note);
    await server.thaw();
    await app.close();
    await startTestApp({ ...options, connection: `redis://app:${SECRET}@127.0.0.1:${tlsPort}`, prefix: 'a b' }).catch(
      note,
    );

    expect(errors).toHaveLength(6);
    expect(errors.every((error) => error instanceof DelayQueueError)).toBe(true);
    const letters = log.filter((line) => line.includes('dead letter'));
    expect(letters).toHaveLength(2);
    expect([...log, ...errors.map(everythingOf)].join('\n')).not.toContain(SECRET);
  });
});
