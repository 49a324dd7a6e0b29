import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRequire } from 'node:module';
import type { Knex, PgPool, TypeOrmDataSource } from '../../packages/outbox/src/index.js';
import { knex, type OutboxDatabase, pg, typeOrm } from '../../packages/outbox/src/index.js';
import { startPgbouncer } from '../support/databases/start-pgbouncer.js';
import { type PostgresqlServer, startPostgresql } from '../support/databases/start-postgresql.js';
import { until } from '../support/until.js';
import { relayed } from './outbox.rules.js';
import { OutboxScene } from './outbox-scene.js';

const require = createRequire(new URL('./libraries/package.json', import.meta.url));

describe('an outbox behind PgBouncer in transaction mode', () => {
  let postgresql: PostgresqlServer;
  let bouncerUrl = '';
  const scene = new OutboxScene('pg', async () => {
    postgresql = await startPostgresql({ fsync: 'off' });
    const { server, url } = await startPgbouncer(postgresql.server.port);
    bouncerUrl = url;
    return { url, stop: async () => Promise.all([server.stop(), postgresql.server.stop()]).then(() => undefined) };
  });
  const ends: (() => Promise<unknown>)[] = [];
  let listen: PgPool;
  beforeAll(() => {
    const { Pool } = require('pg') as { Pool: new (options: object) => PgPool & { end(): Promise<void> } };
    const pool = new Pool({ connectionString: postgresql.url });
    ends.push(() => pool.end());
    listen = pool;
  });
  afterAll(() => Promise.all(ends.map((end) => end())));

  it('polls instead of listening, and says why', async () => {
    const app = await scene.startApp();
    const queue = scene.newQueue();
    await until(() => app.log.some((line) => line.includes('Notifications of PostgreSQL do not arrive')), {
      within: 10_000,
    });
    expect((await app.outbox.status()).relay.listening).toBe(false);
    await scene.transact((transaction) => app.outbox.offer(transaction, queue, null, '1h', { id: 'm' }));
    await until(async () => (await app.producer.find(queue, 'm')) !== null, { within: 2000 });
  });

  const databases: readonly (readonly [string, () => Promise<OutboxDatabase> | OutboxDatabase])[] = [
    ['pg', () => pg((scene.library.outside as { Pool: PgPool }).Pool, { listen })],
    [
      'typeOrm',
      async () => {
        const { DataSource } = require('typeorm') as { DataSource: new (options: object) => TypeOrmDataSource & { initialize(): Promise<void>; destroy(): Promise<void> } }; // prettier-ignore
        const dataSource = new DataSource({ type: 'postgres', url: bouncerUrl });
        await dataSource.initialize();
        ends.push(() => dataSource.destroy());
        return typeOrm(dataSource, { listen });
      },
    ],
    [
      'knex',
      () => {
        const create = require('knex') as (options: object) => Knex & { destroy(): Promise<void> };
        const instance = create({ client: 'pg', connection: bouncerUrl });
        ends.push(() => instance.destroy());
        return knex(instance, { listen });
      },
    ],
  ];
  it.each(databases)('listens if it has a pool that bypasses PgBouncer: %s', async (_, open) => {
    const app = await scene.startApp({ outbox: { database: await open(), pollInterval: '1h' } });
    const queue = scene.newQueue();
    await until(async () => (await app.outbox.status()).relay.listening);
    await scene.write(`INSERT INTO %table (operation, queue, message_id, body, delay_ms, written_at_ms) VALUES ('offer', '${queue}', 'm', '{"payload":1}', 3600000, 0)`); // prettier-ignore
    await scene.write(`SELECT pg_notify('%table', '')`);
    await relayed(app);
    expect(await app.producer.find(queue, 'm')).not.toBeNull();
  });
});
