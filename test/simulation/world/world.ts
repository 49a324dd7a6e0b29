import { chanceOf, type Chance } from './chance.js';
import type { SimulatedProcess } from './simulated-process.js';

/** Something that happens at an instant of the world. */
export interface WorldEvent {
  /** ms. */
  at: number;
  /** Orders what happens at the same instant. */
  seq: number;
  /** Whose code runs; undefined: the server's, or that of the world itself. */
  readonly process: SimulatedProcess | undefined;
  /** The time at which a timer is due on the clock of its process, which may run at another speed, or stand still meanwhile. */
  readonly clockAt: number | undefined;
  /** True if it keeps its place among those planned for the same instant when it is put off. */
  readonly keepsPlace: boolean;
  /** Undefined: cancelled. */
  task: (() => void) | undefined;
}

/**
 * Runs all pending ticks and promises, so that a turn of the event loop is one call. Node.js does not document it: the simulation's
 * first step proves that it works.
 */
const runPendingPromises = (process as unknown as { _tickCallback(): void })._tickCallback.bind(process);

/** The event queue of everything there is: things happen one after the other, in virtual time. */
export class World {
  /** ms since the start. */
  now = 0;
  /** The date at the start, ms since 1970. */
  readonly epoch = Date.UTC(2030, 0, 7, 8);
  /** Whose code runs; undefined: the server's, or that of the world itself. */
  current: SimulatedProcess | undefined;
  /** The number of events that have taken place. */
  events = 0;
  readonly #heap: WorldEvent[] = [];
  #seq = 0;

  constructor(readonly seed: string) {
    let hasRun = false;
    void Promise.resolve().then(() => (hasRun = true));
    runPendingPromises();
    if (!hasRun)
      throw new Error('This version of Node.js has no way to run pending promises: the simulation needs one.');
  }

  /** A stream of its own for each purpose, so that one more draw here does not change everything there. */
  chance(purpose: string): Chance {
    return chanceOf(`${this.seed}/${purpose}`);
  }

  /** Has something happen at an instant, or now if that has passed. */
  at(at: number, task: () => void, process?: SimulatedProcess, clockAt?: number): WorldEvent {
    const event = { at: Math.max(at, this.now), seq: this.#seq++, process, clockAt, keepsPlace: false, task };
    this.#push(event);
    return event;
  }

  /** Has something happen when a process's current turn has ended, `pause` ms later. Immediates run in the order in which they were set. */
  afterTurn(pause: number, task: () => void, process: SimulatedProcess | undefined): WorldEvent {
    const at = (process?.now ?? this.now) + pause;
    const event = { at, seq: this.#seq++, process, clockAt: undefined, keepsPlace: true, task };
    this.#push(event);
    return event;
  }

  /** Has something happen after so many ms. */
  after(delay: number, task: () => void, process?: SimulatedProcess): WorldEvent {
    return this.at(this.now + delay, task, process);
  }

  /** Lets the next event take place. @returns whether there was one */
  step(): boolean {
    const event = this.#pop();
    if (!event) return false;
    const { process, task } = event;
    if (!task || process?.isDead) return true;
    this.now = event.at;
    if (process && !process.isAwakeFor(event)) return true;
    this.events++;
    this.current = process;
    task();
    runPendingPromises();
    this.current = undefined;
    return true;
  }

  /** Puts an event off, in most cases behind those that are planned for the same instant. */
  postpone(event: WorldEvent, at: number): void {
    event.at = at;
    if (!event.keepsPlace) event.seq = this.#seq++;
    this.#push(event);
  }

  #push(event: WorldEvent): void {
    const heap = this.#heap;
    let i = heap.length;
    heap.push(event);
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (!isBefore(event, heap[parent]!)) break;
      heap[i] = heap[parent]!;
      i = parent;
    }
    heap[i] = event;
  }

  #pop(): WorldEvent | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (!first || !last || heap.length === 0) return first;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!isBefore(heap[child]!, last)) break;
      heap[i] = heap[child]!;
      i = child;
    }
    heap[i] = last;
    return first;
  }
}

const isBefore = (one: WorldEvent, other: WorldEvent) =>
  one.at < other.at || (one.at === other.at && one.seq < other.seq);

export function cancel(event: WorldEvent): void {
  event.task = undefined;
}
