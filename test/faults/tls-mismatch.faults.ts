import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis-5';
import type { DelayQueueModuleOptions } from '../../lib/index.js';
import { onRandomPort } from '../support/redis/random-port.js';
import { startRedis } from '../support/redis/start-redis.js';
import type { TestRedis } from '../support/redis/test-redis.js';
import { refusalOf } from '../support/refusal.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

type Connection = DelayQueueModuleOptions['connection'];

const fileOf = (name: string) => fileURLToPath(new URL(`../support/tls/${name}`, import.meta.url));

const NO_TLS = {
  reason: /no answer to the TLS handshake/,
  advice: 'if the server speaks no TLS on this port, use redis:// instead of rediss://, or leave out `tls`',
};
const TLS = {
  reason: /ECONNRESET|EPIPE|closed before it was ready/,
  advice: 'if the server expects TLS on this port, use rediss:// instead of redis://, or set `tls`',
};
const AUTHORITY = {
  reason: /self-signed certificate/,
  advice: 'if an authority of your own signed its certificate, set `tls: { ca }`',
};

describe('advice about a probable mistake with TLS', () => {
  let server: TestRedis;
  let tlsPort: number;

  beforeAll(async () => {
    await onRandomPort(async (port) => {
      tlsPort = port;
      const tls = ['--tls-cert-file', fileOf('server.crt'), '--tls-key-file', fileOf('server.key')];
      const noClientCertificates = ['--tls-ca-cert-file', fileOf('ca.crt'), '--tls-auth-clients', 'no'];
      server = await startRedis({ args: ['--tls-port', String(port), ...tls, ...noClientCertificates] });
    });
  });

  afterAll(() => server.stop());

  const apps: TestApp[] = [];
  const start = async (connection: Connection) => {
    const app = await startTestApp({ connection, offerTimeout: 500 });
    apps.push(app);
    return app;
  };
  afterEach(async () => {
    for (const app of apps.splice(0)) await app.close();
  });

  test.each<[string, (ports: { plain: number; tls: number }) => Connection, typeof TLS]>([
    ['a client with TLS on a plain port', ({ plain }) => ({ port: plain, tls: {} }), NO_TLS],
    ['a rediss:// URL for a plain port', ({ plain }) => `rediss://127.0.0.1:${plain}`, NO_TLS],
    [
      'an ioredis 5 client with TLS on a plain port',
      ({ plain }) =>
        (overrides) =>
          new (Redis5 as unknown as typeof Redis)({ port: plain, tls: {}, ...overrides }),
      NO_TLS,
    ],
    ['a client without TLS on a TLS port', ({ tls }) => ({ port: tls }), TLS],
    ['a client without TLS, with a password', ({ tls }) => ({ port: tls, password: 'secret' }), TLS],
    ['a client that does not know the certificate authority', ({ tls }) => ({ port: tls, tls: {} }), AUTHORITY],
  ])('is given in the log and in errors: %s', async (_what, connect, { reason, advice }) => {
    const connection = connect({ plain: server.port, tls: tlsPort });
    const app = await start(connection);

    const error = await refusalOf(app.producer.offer('orders', 1, 0));
    await until(() => app.log.some((line) => reason.test(line) && line.includes(advice)));

    expect(error).toMatchObject({ code: 'NOT_CONNECTED', message: expect.stringContaining(advice) });
  });

  test('is not given for an outage after a connection has been ready', async () => {
    const tls = { ca: readFileSync(fileOf('ca.crt')) };
    const app = await start({ port: tlsPort, tls });
    await app.producer.offer('orders', 1, '1h');

    await server.kill9();
    const error = await refusalOf(app.producer.offer('orders', 1, '1h'));
    await server.restart();

    expect(JSON.stringify([error, app.log])).not.toMatch(/TLS on this port/);
  });
});
