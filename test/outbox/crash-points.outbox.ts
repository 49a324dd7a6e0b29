import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { OutboxDatabase } from '../../packages/outbox/src/index.js';
import { type PostgresqlServer, startPostgresql } from '../support/databases/start-postgresql.js';
import { until } from '../support/until.js';
import { relayed } from './outbox.rules.js';
import { OutboxScene } from './outbox-scene.js';

/** A database of which some removals of rows fail, as those of a relay do that dies: by their number, from 1. */
function failing(database: OutboxDatabase, isFailing: (nth: number) => boolean): OutboxDatabase {
  let count = 0;
  return {
    ...database,
    transaction: (work) =>
      database.transaction(async (sql) => {
        let isRemoval = false;
        const result = await work((statement, values) => {
          isRemoval ||= statement.startsWith('DELETE');
          return sql(statement, values);
        });
        if (isRemoval && isFailing(++count)) throw new Error('died before the commit');
        return result;
      }),
  };
}

/** The lease of a relay is longer than its calls may take. */
const QUICK = { offerTimeout: 500 };

describe('a relay that crashes', () => {
  let server: PostgresqlServer;
  beforeAll(async () => (server = await startPostgresql({ fsync: 'off' })));
  afterAll(() => server.server.stop());
  const scene = new OutboxScene('pg', () => Promise.resolve({ url: server.url, stop: () => Promise.resolve() }));

  /** Rows that were written before the relay starts, so that it takes them in one batch. */
  async function relayTwice(write: (transaction: object, queue: string) => Promise<unknown>) {
    const queue = scene.newQueue();
    const writer = await scene.startApp({ outbox: { relay: false } });
    await scene.transact((transaction) => write(transaction, queue));
    const database = failing(scene.library.database, (nth) => nth === 1);
    const app = await scene.startApp({ module: QUICK, outbox: { database, lease: '1s', pollInterval: 50 } });
    await until(() => app.log.some((line) => line.includes('died before the commit')));
    await relayed(writer);
    return (await writer.producer.list(queue, 'delayed')).messages.map(({ id, payload, dueAt }) => ({
      id,
      payload,
      dueAt,
    }));
  }

  const at = new Date('2040-01-01');
  const later = new Date('2041-01-01');

  it('does not create a duplicate if it has made an offer but not yet removed its row', async () => {
    const app = await scene.startApp({ outbox: { relay: false } });
    const messages = await relayTwice((transaction, queue) => app.outbox.offerAt(transaction, queue, 1, at));
    expect(messages).toEqual([{ id: expect.any(String), payload: 1, dueAt: at }]);
  });

  it('leaves the right messages even if each operation is repeated because its row was not yet removed', async () => {
    const { outbox } = await scene.startApp({ outbox: { relay: false } });
    const messages = await relayTwice(async (transaction, queue) => {
      // The message is not there yet: this changes nothing, even if it is repeated after the offer.
      await outbox.reschedule(transaction, queue, 'a', later);
      await outbox.offerAt(transaction, queue, 'a', at, { id: 'a' });
      await outbox.offerAt(transaction, queue, 'b', at, { id: 'b' });
      await outbox.cancel(transaction, queue, 'b');
      await outbox.offerAt(transaction, queue, 'c', at, { id: 'c' });
      await outbox.cancel(transaction, queue, 'c');
      await outbox.offerAt(transaction, queue, 'c again', at, { id: 'c' });
      await outbox.reschedule(transaction, queue, 'c', later);
    });
    expect(messages).toEqual([
      { id: 'a', payload: 'a', dueAt: at },
      { id: 'c', payload: 'c again', dueAt: later },
    ]);
  });

  it('leaves its rows to others once their lease ends, and not before', async () => {
    const queue = scene.newQueue();
    const writer = await scene.startApp({ outbox: { relay: false } });
    const { id } = await scene.transact((transaction) => writer.outbox.offer(transaction, queue, null, '1h'));
    const database = failing(scene.library.database, () => true);
    const dying = await scene.startApp({ module: QUICK, outbox: { database, lease: '2s' } });
    await until(() => dying.log.some((line) => line.includes('died before the commit')));
    const died = performance.now();
    await dying.close();
    await scene.startApp();
    await relayed(writer);
    expect(performance.now() - died).toBeGreaterThan(1500);
    expect(await writer.producer.find(queue, id)).toMatchObject({ state: 'delayed' });
  });
});
