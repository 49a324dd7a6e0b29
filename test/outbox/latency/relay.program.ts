/** Relays in a process of its own, so that commits in another one have to wake it. */
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { setTimeout as sleep } from 'node:timers/promises';
import { DelayQueueModule, DelayQueueProducer } from '../../../lib/index.js';
import { type OutboxDatabase, OutboxModule } from '../../../packages/outbox/src/index.js';
import { openLibrary } from '../library.js';
import type { LatencySettings } from './settings.js';

const { databaseUrl, redisUrl, relaying } = JSON.parse(process.argv[2] ?? '') as LatencySettings;
const { database } = await openLibrary('pg', databaseUrl);
const options = {
  database: { ...database, listen: relaying === 'woken' ? database.listen : undefined },
  relay: relaying === 'woken' || relaying === 'polled',
};
const imports = [DelayQueueModule.forRoot({ connection: redisUrl }), OutboxModule.forRoot(options)];
class RelayModule {}
const app = await NestFactory.createApplicationContext({ module: RelayModule, imports }, { logger: false });
console.log('ready');

/** A hand-written relay: it looks every second and continues until nothing is left. */
async function lookEverySecond(given: OutboxDatabase, producer: DelayQueueProducer): Promise<void> {
  const page =
    'SELECT seq, queue, message_id, body FROM delay_queue_outbox ORDER BY seq LIMIT 500 FOR UPDATE SKIP LOCKED';
  const look = () =>
    given.transaction(async (sql) => {
      const rows = await sql(page);
      const offer = (row: (typeof rows)[number]) =>
        producer.offer(String(row.queue), JSON.parse(String(row.body)), '1h', { id: String(row.message_id) });
      await Promise.all(rows.map(offer));
      for (const { seq } of rows) await sql('DELETE FROM delay_queue_outbox WHERE seq = ?', [Number(seq)]);
      return rows.length;
    });
  for (;;) if ((await look()) < 500) await sleep(1000);
}

if (relaying === 'every second') await lookEverySecond(database, app.get(DelayQueueProducer));
