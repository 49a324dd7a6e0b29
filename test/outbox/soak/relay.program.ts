/** A process of the application: a relay, and a handler that keeps a journal. It is killed, and started again. */
import 'reflect-metadata';
import { Injectable } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { appendFileSync } from 'node:fs';
import { DelayedHandler, type DelayedMessage, DelayQueueModule, DelayQueueProducer } from '../../../lib/index.js';
import { OutboxModule } from '../../../packages/outbox/src/index.js';
import { openLibrary } from '../library.js';
import { DUE, type ProcessSettings, type SoakPayload } from './settings.js';

const settings = JSON.parse(process.argv[2] ?? '') as ProcessSettings;

@Injectable()
class Journal {
  @DelayedHandler(DUE, { concurrency: 50, lease: '5s' })
  handle({ n }: SoakPayload, { id }: DelayedMessage): void {
    appendFileSync(settings.journal, `${JSON.stringify({ n, id })}\n`);
  }
}

/** Forgets the ids, as a relay does that offers under new ones. */
const FORGETFUL = {
  provide: 'forgetful',
  useFactory: (
    producer: DelayQueueProducer,
  ): Pick<DelayQueueProducer, 'offer' | 'offerAt' | 'cancel' | 'reschedule'> => ({
    offer: (queue, payload, delay) => producer.offer(queue, payload, delay as number),
    offerAt: (queue, payload, date, options) => producer.offerAt(queue, payload, date, options),
    cancel: (queue, id) => producer.cancel(queue, id),
    reschedule: (queue, id, due) => producer.reschedule(queue, id, due as Date),
  }),
  inject: [DelayQueueProducer],
};
class ForgetfulModule {}

const { database } = await openLibrary(settings.library, settings.databaseUrl);
const doubles = settings.control === 'doubles';
const imports = [
  DelayQueueModule.forRoot({ connection: settings.redisUrl, offerTimeout: 2000 }),
  { module: ForgetfulModule, global: true, providers: [FORGETFUL], exports: ['forgetful'] },
  OutboxModule.forRoot({ database, producer: doubles ? 'forgetful' : undefined }),
];
class RelayModule {}
await NestFactory.createApplicationContext({ module: RelayModule, imports, providers: [Journal] }, { logger: false });
console.log('ready');
