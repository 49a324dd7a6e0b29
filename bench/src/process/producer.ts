import { setTimeout as sleep } from 'node:timers/promises';
import type { Cost, Offer, Producer } from '../adapters/adapter.js';
import type { Delay, Messages, ProducerTasks, Schedule } from './tasks.js';

/** About a small order. The figures are about this size unless they say otherwise. */
const USUAL_BYTES = 200;
const LIST = 1000;
/** How large the lists are that fill a queue, and how many of them are under way. */
const QUICK = { size: LIST, lists: 4 };
/** A delay counts from the arrival of its list, so lists with due times must not wait for each other. */
const PRECISE = { size: 100, lists: 1 };
/** Calls under way for each of them where a system takes no lists. */
const FILLING_CALLS = 50;

/** Carries out the tasks of a producer process in the same way for every system. */
export class ProducerRunner implements ProducerTasks {
  #prepared: string[] = [];

  constructor(private readonly producer: Producer) {}

  offerOneByOne(work: Messages): Promise<Cost> {
    return this.offerInFlight({ ...work, inFlight: 1 });
  }

  offerInFlight({ count, inFlight, ...kind }: Messages & { inFlight: number }): Promise<Cost> {
    const make = offers(kind);
    const { offerAll } = this.producer;
    if (offerAll) return offerAll(list(make, count), inFlight);
    return measured(() => inParallel(count, inFlight, () => this.producer.offer(make())));
  }

  offerLists({ count, ...kind }: Messages): Promise<Cost | undefined> {
    const make = offers(kind);
    const { offerMany } = this.producer;
    if (!offerMany) return Promise.resolve(undefined);
    return measured(() => inParallel(count / LIST, 1, () => offerMany(list(make))));
  }

  fill({ count, due, ...kind }: Messages & { due?: Schedule }): Promise<Cost> {
    const make = offers(kind);
    const instants = due ? atRandomPlaces(due, count) : [];
    const makeAt = (i: number) => (instants[i] === undefined ? make() : offerAt(instants[i], kind.bytes));
    const { size, lists } = due ? PRECISE : QUICK;
    return measured(() =>
      inParallel(Math.ceil(count / size), lists, (i) => {
        const first = i * size;
        return this.#offerList(list((n) => makeAt(first + n), Math.min(size, count - first)));
      }),
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
    // Nobody cancels in the order of offers.
    shuffle(this.#prepared);
  }

  cancelPrepared({ inFlight }: { inFlight: number }): Promise<Cost | undefined> {
    const ids = this.#prepared;
    const { cancel } = this.producer;
    if (!cancel) return Promise.resolve(undefined);
    return measured(() => inParallel(ids.length, inFlight, (i) => cancel(ids[i]!)));
  }

  reschedulePrepared({ inFlight, delay }: { inFlight: number; delay: Delay }): Promise<Cost | undefined> {
    const ids = this.#prepared;
    const { reschedule } = this.producer;
    if (!reschedule) return Promise.resolve(undefined);
    return measured(() => inParallel(ids.length, inFlight, (i) => reschedule(ids[i]!, lengthOf(delay))));
  }

  async #offerList(offers: readonly Offer[]): Promise<void> {
    const { offerMany, offerAll } = this.producer;
    if (offerMany) await offerMany(offers);
    else await offerAll!(offers, FILLING_CALLS);
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

/** Text that brings the payload up to that size. */
function fillOf(bytes = USUAL_BYTES): string {
  return 'x'.repeat(Math.max(0, bytes - JSON.stringify({ due: Date.now(), fill: '' }).length));
}

function lengthOf(delay: Delay): number {
  return typeof delay === 'number' ? delay : Math.floor(delay.from + Math.random() * (delay.to - delay.from));
}

function list(make: (i: number) => Offer, length = LIST): Offer[] {
  return Array.from({ length }, (_, i) => make(i));
}

/** The scheduled instants, each at the index of its message; undefined for the other messages. */
function atRandomPlaces({ count, first, interval }: Schedule, messages: number): (number | undefined)[] {
  const instants = Array.from({ length: messages }, (_, i) => (i < count ? first + i * interval : undefined));
  shuffle(instants);
  return instants;
}

/** Does something `count` times, `width` of them at once. */
async function inParallel(count: number, width: number, work: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const line = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: Math.min(width, count) }, line));
}

async function measured(work: () => Promise<void>): Promise<Cost> {
  const start = performance.now();
  const cpuBefore = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(cpuBefore);
  return { took: performance.now() - start, cpu: user + system };
}

function shuffle(list: unknown[]): void {
  for (let i = list.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [list[i], list[j]] = [list[j], list[i]];
  }
}
