/** Starts and stops an application with a handler and options for each of many queues; prints for how long its event loop did not turn. */
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { DelayedHandler, DelayQueueModule, type DelayQueueModuleOptions, DelayQueueProducer } from '../../lib/index.js';
import { TurnWatch } from './turn-watch.js';

interface Settings {
  readonly module: DelayQueueModuleOptions;
  /** The beginning of the names of the queues. */
  readonly name: string;
  readonly count: number;
}

const { module, name, count } = JSON.parse(process.argv[2]!) as Settings;
const queues = Array.from({ length: count }, (_, i) => `${name}-${i}`);

const handled = new Set<string>();

@Injectable()
class ManyHandlers {}
for (const queue of queues) {
  const value = (_: unknown, message: { queue: string }) => void handled.add(message.queue);
  Object.defineProperty(ManyHandlers.prototype, queue, { value, configurable: true });
  DelayedHandler(queue)(ManyHandlers.prototype, queue, Object.getOwnPropertyDescriptor(ManyHandlers.prototype, queue)!);
}

const start = new TurnWatch();
const delayQueue = DelayQueueModule.forRootAsync({
  useFactory: async () => {
    // By now Nest has read the classes, which takes it a while.
    await nextTurn();
    await start.begin();
    return { ...module, queues: Object.fromEntries(queues.map((queue, i) => [queue, { concurrency: 1 + (i % 16) }])) };
  },
});

@Module({ imports: [delayQueue], providers: [ManyHandlers] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
const last = queues.at(-1)!;
const offer = () => app.get(DelayQueueProducer).offer(last, null, 0);
// Calls may time out while nothing else gets its turn.
while (!(await offer().catch(() => undefined)));
while (!handled.has(last)) await sleep(10);
const started = start.end();

const stop = new TurnWatch();
await stop.begin();
await app.close();
console.log(JSON.stringify({ start: started, stop: stop.end() }));
process.exit();
