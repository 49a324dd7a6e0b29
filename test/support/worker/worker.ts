/** The process that {@link WorkerProcess} starts: a small Nest application that handles one queue as each payload says. */
import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { calendar } from '../../../lib/calendar/index.js';
import { encryption } from '../../../lib/encryption/index.js';
import { DelayedHandler, type DelayedMessage, DelayQueueModule, DelayQueueProducer } from '../../../lib/index.js';
import { redisson } from '../../../packages/redisson/src/index.js';
import { block } from '../block.js';
import { Journal } from './journal.js';
import type { Task, WorkerSettings } from './worker-settings.js';

const settings = JSON.parse(process.argv[2] ?? '') as WorkerSettings;
const journal = new Journal();
const sigterm = once(process, 'SIGTERM');

/** One for each type of the settings, or one for all. */
const Handlers: MethodDecorator = (target, name, descriptor) => {
  const { queue, handler, types } = settings;
  const decorators = types ? types.map((type) => DelayedHandler(queue, type)) : [DelayedHandler(queue, handler)];
  for (const decorate of decorators) decorate(target, name, descriptor);
};

@Injectable()
class Tasks {
  constructor(private readonly producer: DelayQueueProducer) {}

  /** With the option `batch`, it gets arrays. */
  @Handlers
  async handle(given: Task | Task[], messages: DelayedMessage<Task> | readonly DelayedMessage<Task>[]): Promise<void> {
    const tasks = [given].flat();
    await Promise.all([messages].flat().map((message, i) => this.#handleOne(tasks[i]!, message)));
  }

  async #handleOne(task: Task, message: DelayedMessage<Task>): Promise<void> {
    const { id, attempt, dueAt, repeat } = message;
    const occurrence = repeat && { at: repeat.at.getTime(), cron: repeat.cron };
    const startedAt = Date.now();
    const call = { id, attempt, late: startedAt - dueAt.getTime(), ...occurrence };
    if (!settings.quiet) {
      journal.write({ event: 'start', ...call });
      message.signal.addEventListener('abort', () =>
        journal.write({ event: 'aborted', ...call, abortedAt: Date.now() }),
      );
    }
    await this.#perform(task, message);
    journal.write({ event: 'end', ...call, startedAt, endedAt: Date.now() });
  }

  async #perform(task: Task, message: DelayedMessage<Task>): Promise<void> {
    const { id, queue } = message;
    if (!task || (task.firstAttemptOnly && message.attempt > 1)) return;
    switch (task.do) {
      case 'work':
        return sleep(task.ms);
      case 'set-limits':
        return this.producer.limits(task.queue).set(task.limits);
      case 'work-past-sigterm':
        await sigterm;
        await sleep(task.ms);
        await this.producer.offer(queue, null, '1h', { id: `${id}-after` });
        return;
      case 'work-until-aborted':
        return new Promise((_resolve, reject) => {
          message.signal.addEventListener('abort', () => reject(message.signal.reason as Error));
        });
      case 'hang':
        return new Promise(() => undefined);
      case 'crash':
        journal.flush();
        process.kill(process.pid, 'SIGKILL');
        return sleep(1000);
      case 'block':
        journal.flush();
        block(task.ms);
    }
  }
}

const { module, inRedisson } = settings;
const defaults = {
  ...module.defaults,
  ...(inRedisson && { layout: redisson(inRedisson) }),
  ...(settings.encryption && { encryption: encryption(settings.encryption) }),
};

@Module({ imports: [DelayQueueModule.forRoot({ ...module, defaults, calendar })], providers: [Tasks] })
class WorkerModule {}

const app = await NestFactory.createApplicationContext(WorkerModule, { logger: ['warn', 'error'] });
app.enableShutdownHooks();
journal.write({ event: 'ready' });
