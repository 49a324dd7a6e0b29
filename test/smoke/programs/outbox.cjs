// Drives the application of the outbox's README: an order that is committed, one that is rolled back, one that is paid.
const console = require('node:console');
const { setTimeout: sleep } = require('node:timers/promises');
const { NestFactory } = require('@nestjs/core');
const { DelayQueueProducer } = require('nestjs-delay-queue');
const { DelayQueueOutbox } = require('nestjs-delay-queue-outbox');
const { DataSource } = require('typeorm');
const { AppModule, Order, Shop } = require('./dist/app.module.js');

async function main() {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error', 'warn'] });
  const [shop, producer, outbox, dataSource] = [Shop, DelayQueueProducer, DelayQueueOutbox, DataSource].map((token) =>
    app.get(token),
  );
  const relayed = async () => {
    while ((await outbox.status()).waiting > 0) await sleep(10);
  };
  await shop.place('kept');
  await shop.place('paid');
  const refusal = await shop.place('kept').catch(() => 'rolled back'); // the order is there already
  await shop.pay('paid');
  await relayed();
  const delayed = (await producer.list('orders', 'delayed')).messages.map(({ id }) => id);
  const { listening } = (await outbox.status()).relay;
  await producer.reschedule('orders', 'unpaid:kept', 0);
  const status = async (id) => (await dataSource.manager.findOneBy(Order, { id })).status;
  while ((await status('kept')) === 'unpaid') await sleep(10);
  const statuses = [await status('kept'), await status('paid')];
  await app.close();
  console.log(JSON.stringify({ refusal, delayed, listening, statuses }));
}

void main();
