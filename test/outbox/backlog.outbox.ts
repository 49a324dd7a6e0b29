import { describe, expect, it } from '@jest/globals';
import { startPostgresql } from '../support/databases/start-postgresql.js';
import { until } from '../support/until.js';
import { relayed } from './outbox.rules.js';
import { OutboxScene } from './outbox-scene.js';

describe('300,000 parked rows', () => {
  const scene = new OutboxScene('pg', async () => {
    const { server, url } = await startPostgresql({ fsync: 'off' });
    return { url, stop: () => server.stop() };
  });

  it('do not slow down other rows', async () => {
    const queue = scene.newQueue();
    const app = await scene.startApp();
    await scene.write(
      `INSERT INTO %table (operation, queue, message_id, body, written_at_ms, not_before_ms, error) ` +
        `SELECT 'offer', 'gone', 'm-' || n, '{"payload":1}', 0, NULL, 'INVALID_ARGUMENT' FROM generate_series(1, 300000) AS n`,
    );
    expect(await app.outbox.failed({ limit: 1 })).toHaveLength(1);
    const waits: number[] = [];
    for (let i = 0; i < 21; i++) {
      const { id } = await scene.transact((transaction) => app.outbox.offer(transaction, queue, i, '1h'));
      const committed = performance.now();
      await until(async () => (await app.producer.find(queue, id)) !== null, { every: 1 });
      waits.push(performance.now() - committed);
    }
    expect(waits.sort((a, b) => a - b)[10]).toBeLessThan(100);
    await relayed(app);
    expect(await app.outbox.status()).toMatchObject({ failed: 300_000 });
  });
});
