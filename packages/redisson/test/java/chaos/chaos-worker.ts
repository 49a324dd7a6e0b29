/**
 * A Node process of a chaos run: handles queues, and offers to them what it is told. Whatever it tells is written at once,
 * because it may be killed at any moment.
 */
import 'reflect-metadata';
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { DelayedHandler, type DelayedMessage, DelayQueueModule, DelayQueueProducer } from '../../../../../lib/index.js';
import { redisson } from '../../../src/index.js';
import { NestFactory } from '@nestjs/core';
import type { Batch, WorkerLine, WorkerOptions } from './node-worker.js';

const { url, queues, inRedisson, options } = JSON.parse(process.argv[2] ?? '') as WorkerOptions;

function tell(line: WorkerLine): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

class Handlers {
  handle(value: string, { queue }: DelayedMessage): void {
    tell({ event: 'handled', queue, value, at: Date.now() });
  }
}

const method = Object.getOwnPropertyDescriptor(Handlers.prototype, 'handle')!;
for (const queue of queues) DelayedHandler(queue)(Handlers.prototype, 'handle', method);

class ChaosModule {}

const app = await NestFactory.createApplicationContext(
  {
    module: ChaosModule,
    imports: [DelayQueueModule.forRoot({ connection: url, defaults: { ...options, layout: redisson(inRedisson) } })],
    providers: [Handlers],
  },
  { logger: ['error'] },
);
const producer = app.get(DelayQueueProducer);
createInterface(process.stdin).on('line', (line) => void offer(JSON.parse(line) as Batch));
process.stdin.on('end', () => void app.close());
tell({ event: 'ready' });

async function offer({ number, queue, values, delay }: Batch): Promise<void> {
  const offers = values.map((payload) => ({ payload, delay, id: payload }));
  await producer.offerMany(queue, offers).then(
    () => tell({ event: 'offered', number }),
    (error: unknown) => tell({ event: 'refused', number, problem: String(error) }),
  );
}
