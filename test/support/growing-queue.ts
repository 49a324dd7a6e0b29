import { setTimeout as sleep } from 'node:timers/promises';
import type { DelayQueueModuleOptions, DelayQueueProducer } from '../../lib/index.js';
import type { OnDuplicate } from '../../lib/store/producer-store.js';
import { Handled } from './handled.js';
import { isEmpty } from './is-empty.js';
import { handlerOf, startTestApp, type TestApp } from './test-app.js';
import { until } from './until.js';

const ON_DUPLICATE: readonly OnDuplicate[] = ['keep', 'reject', 'replace'];

/** The outcome for the messages of a queue whose partitions grew. */
export interface GrowthResult {
  readonly offers: number;
  readonly handled: number;
  /** Ids that were created more often than they were handled or cancelled. */
  readonly lost: readonly string[];
  /** Ids that were handled or cancelled more often than they were created, or replaced while a handler held them. */
  readonly tooMany: readonly string[];
  /** The number of payloads that were handled again. */
  readonly twice: number;
  readonly errors: readonly unknown[];
}

/**
 * A queue whose number of partitions grows while two processes offer, cancel, reschedule and find messages, and others handle them.
 * A message with one of the few own ids is created again and again.
 */
export class GrowingQueue {
  readonly #handled = new Handled();
  readonly #apps: TestApp[] = [];
  readonly #errors: unknown[] = [];
  /** For each id, how often it was created, less how often it was cancelled. */
  readonly #expected = new Map<string, number>();
  /** For each id, how often an offer has replaced it: what is replaced while a handler holds it is handled all the same. */
  readonly #replaced = new Map<string, number>();
  #offers = 0;
  #isOver = false;

  constructor(
    private readonly queue: string,
    private readonly module: DelayQueueModuleOptions,
  ) {}

  /**
   * @param numbers - of partitions, one after the other
   * @param each - how long each of them lasts, ms
   */
  async run(numbers: readonly number[], each: number): Promise<GrowthResult> {
    const [first = 1, ...later] = numbers;
    await this.#start(first, true);
    const producers = [await this.#start(first, false), await this.#start(1, false)];
    const traffic = producers.map((producer, i) => this.#use(producer, `${i}`));
    for (const number of later) {
      await sleep(each);
      // A process with handlers, which stays, and one that only offers.
      await this.#start(number, number % 3 === 1);
    }
    await sleep(each);
    this.#isOver = true;
    await Promise.all(traffic);
    await until(() => isEmpty(producers[0]!, this.queue), { within: 20_000 });
    return this.#judge();
  }

  close(): Promise<unknown> {
    return Promise.all(this.#apps.map((app) => app.close()));
  }

  async #start(partitions: number, handles: boolean): Promise<DelayQueueProducer> {
    const options = { ...this.module, queues: { [this.queue]: { partitions } } };
    const app = await startTestApp(options, {
      providers: handles ? [handlerOf(this.queue, this.#handled.record)] : [],
    });
    this.#apps.push(app);
    // One that does not handle agrees at its first call.
    await app.producer.counts(this.queue);
    return app.producer;
  }

  async #use(producer: DelayQueueProducer, name: string): Promise<void> {
    for (let turn = 0; !this.#isOver; turn++) {
      await Promise.all(Array.from({ length: 8 }, (_, i) => this.#step(producer, `${name}-${turn}-${i}`)));
    }
  }

  async #step(producer: DelayQueueProducer, payload: string): Promise<void> {
    const { queue } = this;
    const chance = Math.random();
    const id = `own-${Math.floor(Math.random() * 200)}`;
    const delay = Math.floor(Math.random() * 300);
    try {
      if (chance < 0.4) {
        const onDuplicate = ON_DUPLICATE[Math.floor(Math.random() * 3)]!;
        const result = await producer.offer(queue, payload, delay, { id, onDuplicate });
        this.#note(result);
        if (onDuplicate === 'replace' && !result.created) add(this.#replaced, id, 1);
      } else if (chance < 0.5) {
        const list = Array.from({ length: 5 }, (_, i) => ({ payload: `${payload}-${i}`, delay }));
        for (const result of await producer.offerMany(queue, list)) this.#note(result);
      } else if (chance < 0.7) this.#note(await producer.offer(queue, payload, delay));
      else if (chance < 0.85) await this.#cancel(producer, id);
      else if (chance < 0.95) await producer.reschedule(queue, id, delay);
      else await producer.find(queue, id);
    } catch (error) {
      if ((error as { code?: string }).code !== 'DUPLICATE_MESSAGE') this.#errors.push(error);
    }
  }

  #note({ id, created }: { readonly id: string; readonly created: boolean }): void {
    this.#offers++;
    add(this.#expected, id, Number(created));
  }

  async #cancel(producer: DelayQueueProducer, id: string): Promise<void> {
    if (await producer.cancel(this.queue, id)) add(this.#expected, id, -1);
  }

  #judge(): GrowthResult {
    const { calls, ids, payloads } = this.#handled;
    const handled = new Map<string, number>();
    for (const id of ids) add(handled, id, 1);
    const all = [...new Set([...this.#expected.keys(), ...handled.keys()])];
    const surplus = (id: string) => (handled.get(id) ?? 0) - (this.#expected.get(id) ?? 0);
    return {
      offers: this.#offers,
      handled: calls.length,
      lost: all.filter((id) => surplus(id) < 0),
      tooMany: all.filter((id) => surplus(id) > (this.#replaced.get(id) ?? 0)),
      twice: payloads.length - new Set(payloads).size,
      errors: this.#errors,
    };
  }
}

function add(counts: Map<string, number>, id: string, count: number): void {
  counts.set(id, (counts.get(id) ?? 0) + count);
}
