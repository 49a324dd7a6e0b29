import { afterAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgresql } from '../support/databases/start-postgresql.js';
import { SettableClock } from '../support/redis/settable-clock.js';
import { relayed } from './outbox.rules.js';
import { OutboxScene } from './outbox-scene.js';

const HOUR = 60 * 60;

describe.each([HOUR, -HOUR])("an outbox whose database clock is %i s off Redis' clock", (offset) => {
  const clock = new SettableClock();
  clock.set(offset);
  afterAll(() => clock.remove());
  const scene = new OutboxScene(
    'pg',
    async () => {
      const { server, url } = await startPostgresql({ fsync: 'off' });
      return { url, stop: () => server.stop() };
    },
    { env: clock.env },
  );

  it("preserves the length of a delay, and takes an instant by Redis' clock", async () => {
    const app = await scene.startApp();
    const queue = scene.newQueue();
    const at = new Date('2040-01-01');
    await app.outbox.pause();
    const written = Date.now();
    await scene.transact(async (transaction) => {
      await app.outbox.offer(transaction, queue, null, '10m', { id: 'after' });
      await app.outbox.offerAt(transaction, queue, null, at, { id: 'at' });
    });
    await sleep(500);
    await app.outbox.resume();
    await relayed(app);
    const { dueAt, offeredAt } = (await app.producer.find(queue, 'after'))!;
    expect(Math.abs(offeredAt.getTime() - (Date.now() + offset * 1000))).toBeLessThan(10_000);
    const expected = written + 10 * 60_000 + offset * 1000;
    expect(dueAt.getTime()).toBeGreaterThanOrEqual(expected - 10);
    expect(dueAt.getTime()).toBeLessThan(expected + 1000);
    expect((await app.producer.find(queue, 'at'))!.dueAt).toEqual(at);
  });
});
