/** A process that starts and stops the module again and again, and tells what is left of it afterwards. */
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DelayQueueModule, type DelayQueueModuleOptions, DelayQueueProducer } from '../../../lib/index.js';
import { handlerOf } from '../test-app.js';

/** The resources of a process. */
export interface Holdings {
  readonly resources: Record<string, number>;
  readonly listeners: number;
  readonly heap: number;
}

const { module, times } = JSON.parse(process.argv[2] ?? '') as { module: DelayQueueModuleOptions; times: number };

class RootModule {}

async function startAndStop(): Promise<void> {
  const app = await NestFactory.createApplicationContext(
    {
      module: RootModule,
      imports: [DelayQueueModule.forRoot(module)],
      providers: [handlerOf('start-and-stop', () => undefined)],
    },
    { logger: false },
  );
  await app.get(DelayQueueProducer).offer('start-and-stop', null, '1h', { id: 'm' });
  await app.close();
}

async function look(): Promise<Holdings> {
  // What is closing ends in the turns of the event loop after it.
  for (let turn = 0; turn < 10; turn++) await nextTurn();
  gc?.();
  const resources: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) resources[name] = (resources[name] ?? 0) + 1;
  const listeners = process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);
  return { resources, listeners, heap: process.memoryUsage().heapUsed };
}

// Loads and compiles everything once.
for (let i = 0; i < 100; i++) await startAndStop();
const before = await look();
for (let i = 0; i < times; i++) await startAndStop();
const after = await look();
console.log(JSON.stringify({ before, after }));
// A remaining resource would keep the process alive.
process.exit();
