// Runs the application that the page about observability measures, whose file it is given, and tells which metrics it answers
// with after a message.
import 'reflect-metadata';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DelayQueueProducer } from 'nestjs-delay-queue';

const HANDLED = /^messaging_process_duration_count\{.*"reminders".*\} [1-9]/m;
const WAITING = /^delay_queue_queue_messages\{.*"reminders".*\} \d/m;

async function main(): Promise<void> {
  console.log = () => undefined;
  const { AppModule } = (await import(process.argv[2]!)) as { AppModule: Type };
  const app = await NestFactory.create(AppModule, { logger: ['error'] });
  await app.listen(0, '127.0.0.1');
  await app.get(DelayQueueProducer).offer('reminders', { text: 'Water the plants' }, 10);
  let text = '';
  for (let i = 0; i < 100 && !HANDLED.test(text); i++) {
    await sleep(100);
    text = await (await fetch(`${await app.getUrl()}/metrics`)).text();
  }
  await app.close();
  process.stdout.write(JSON.stringify({ handled: HANDLED.test(text), waiting: WAITING.test(text) }));
}

void main();
