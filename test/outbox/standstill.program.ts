/** A relay that stands still, as a stopped process or machine does, between the check of its lease and its first call. */
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { writeSync } from 'node:fs';
import { DelayQueueModule, DelayQueueProducer } from '../../lib/index.js';
import { OutboxModule } from '../../packages/outbox/src/index.js';
import { openLibrary } from './library.js';

export interface StandstillSettings {
  readonly library: string;
  readonly databaseUrl: string;
  readonly table: string;
  readonly redisUrl: string;
  readonly prefix: string;
}

const settings = JSON.parse(process.argv[2] ?? '') as StandstillSettings;
const say = (word: string) => writeSync(1, `${word}\n`);

type Calls = Pick<DelayQueueProducer, 'offer'>;

let isFirst = true;
const standingStill = <Given extends Calls>(calls: Given): Given =>
  Object.assign(Object.create(calls) as Given, {
    offer: async (...given: Parameters<Calls['offer']>) => {
      if (isFirst) {
        isFirst = false;
        say('stands still');
        process.kill(process.pid, 'SIGSTOP');
      }
      const outcome = await calls.offer(...given).catch(() => undefined);
      say(`went on: ${outcome ? 'offered' : 'refused'}`);
      if (!outcome) throw new Error('refused');
      return outcome;
    },
  });

const PRODUCER = {
  provide: 'standing still',
  useFactory: (producer: DelayQueueProducer) =>
    Object.defineProperty(standingStill(producer), 'relayTarget', {
      value: Object.assign(Object.create(producer.relayTarget) as object, {
        before: (notAfter: number) => standingStill(producer.relayTarget.before(notAfter)),
      }),
    }),
  inject: [DelayQueueProducer],
};
class ProducerModule {}

const { database } = await openLibrary(settings.library, settings.databaseUrl);
const imports = [
  DelayQueueModule.forRoot({ connection: settings.redisUrl, prefix: settings.prefix, offerTimeout: 500 }),
  { module: ProducerModule, global: true, providers: [PRODUCER], exports: [PRODUCER.provide] },
  OutboxModule.forRoot({ database, table: settings.table, producer: PRODUCER.provide, lease: '2s' }),
];
class RelayModule {}
await NestFactory.createApplicationContext({ module: RelayModule, imports }, { logger: false });
say('ready');
