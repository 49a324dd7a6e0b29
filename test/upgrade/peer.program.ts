/** A small application on a given build of the library: it handles a queue, and calls its producer as its standard input says. */
import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import type * as Library from '../../lib/index.js';
import type * as Calendars from '../../lib/calendar/index.js';
import type { Call, Line, PeerSettings, Task } from './peer-messages.js';

const { lib, module, queue, handler } = JSON.parse(process.argv[2] ?? '') as PeerSettings;
const { DelayedHandler, DelayQueueModule, DelayQueueProducer } = (await import(
  join(lib, 'index.ts')
)) as typeof Library;
const { calendar } = (await import(join(lib, 'calendar/index.ts'))) as typeof Calendars;

const write = (line: Line) => process.stdout.write(`${JSON.stringify(line)}\n`);

@Injectable()
class Tasks {
  @DelayedHandler(queue, handler ?? {})
  async handle(task: Task, message: Library.DelayedMessage<Task>): Promise<void> {
    const { id, attempt, payload, headers, type } = message;
    const handled = { id, attempt, payload, headers, type };
    write({ event: 'start', ...handled, at: Date.now() });
    if (task.do === 'fail' || (task.do === 'fail-once' && attempt === 1)) throw new Error('as told');
    if (task.do === 'hang') await new Promise(() => undefined);
    if (task.do === 'work') await sleep(task.ms);
    write({ event: 'end', ...handled, at: Date.now() });
  }
}

@Module({ imports: [DelayQueueModule.forRoot({ ...module, calendar })], providers: handler ? [Tasks] : [] })
class PeerModule {}

const app = await NestFactory.createApplicationContext(PeerModule, { logger: ['warn', 'error'] });
app.enableShutdownHooks();
const producer = app.get(DelayQueueProducer);

createInterface(process.stdin).on('line', (line) => {
  const { number, on, method, args } = JSON.parse(line) as Call;
  const target = (on === 'producer' ? producer : producer.deadLetters(queue)) as unknown as Record<
    string,
    (...given: readonly unknown[]) => Promise<unknown>
  >;
  target[method]!(...args).then(
    (result) => write({ event: 'answer', number, result }),
    (error: unknown) => write({ event: 'answer', number, error: String(error) }),
  );
});
write({ event: 'ready' });
