import { Worker } from 'node:worker_threads';
import { LONGEST } from './mutate.js';
import type { Found, WorkerOrder } from './run-order.js';

export interface FuzzResult {
  readonly found: readonly Found[];
  /** The inputs that were checked. */
  readonly done: number;
  readonly seconds: number;
}

/** An input takes microseconds, and one of a megabyte a second. The rest is for a machine that does something else. */
const PATIENCE = 60_000;
const MAX_HEAP_MB = 1024;
/** The number of the current input before there is one. */
const STARTING = -1;
/** One mistake may break very many inputs. */
const ENOUGH = 20;

/** Checks inputs in a thread of their own, which may hang, or run out of memory. */
export async function fuzz(order: Pick<WorkerOrder, 'seed' | 'inputs' | 'only'>): Promise<FuzzResult> {
  const shared = { input: new SharedArrayBuffer(LONGEST), state: new SharedArrayBuffer(8) };
  const state = new Int32Array(shared.state);
  Atomics.store(state, 0, STARTING);
  const found: Found[] = [];
  const current = (problem: string): Found => {
    const bytes = Buffer.from(Buffer.from(shared.input, 0, Atomics.load(state, 1)));
    return { target: '', input: bytes.toString('base64'), problem };
  };
  const worker = new Worker(new URL('./fuzz.worker.ts', import.meta.url), {
    workerData: { ...order, shared } satisfies WorkerOrder,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  const startedAt = performance.now();
  let [last, since] = [STARTING, startedAt];
  const watch = setInterval(() => {
    const at = Atomics.load(state, 0);
    if (at !== last) [last, since] = [at, performance.now()];
    else if (at !== STARTING && performance.now() - since > PATIENCE) {
      found.push(current('it hangs'));
      void worker.terminate();
    }
  }, 1000);
  await new Promise<void>((resolve) => {
    worker.on('message', (each: Found) => {
      found.push(each);
      if (found.length >= ENOUGH) void worker.terminate();
    });
    worker.on('error', (error) => found.push(current(String(error))));
    worker.on('exit', () => resolve());
  });
  clearInterval(watch);
  return { found, done: Math.max(0, Atomics.load(state, 0)), seconds: (performance.now() - startedAt) / 1000 };
}
