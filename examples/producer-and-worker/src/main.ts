import { setTimeout as sleep } from 'node:timers/promises';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DelayQueueModule } from 'nestjs-delay-queue';
import { isShared, where } from './connection.js';
import { ProducerModule, SignUp } from './producer.js';
import { WorkerModule } from './worker.js';

@Module({ imports: [DelayQueueModule.forRoot({ ...where, consume: false }), ProducerModule] })
class ProducerApp {}

@Module({ imports: [DelayQueueModule.forRoot(where), WorkerModule] })
class WorkerApp {}

@Module({ imports: [DelayQueueModule.forRoot(where), ProducerModule, WorkerModule] })
class OneProcess {}

const apps = { producer: ProducerApp, worker: WorkerApp, both: OneProcess };
const role = (process.argv[2] ?? 'both') as keyof typeof apps;
if (role !== 'both' && !isShared) throw new Error(`Set REDIS_URL: a ${role} of its own needs a Redis.`);

const app = await NestFactory.createApplicationContext(apps[role], { logger: ['error'] });
app.enableShutdownHooks(); // lets a worker that is stopped finish its handlers
if (role !== 'worker') {
  const signUp = app.get(SignUp, { strict: false });
  for (const to of ['ada@example.org', 'grace@example.org']) await signUp.register(to);
}
if (role === 'worker') {
  console.log('worker: ready, stop it with Ctrl+C');
} else {
  if (role === 'both') await sleep(2500);
  await app.close();
}
