import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createTableSql,
  type DelayQueueOutbox,
  getOutboxToken,
  OutboxModule,
} from '../../packages/outbox/src/index.js';
import { type PostgresqlServer, startPostgresql } from '../support/databases/start-postgresql.js';
import { until } from '../support/until.js';
import { relayed } from './outbox.rules.js';
import { OutboxScene } from './outbox-scene.js';

describe('an outbox in PostgreSQL', () => {
  let postgresql: PostgresqlServer;
  beforeAll(async () => (postgresql = await startPostgresql({ fsync: 'off' })));
  afterAll(() => postgresql.server.stop());
  const scene = new OutboxScene('pg', () => Promise.resolve({ url: postgresql.url, stop: () => Promise.resolve() }));

  it('recovers from an outage of the database, still wakes on commits, and logs the outage once', async () => {
    const app = await scene.startApp({ outbox: { pollInterval: '1h' } });
    const queue = scene.newQueue();
    await until(async () => (await app.outbox.status()).relay.listening);
    await postgresql.server.kill9();
    await postgresql.server.restart();
    await until(async () => (await app.outbox.status()).relay.listening, { within: 20_000 });
    await scene.transact((transaction) => app.outbox.offer(transaction, queue, null, '1h'));
    await relayed(app);
    expect(await app.producer.counts(queue)).toMatchObject({ delayed: 1 });
    expect(app.log.filter((line) => line.includes('cannot be relayed')).length).toBeLessThanOrEqual(1);
  });

  it('starts while the database is down, and relays once it is up', async () => {
    const queue = scene.newQueue();
    const writer = await scene.startApp({ outbox: { relay: false } });
    await scene.transact((transaction) => writer.outbox.offer(transaction, queue, null, '1h'));
    await postgresql.server.kill9();
    const app = await scene.startApp();
    expect(app.log).toContainEqual(expect.stringContaining('could not be checked'));
    await postgresql.server.restart();
    await until(async () => (await app.producer.counts(queue)).delayed === 1, { within: 20_000, every: 50 });
  });

  it('may be one of several, each with its own table', async () => {
    const queue = scene.newQueue();
    await scene.library.execute(createTableSql('postgresql', 'delay_queue_outbox_billing'));
    const { database } = scene.library;
    const app = await scene.startApp({
      outbox: { relay: false },
      imports: [OutboxModule.forRoot({ instance: 'billing', database })],
    });
    const billing: DelayQueueOutbox = app.context.get(getOutboxToken('billing'));
    await scene.transact(async (transaction) => {
      await app.outbox.offer(transaction, queue, 'not relayed', '1h');
      await billing.offer(transaction, queue, 'relayed', '1h');
    });
    await until(async () => (await billing.status()).waiting === 0);
    const { messages } = await app.producer.list(queue, 'delayed');
    expect(messages.map(({ payload }) => payload)).toEqual(['relayed']);
    expect(await app.outbox.status()).toMatchObject({ waiting: 1 });
  });
});
