/** A process that handles messages with an observer and without one, in turns, and tells what each costs its processor. */
import 'reflect-metadata';
import { type INestApplicationContext, Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DelayQueueModule, type DelayQueueModuleOptions, DelayQueueProducer } from '../../../lib/index.js';
import { openTelemetry } from '../../../lib/otel/index.js';
import { isEmpty } from '../is-empty.js';
import { handlerOf } from '../test-app.js';
import { until } from '../until.js';
import { Telemetry } from './telemetry.js';

/** Processor time for each handled message, µs, in the best round: what else the machine does only adds to it. */
export interface HandlingCost {
  readonly plain: number;
  readonly observed: number;
}

interface Settings {
  readonly module: DelayQueueModuleOptions;
  readonly queue: string;
  readonly messages: number;
  readonly rounds: number;
}

const { module, queue, messages, rounds } = JSON.parse(process.argv[2] ?? '') as Settings;

class RootModule {}

Logger.overrideLogger(false);
new Telemetry({ exports: false }).register();
const costs = { plain: [] as number[], observed: [] as number[] };
// The first rounds warm up the compiler.
for (let round = -2; round < rounds; round++) {
  const cost = { plain: await measure([]), observed: await measure([openTelemetry()]) };
  if (round < 0) continue;
  costs.plain.push(cost.plain);
  costs.observed.push(cost.observed);
}
const result: HandlingCost = { plain: Math.min(...costs.plain), observed: Math.min(...costs.observed) };
console.log(JSON.stringify(result));

async function measure(observers: DelayQueueModuleOptions['observers']): Promise<number> {
  const app = await start(observers);
  const producer = app.get(DelayQueueProducer);
  await producer.pause(queue);
  await producer.offerMany(
    queue,
    Array.from({ length: messages }, (_, payload) => ({ payload, delay: 0 })),
  );
  await until(async () => (await producer.counts(queue)).ready === messages, { within: 60_000 });
  const before = process.cpuUsage();
  await producer.resume(queue);
  await until(() => isEmpty(producer, queue), { within: 60_000, every: 20 });
  const { user, system } = process.cpuUsage(before);
  await app.close();
  return (user + system) / messages;
}

function start(observers: DelayQueueModuleOptions['observers']): Promise<INestApplicationContext> {
  return NestFactory.createApplicationContext(
    {
      module: RootModule,
      imports: [DelayQueueModule.forRoot({ ...module, observers })],
      providers: [handlerOf(queue, () => Promise.resolve())],
    },
    { logger: false },
  );
}
