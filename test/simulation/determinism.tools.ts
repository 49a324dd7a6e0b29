import { expect, test } from '@jest/globals';
import type { RunOrder } from './command/run-order.js';
import { isFailure, runInProcess } from './command/run-in-process.js';

const ORDER: RunOrder = {
  ...{ seed: '7', messages: 12_000, processes: 3, isQuiet: false, kinds: undefined },
  ...{ without: [], only: undefined, goesOn: true },
};

async function digestOf(order: RunOrder): Promise<string> {
  const outcome = await runInProcess(order);
  if (isFailure(outcome)) throw new Error(`the run ${outcome.kind}: ${outcome.detail}`);
  // It would be easy to be deterministic if nothing happened.
  expect(outcome.lives).toBeGreaterThan(10_000);
  expect(Object.keys(outcome.faults).length).toBeGreaterThan(2);
  return outcome.digest;
}

test('runs with the same seed in two processes have the same digest, and another seed has a different one', async () => {
  const [one, same, other] = await Promise.all([ORDER, ORDER, { ...ORDER, seed: '9' }].map(digestOf));
  expect(same).toBe(one);
  expect(other).not.toBe(one);
});
