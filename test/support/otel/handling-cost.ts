/** A process that handles messages with an observer and without one, alternately, and reports what each costs its processor. */
import 'reflect-metadata';
import { metrics, ROOT_CONTEXT, trace } from '@opentelemetry/api';
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
  /** The time of the SDK alone for the spans and measurements of a message. */
  readonly sdk: number;
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
const useSdk = sdkUse();
const costs: Record<keyof HandlingCost, number[]> = { plain: [], observed: [], sdk: [] };
// The first rounds warm up the compiler.
for (let round = -2; round < rounds; round++) {
  const cost: HandlingCost = {
    plain: await handle([]),
    observed: await handle([openTelemetry()]),
    sdk: measure(useSdk),
  };
  if (round < 0) continue;
  for (const each of Object.keys(cost) as (keyof HandlingCost)[]) costs[each].push(cost[each]);
}
const result: HandlingCost = {
  plain: Math.min(...costs.plain),
  observed: Math.min(...costs.observed),
  sdk: Math.min(...costs.sdk),
};
console.log(JSON.stringify(result));

/** One span with a link, and three measurements. */
function sdkUse(): () => void {
  const tracer = trace.getTracer('sdk');
  const meter = metrics.getMeter('sdk');
  const [counter, first, second] = [meter.createCounter('c'), meter.createHistogram('h'), meter.createHistogram('i')];
  const creation = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', traceFlags: 1 };
  return () => {
    const attributes = { system: 'delay_queue', queue, operation: 'process', outcome: 'ack' };
    const span = tracer.startSpan('process', { attributes, links: [{ context: creation }] }, ROOT_CONTEXT);
    counter.add(1, attributes);
    first.record(0.001, attributes);
    second.record(0.001, attributes);
    span.end();
  };
}

function measure(use: () => void): number {
  const before = process.cpuUsage();
  for (let i = 0; i < messages; i++) use();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / messages;
}

async function handle(observers: DelayQueueModuleOptions['observers']): Promise<number> {
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
