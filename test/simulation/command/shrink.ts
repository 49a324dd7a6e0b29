import { commandOf, type RunOrder, type RunReport } from './run-order.js';
import { isFailure, type RunOutcome } from './run-in-process.js';

export interface ShrinkOptions {
  /** A run that breaks a promise. */
  readonly order: RunOrder;
  readonly report: RunReport;
  /** The number of runs at a time. */
  readonly jobs: number;
  readonly run: (order: RunOrder, signal: AbortSignal) => Promise<RunOutcome>;
  /** Called with a line about each step. */
  readonly say: (line: string) => void;
  readonly limits: ShrinkLimits;
}

export interface ShrinkLimits {
  readonly runs: number;
  /** ms of real time. */
  readonly time: number;
}

/** A small case, and what comes of it. */
export interface Shrunk {
  readonly order: RunOrder;
  readonly report: RunReport;
}

/** Looks for a small case that breaks the same promise: with few faults, processes and messages. */
export async function shrink(options: ShrinkOptions): Promise<Shrunk> {
  const shrinking = new Shrinking(options);
  await shrinking.run();
  return shrinking.smallest;
}

class Shrinking {
  smallest: Shrunk;
  readonly #promise: string;
  readonly #startedAt = performance.now();
  #runs = 0;

  constructor(private readonly options: ShrinkOptions) {
    const { order, report } = options;
    this.smallest = { order: { ...order, goesOn: false }, report };
    this.#promise = report.violations[0]!.promise;
  }

  async run(): Promise<void> {
    const { say } = this.options;
    say(`shrinks a case that breaks "${this.#promise}"`);
    // Nothing that was offered later can matter.
    await this.#try([{ ...this.smallest.order, messages: this.smallest.report.offered }], 'without later messages');
    await this.#dropProcesses();
    await this.#dropFaults();
    if (await this.#dropProcesses()) await this.#dropFaults();
    await this.#dropMessages();
    if (this.#isSpent) say(`gives up after ${this.#runs} runs, ${this.#seconds} s: a smaller case may exist`);
    const { order, report } = this.smallest;
    say(`smallest after ${this.#runs} runs, ${this.#seconds} s: ${sizeOf(order, report)}`);
    say(commandOf(order));
  }

  /** Delta debugging: leaves out ever smaller parts of the faults. */
  async #dropFaults(): Promise<void> {
    const { order: whole } = this.smallest;
    // Otherwise faults that had not happened yet might take part in smaller cases.
    if (whole.kinds?.length === 0 || (await this.#try([{ ...whole, kinds: [], ...ALL }], 'without faults'))) return;
    // Up to the violation, the run is the same without those that came later.
    this.smallest = { ...this.smallest, order: { ...whole, ...ALL, only: this.#faults } };
    let parts = 2;
    while (this.#faults.length > 1 && !this.#isSpent) {
      const faults = this.#faults;
      const pieces = split(faults, parts);
      const rests = pieces.map((piece) => faults.filter((fault) => !piece.includes(fault)));
      // The latest faults are the most likely cause.
      const candidates = (parts > 2 ? [...pieces, ...rests] : rests).reverse();
      const orders = candidates.map((only) => ({ ...this.smallest.order, only }));
      if (await this.#try(orders, 'fewer faults')) parts = Math.max(2, Math.min(parts - 1, this.#faults.length));
      else if (parts >= faults.length) return;
      else parts = Math.min(2 * parts, faults.length);
    }
  }

  /** @returns whether fewer processes do */
  #dropProcesses(): Promise<boolean> {
    const { processes } = this.smallest.report;
    const fewer = Array.from({ length: processes - 1 }, (_, i) => ({ ...this.smallest.order, processes: i + 1 }));
    return this.#try(fewer, 'fewer processes');
  }

  async #dropMessages(): Promise<void> {
    for (const share of [0.1, 0.5, 0.8, 0.95]) {
      for (;;) {
        const { order } = this.smallest;
        const messages = Math.floor(order.messages * share);
        if (messages < 1 || !(await this.#try([{ ...order, messages }], 'fewer messages'))) break;
      }
    }
  }

  /** The faults of the smallest failing run so far. */
  get #faults(): readonly number[] {
    return this.smallest.report.faultNumbers;
  }

  get #isSpent(): boolean {
    const { runs, time } = this.options.limits;
    return this.#runs >= runs || performance.now() - this.#startedAt > time;
  }

  get #seconds(): string {
    return ((performance.now() - this.#startedAt) / 1000).toFixed(0);
  }

  /** Takes the first of some cases that breaks the promise. @returns whether one does */
  async #try(orders: readonly RunOrder[], step: string): Promise<boolean> {
    const { jobs, run } = this.options;
    for (let i = 0; i < orders.length && !this.#isSpent; i += jobs) {
      const some = orders.slice(i, i + jobs);
      this.#runs += some.length;
      const end = new AbortController();
      const outcomes = some.map((order) => run(order, end.signal));
      const all = Promise.allSettled(outcomes);
      // Later ones than the first that fails do not matter.
      for (const [at, outcome] of outcomes.entries()) {
        const report = await outcome;
        if (isFailure(report) || report.violations[0]?.promise !== this.#promise) continue;
        end.abort();
        await all;
        this.smallest = { order: some[at]!, report };
        this.options.say(`${step}: ${sizeOf(some[at]!, report)}`);
        return true;
      }
    }
    this.options.say(`${step}: no, after ${this.#runs} runs`);
    return false;
  }
}

function sizeOf({ messages }: RunOrder, { faultNumbers, processes, violations }: RunReport): string {
  const faults = faultNumbers.length === 1 ? `fault ${faultNumbers[0]}` : `${faultNumbers.length} faults`;
  const of = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`;
  const size = `${of(processes, 'process', 'processes')}, ${of(messages, 'message', 'messages')}`;
  return `${faults}, ${size}, fails at ${(violations[0]!.at / 1000).toFixed(3)} s`;
}

/** No fault is left out by its number. */
const ALL = { without: [], only: undefined } as const;

function split<Item>(items: readonly Item[], parts: number): Item[][] {
  const size = Math.ceil(items.length / parts);
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
}
