import { setTimeout as sleep } from 'node:timers/promises';
import type { Offer, Producer } from '../adapters/adapter.js';
import type { Delay, Duration, Messages, ProducerTasks } from './tasks.js';

/** As much as a small order: what the figures are about, unless they say otherwise. */
const USUAL_BYTES = 200;
const LIST = 1000;
/** Lists under way while a queue is filled. */
const FILLING = 4;

/** Carries out the tasks of a producer process, in the same way for every system. */
export class ProducerRunner implements ProducerTasks {
  #prepared: string[] = [];

  constructor(private readonly producer: Producer) {}

  offerOneByOne(work: Messages): Promise<Duration> {
    return this.offerInFlight({ ...work, inFlight: 1 });
  }

  offerInFlight({ count, inFlight, ...kind }: Messages & { inFlight: number }): Promise<Duration> {
    const make = offers(kind);
    return timed(() => inParallel(count, inFlight, () => this.producer.offer(make())));
  }

  offerLists({ count, ...kind }: Messages): Promise<Duration> {
    const make = offers(kind);
    return timed(() => inParallel(count / LIST, 1, () => this.producer.offerMany(list(make))));
  }

  async fill({ count, dueAt, ...kind }: Messages & { dueAt?: number }): Promise<void> {
    const make = offers(kind);
    const makeOne = () => (dueAt === undefined ? make() : offerAt(dueAt, kind.bytes));
    await inParallel(Math.ceil(count / LIST), FILLING, (i) =>
      this.producer.offerMany(list(makeOne, Math.min(LIST, count - i * LIST))),
    );
  }

  async offerAtRate({ rate, seconds, delay }: { rate: number; seconds: number; delay: number }) {
    const make = offers({ delay });
    const start = performance.now();
    const all = rate * seconds;
    const pending: Promise<unknown>[] = [];
    while (pending.length < all) {
      const due = Math.min(all, ((performance.now() - start) / 1000) * rate);
      while (pending.length < due) pending.push(this.producer.offer(make()));
      await sleep(1);
    }
    await Promise.all(pending);
    return { offered: all };
  }

  async offerFor({ seconds, inFlight, delay }: { seconds: number; inFlight: number; delay: number }) {
    const make = offers({ delay });
    const end = performance.now() + seconds * 1000;
    let offered = 0;
    const line = async () => {
      for (; performance.now() < end; offered++) await this.producer.offer(make());
    };
    await Promise.all(Array.from({ length: inFlight }, line));
    return { offered };
  }

  async prepare({ count, ...kind }: Messages): Promise<void> {
    const make = offers(kind);
    this.#prepared = [];
    await inParallel(count, LIST, async () => {
      this.#prepared.push(await this.producer.offer(make()));
    });
    shuffle(this.#prepared);
  }

  cancelPrepared({ inFlight }: { inFlight: number }): Promise<Duration> {
    const ids = this.#prepared;
    return timed(() => inParallel(ids.length, inFlight, (i) => this.producer.cancel(ids[i]!)));
  }

  reschedulePrepared({ inFlight, delay }: { inFlight: number; delay: Delay }): Promise<Duration | undefined> {
    const ids = this.#prepared;
    const { reschedule } = this.producer;
    if (!reschedule) return Promise.resolve(undefined);
    return timed(() => inParallel(ids.length, inFlight, (i) => reschedule(ids[i]!, lengthOf(delay))));
  }
}

/** Makes one offer after the other. */
function offers({ delay, bytes }: Omit<Messages, 'count'>): () => Offer {
  const fill = fillOf(bytes);
  return () => {
    const length = lengthOf(delay);
    return { payload: { due: Date.now() + length, fill }, delay: length };
  };
}

function offerAt(due: number, bytes?: number): Offer {
  return { payload: { due, fill: fillOf(bytes) }, delay: Math.max(0, due - Date.now()) };
}

/** What a payload lacks to be of that size. */
function fillOf(bytes = USUAL_BYTES): string {
  return 'x'.repeat(Math.max(0, bytes - JSON.stringify({ due: Date.now(), fill: '' }).length));
}

function lengthOf(delay: Delay): number {
  return typeof delay === 'number' ? delay : Math.floor(delay.from + Math.random() * (delay.to - delay.from));
}

function list(make: () => Offer, length = LIST): Offer[] {
  return Array.from({ length }, make);
}

/** Does something `count` times, `width` of them at once. */
async function inParallel(count: number, width: number, work: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const line = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: Math.min(width, count) }, line));
}

async function timed(work: () => Promise<void>): Promise<Duration> {
  const start = performance.now();
  const cpuBefore = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(cpuBefore);
  return { took: performance.now() - start, cpu: user + system };
}

/** Nobody cancels in the order of offers. */
function shuffle(list: unknown[]): void {
  for (let i = list.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [list[i], list[j]] = [list[j], list[i]];
  }
}
