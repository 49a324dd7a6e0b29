import type { AwayEvent, QueueRow } from './api.js';
import { type Call, readQuery } from './call.js';
import type { EventStream, EventStreams } from './event-streams.js';
import { Growth } from './growth.js';
import type { BoardInstance } from './instances.js';
import { badRequest, problemOf } from './problem.js';
import { readRows } from './queue-rows.js';

const INTERVAL = 2000;
const MAX_QUEUES = 200;

interface Subscriber {
  readonly stream: EventStream;
  readonly queues: readonly string[];
  /** The rows that it has got, as JSON. */
  readonly sent: Map<string, string>;
  isAway: boolean;
}

/** Sends the rows of one instance's queues to all who watch them. Each queue is read once, however many watch it. */
export class RowEvents {
  readonly #subscribers = new Set<Subscriber>();
  readonly #growth = new Growth();
  #isRunning = false;
  /** Set while Redis does not answer. */
  #away: AwayEvent | undefined;
  #wake: () => void = () => {};

  constructor(private readonly instance: BoardInstance) {}

  add(stream: EventStream, queues: readonly string[]): void {
    const subscriber: Subscriber = { stream, queues, sent: new Map(), isAway: false };
    this.#subscribers.add(subscriber);
    stream.onEnd(() => {
      this.#subscribers.delete(subscriber);
      if (this.#subscribers.size === 0) this.#wake();
    });
    if (this.#away) sendAway(subscriber, this.#away);
    this.#wake();
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#subscribers.size > 0) {
      await this.#tick();
      if (this.#subscribers.size > 0) await this.#pause();
    }
    this.#away = undefined;
    this.#isRunning = false;
  }

  /** Waits for the next turn, or for a new subscriber. */
  async #pause(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, INTERVAL).unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = () => {};
  }

  async #tick(): Promise<void> {
    const queues = [...new Set([...this.#subscribers].flatMap((subscriber) => subscriber.queues))];
    try {
      const { rows } = await readRows(this.instance, queues);
      const now = performance.now();
      const byName = new Map(rows.map((row) => [row.name, this.#growth.mark(row, now)]));
      this.#growth.prune(now);
      this.#away = undefined;
      for (const subscriber of this.#subscribers) sendRows(subscriber, byName);
    } catch (error) {
      const message = problemOf(error)?.message ?? 'The queues cannot be read.';
      this.#away = { message };
      for (const subscriber of this.#subscribers) sendAway(subscriber, this.#away);
    }
  }
}

/** Returns the handler of `GET …/events`. */
export function watchQueues(streams: EventStreams, events: ReadonlyMap<string, RowEvents>): (call: Call) => undefined {
  return ({ exchange, query, instance }) => {
    const { queues = '' } = readQuery(query, ['queues']);
    const names = [...new Set(queues.split(',').filter((name) => name !== ''))];
    if (names.length < 1 || names.length > MAX_QUEUES) {
      throw badRequest(`queues must have 1 to ${MAX_QUEUES} names of queues, with commas between them.`);
    }
    for (const name of names) {
      if (!/^[\w.:-]{1,128}$/.test(name)) throw badRequest(`queues: '${name}' is not the name of a queue.`);
    }
    events.get(instance.name)!.add(streams.open(exchange), names);
  };
}

function sendRows(subscriber: Subscriber, rows: ReadonlyMap<string, QueueRow>): void {
  const { stream, queues, sent } = subscriber;
  if (stream.isBehind) return;
  if (subscriber.isAway) stream.send('back', {});
  subscriber.isAway = false;
  const changed = queues.flatMap((queue) => {
    const row = rows.get(queue);
    const json = JSON.stringify(row);
    if (!row || sent.get(queue) === json) return [];
    sent.set(queue, json);
    return row;
  });
  if (changed.length > 0) stream.send('rows', changed);
}

function sendAway(subscriber: Subscriber, event: AwayEvent): void {
  if (subscriber.isAway || subscriber.stream.isBehind) return;
  subscriber.isAway = true;
  subscriber.stream.send('away', event);
}
