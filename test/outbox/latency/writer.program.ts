/** Commits transactions at a rate, and tells when each was committed. */
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { DelayQueueModule } from '../../../lib/index.js';
import { DelayQueueOutbox, OutboxModule, type Sql } from '../../../packages/outbox/src/index.js';
import { openLibrary } from '../library.js';
import { type LatencySettings, QUEUE } from './settings.js';

const { databaseUrl, redisUrl, relaying, rate, transactions, result } = JSON.parse(
  process.argv[2] ?? '',
) as LatencySettings;
const library = await openLibrary('pg', databaseUrl);
const { database } = library;
const imports = [DelayQueueModule.forRoot({ connection: redisUrl }), OutboxModule.forRoot({ database, relay: false })];
class WriterModule {}
const app = await NestFactory.createApplicationContext({ module: WriterModule, imports }, { logger: false });
const outbox = app.get(DelayQueueOutbox);
const now = () => performance.timeOrigin + performance.now();

const committed: [id: string, at: number][] = [];
async function commit(n: number): Promise<void> {
  let id = '';
  await library.transact(async (transaction) => {
    await (database.within(transaction) as Sql)('INSERT INTO business (n) VALUES (?)', [n]);
    if (relaying !== 'none') id = (await outbox.offer(transaction, QUEUE, { n }, '1h')).id;
  });
  committed.push([id, now()]);
}

const started = performance.now();
const under: Promise<void>[] = [];
for (let n = 0; n < transactions; n++) {
  const early = started + (n * 1000) / rate - performance.now();
  if (early > 0) await sleep(early);
  under.push(commit(n));
}
await Promise.all(under);
const seconds = (performance.now() - started) / 1000;
writeFileSync(result, JSON.stringify({ committed, seconds }));
await app.close();
await library.close();
process.exit();
