// An application that imports the package and gets its handler from a CommonJS module that requires the package.
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DelayQueueError, DelayQueueModule, DelayQueueProducer } from 'nestjs-delay-queue';
import { DelayQueueTester } from 'nestjs-delay-queue/testing';
import console from 'node:console';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import required from './clerk.cjs';

const { REDIS_URL, QUEUE } = process.env;

class AppModule {}
Module({ imports: [DelayQueueModule.forRoot({ connection: REDIS_URL })], providers: [required.Clerk] })(AppModule);

const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error'] });
const producer = app.get(required.DelayQueueProducer);
await producer.offer(QUEUE, { orderId: 7 }, 50);
let letters = [];
while (letters.length === 0) {
  await sleep(10);
  ({ messages: letters } = await producer.deadLetters(QUEUE).list());
}
const refused = await producer.offer(QUEUE, undefined, 50).catch((error) => error);
await app.close();
console.log(
  JSON.stringify({
    module: DelayQueueModule === required.DelayQueueModule,
    tester: DelayQueueTester === required.DelayQueueTester,
    producer: producer instanceof DelayQueueProducer,
    error: refused instanceof DelayQueueError && refused instanceof required.DelayQueueError,
    failedAttempts: letters.map(({ failedAttempts }) => failedAttempts),
  }),
);
