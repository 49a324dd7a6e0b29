/** The process that {@link OurContestant} drives: a Nest application for one queue at a time. */
import 'reflect-metadata';
import type { DelayQueueModuleOptions } from '../../../lib/index.js';
import { Latch } from '../../support/latch.js';
import { handlerOf, startTestApp, type TestApp } from '../../support/test-app.js';
import type { Contestant, Handled, Schedule } from './contestant.js';
import { indexOf, OFFER_DELAY, payloadOf, payloads, randomDelay } from './messages.js';
import type { Answer, Request, Task } from './ours.protocol.js';

const CONCURRENCY = 100;
const PRELOAD_BATCH = 5000;
const RESCHEDULES_AT_ONCE = 100;

class Program implements Pick<Contestant, Task> {
  #app: TestApp | undefined;
  #handled: Handled[] = [];
  #wanted: { readonly count: number; readonly come: Latch } | undefined;

  constructor(private readonly connection: string) {}

  async preload(queue: string, count: number): Promise<void> {
    const { producer, close } = await startTestApp(this.#options(queue));
    for (let from = 0; from < count; from += PRELOAD_BATCH) {
      const indexes = Array.from({ length: Math.min(PRELOAD_BATCH, count - from) }, (_, i) => from + i);
      const offers = indexes.map((i) => ({ id: String(i), payload: payloadOf(i), delay: randomDelay() }));
      await producer.offerMany(queue, offers);
    }
    await close();
  }

  async open(queue: string): Promise<void> {
    this.#handled = [];
    const handler = handlerOf<string>(queue, (payload, { dueAt }) => this.#note(indexOf(payload), dueAt), {
      concurrency: CONCURRENCY,
    });
    this.#app = await startTestApp(this.#options(queue), { providers: [handler] });
  }

  async offer(queue: string, count: number, callers: number): Promise<number> {
    const { producer } = this.#app!;
    const values = payloads(count);
    let next = 0;
    const call = async () => {
      while (next < count) await producer.offer(queue, values[next++], OFFER_DELAY);
    };
    const start = performance.now();
    await Promise.all(Array.from({ length: callers }, call));
    return performance.now() - start;
  }

  async handle(_queue: string, count: number, until: number): Promise<Handled[]> {
    const come = new Latch();
    this.#wanted = { count, come };
    const timer = setTimeout(() => come.open(), until - Date.now());
    if (this.#handled.length >= count) come.open();
    await come.opened;
    clearTimeout(timer);
    return this.#handled;
  }

  async schedule(queue: string, schedule: Schedule): Promise<void> {
    const { producer } = this.#app!;
    for (let from = 0; from < schedule.length; from += RESCHEDULES_AT_ONCE) {
      const some = schedule.slice(from, from + RESCHEDULES_AT_ONCE);
      const moves = some.map(([index, due]) => producer.reschedule(queue, String(index), due - Date.now()));
      await Promise.all(moves);
    }
  }

  async close(): Promise<void> {
    await this.#app!.close();
  }

  #note(index: number, dueAt: Date): void {
    this.#handled.push({ index, due: dueAt.getTime(), at: Date.now() });
    if (this.#handled.length === this.#wanted?.count) this.#wanted.come.open();
  }

  #options(queue: string): DelayQueueModuleOptions {
    return { connection: this.connection, queues: { [queue]: { layout: 'redisson', codec: 'string' } } };
  }
}

const program = new Program(process.argv[2]!);
const send = (answer: Answer) => process.send!(answer);

async function answer({ id, task, args }: Request): Promise<void> {
  try {
    const method = program[task] as (...args: readonly unknown[]) => Promise<unknown>;
    send({ id, result: await method.apply(program, [...args]) });
  } catch (error) {
    send({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}

process.on('message', (request: Request) => void answer(request));
// The parent is gone: nobody is left to work for.
process.on('disconnect', () => process.exit());
send({ id: 'ready' });
