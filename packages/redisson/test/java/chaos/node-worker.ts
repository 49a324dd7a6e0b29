import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { QueueOptions } from '../../../../../lib/index.js';
import type { RedissonOptions } from '../../../src/index.js';
import { argumentsFor, ENVIRONMENT } from '../../../../../test/support/run-program.js';

const PROGRAM = new URL('./chaos-worker.ts', import.meta.url);

/** The settings of a worker. */
export interface WorkerOptions {
  readonly url: string;
  readonly queues: readonly string[];
  readonly inRedisson: RedissonOptions;
  readonly options: QueueOptions;
}

/** An order to offer messages. */
export interface Batch {
  readonly number: number;
  readonly queue: string;
  readonly values: readonly string[];
  readonly delay: number;
}

/** A report of a worker. */
export type WorkerLine =
  | { readonly event: 'ready' }
  | { readonly event: 'handled'; readonly queue: string; readonly value: string; readonly at: number }
  | { readonly event: 'offered'; readonly number: number }
  | { readonly event: 'refused'; readonly number: number; readonly problem: string };

type Handled = Extract<WorkerLine, { readonly event: 'handled' }>;

/** A Node process that offers and handles until it is killed. */
export class NodeWorker {
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;
  readonly #waiting = new Map<number, (isOffered: boolean) => void>();
  readonly #onHandled: (handled: Handled) => void;
  #ready: () => void = () => undefined;
  #batches = 0;

  private constructor(options: WorkerOptions, onHandled: (handled: Handled) => void) {
    this.#onHandled = onHandled;
    this.#child = spawn(process.execPath, [...argumentsFor(PROGRAM), JSON.stringify(options)], {
      env: ENVIRONMENT,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#child.stdin!.on('error', () => undefined);
    createInterface(this.#child.stdout!).on('line', (line) => this.#read(line));
    // The end of its output: every line has been read by then.
    this.#closed = once(this.#child, 'close').then(() => this.#abandon());
  }

  static async start(options: WorkerOptions, onHandled: (handled: Handled) => void): Promise<NodeWorker> {
    const worker = new NodeWorker(options, onHandled);
    const ready = new Promise<void>((resolve) => (worker.#ready = resolve));
    await Promise.race([ready, worker.#closed]);
    if (worker.#child.exitCode !== null) throw new Error('A Node worker did not start.');
    return worker;
  }

  /** @returns whether the offer is acknowledged; otherwise its outcome is unknown */
  offer(queue: string, values: readonly string[], delay: number): Promise<boolean> {
    const number = ++this.#batches;
    return new Promise((resolve) => {
      this.#waiting.set(number, resolve);
      this.#child.stdin!.write(`${JSON.stringify({ number, queue, values, delay } satisfies Batch)}\n`);
    });
  }

  async kill9(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#closed;
  }

  async end(): Promise<void> {
    this.#child.stdin!.end();
    await this.#closed;
  }

  #read(text: string): void {
    if (!text.startsWith('{"event"')) return console.error(text);
    const line = JSON.parse(text) as WorkerLine;
    if (line.event === 'ready') return this.#ready();
    if (line.event === 'handled') return this.#onHandled(line);
    this.#waiting.get(line.number)?.(line.event === 'offered');
    this.#waiting.delete(line.number);
  }

  #abandon(): void {
    for (const resolve of this.#waiting.values()) resolve(false);
    this.#waiting.clear();
  }
}
