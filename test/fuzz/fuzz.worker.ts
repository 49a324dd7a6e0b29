import { parentPort, workerData } from 'node:worker_threads';
import { memoryUsage } from 'node:process';
import { Random } from '../soak/random.js';
import { mutate } from './mutate.js';
import type { Found, WorkerOrder } from './run-order.js';
import { allTargets } from './targets/all-targets.js';

const { seed, inputs, only, shared } = workerData as WorkerOrder;
/** No input of at most a megabyte may take more, bytes. */
const MAX_MEMORY = 256 * 2 ** 20;
/** How often memory is measured, which takes longer than most inputs. */
const MEASURED = 1000;

const random = new Random(seed);
const targets = (await allTargets()).filter(({ name }) => only === '' || name === only);
if (targets.length === 0) throw new Error(`There is no target '${only}'`);
const bytes = Buffer.from(shared.input);
const state = new Int32Array(shared.state);
let before = memoryUsage().external;

for (let i = 0; i < inputs; i++) {
  const target = targets[i % targets.length]!;
  const input = mutate(random, target.samples);
  // For the other thread, in case that this one hangs or runs out of memory.
  input.copy(bytes);
  Atomics.store(state, 1, input.length);
  Atomics.store(state, 0, i);
  try {
    const checked = target.check(input);
    if (checked) await checked;
  } catch (error) {
    report({ target: target.name, input: input.toString('base64'), problem: String((error as Error).stack ?? error) });
  }
  if (i % MEASURED === 0) {
    const now = memoryUsage().external;
    if (now > before + MAX_MEMORY)
      report({ target: target.name, input: '', problem: `the last ${MEASURED} inputs took ${now - before} bytes` });
    before = now;
  }
}
Atomics.store(state, 0, inputs);

function report(found: Found): void {
  parentPort!.postMessage(found);
}
