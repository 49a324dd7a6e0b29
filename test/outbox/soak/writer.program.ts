/** Eight writers: transactions that offer, cancel and reschedule, a third of which roll back. It ends when all are done. */
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { appendFileSync } from 'node:fs';
import { DelayQueueModule, DelayQueueProducer } from '../../../lib/index.js';
import { DelayQueueOutbox, OutboxModule, type Sql } from '../../../packages/outbox/src/index.js';
import { until } from '../../support/until.js';
import { openLibrary } from '../library.js';
import { DUE, KEPT, PATIENCE, type ProcessSettings, type Step } from './settings.js';

const settings = JSON.parse(process.argv[2] ?? '') as ProcessSettings;
const { control } = settings;
const library = await openLibrary(settings.library, settings.databaseUrl);
const { database } = library;
const imports = [
  DelayQueueModule.forRoot({ connection: settings.redisUrl, offerTimeout: 500 }),
  OutboxModule.forRoot({ database, relay: false }),
];
class WriterModule {}
const app = await NestFactory.createApplicationContext({ module: WriterModule, imports }, { logger: false });
const outbox = app.get(DelayQueueOutbox);
const producer = app.get(DelayQueueProducer);

class RolledBack extends Error {}

const HOUR = 3_600_000;
const START = Date.now();
let started = 0;

/** One transaction after the other, each with a step for a message of its own or for one of its chain. */
async function write(writer: number): Promise<void> {
  for (let turn = 0; ; turn++) {
    const n = started++;
    if (n >= settings.transactions) return;
    let step: Step | undefined;
    try {
      await library.transact(async (transaction) => {
        const sql = database.within(transaction) as Sql;
        await sql('INSERT INTO business (n) VALUES (?)', [n]);
        step = await take(writer, turn, n, transaction);
        // Written before the commit: whether it was committed is for the database to say.
        appendFileSync(settings.journal, `${JSON.stringify(step)}\n`);
        if (Math.random() < 1 / 3) throw new RolledBack();
      });
      if (control === 'losses' && step) await offerAfterwards(step);
    } catch (error) {
      // The database is away; without the wait, all that has not begun would fail until it is back.
      if (!(error instanceof RolledBack)) await databaseIsBack();
    }
    if (n % 500 === 0) console.log(JSON.stringify({ started: n }));
  }
}

async function databaseIsBack(): Promise<void> {
  const ask = async (transaction: object) => (database.within(transaction) as Sql)('SELECT 1');
  await until(() => library.transact(ask).then(() => true), { within: PATIENCE, every: 20 });
}

async function take(writer: number, turn: number, n: number, transaction: object): Promise<Step> {
  const kind = Math.random();
  if (kind < 0.25)
    return offer({ n, queue: DUE, operation: 'offer', id: '' }, transaction, Math.floor(Math.random() * 500));
  if (kind < 0.5) return offer({ n, queue: KEPT, operation: 'offer', id: '' }, transaction, HOUR);
  // A chain of twenty steps for one message, in the order of this writer.
  const id = `w${writer}-${Math.floor(turn / 20)}`;
  const at = START + 24 * HOUR + n * 1000;
  const step: Step = {
    n,
    queue: KEPT,
    operation: kind < 0.7 ? 'offer' : kind < 0.85 ? 'reschedule' : 'cancel',
    id,
    at,
  };
  if (step.operation === 'cancel') await outbox.cancel(transaction, KEPT, id);
  else if (step.operation === 'reschedule') await outbox.reschedule(transaction, KEPT, id, new Date(at));
  else await outbox.offerAt(transaction, KEPT, { n }, new Date(at), { id });
  return step;
}

async function offer(step: Step, transaction: object, delay: number): Promise<Step> {
  if (control === 'losses') return { ...step, id: `n${step.n}` };
  if (control === 'ghosts') {
    const { id } = await producer.offer(step.queue, { n: step.n }, delay);
    return { ...step, id };
  }
  const { id } = await outbox.offer(transaction, step.queue, { n: step.n }, delay);
  return { ...step, id };
}

/** Writes as an application without an outbox does. */
async function offerAfterwards({ n, queue, id }: Step): Promise<void> {
  if (id === `n${n}`) await producer.offer(queue, { n }, queue === DUE ? 100 : HOUR, { id });
}

await Promise.all(Array.from({ length: settings.writers }, (_, writer) => write(writer)));
await app.close();
await library.close();
console.log(JSON.stringify({ started: settings.transactions }));
process.exit();
