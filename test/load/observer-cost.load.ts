import { expect, test } from '@jest/globals';
import type { HandlingCost } from '../support/otel/handling-cost.js';
import { runProgram } from '../support/run-program.js';
import { Scene } from '../support/scene.js';

const MESSAGES = 10_000;
const ROUNDS = 9;

/** Processor time, µs. */
const MOST = 20;

const scene = new Scene();

test(`OpenTelemetry adds at most ${MOST} µs to a handled message, with its SDK and nothing exported`, async () => {
  const { plain, observed } = await runProgram<HandlingCost>('./otel/handling-cost.ts', {
    module: { connection: scene.url, prefix: scene.prefix },
    queue: scene.newQueue(),
    messages: MESSAGES,
    rounds: ROUNDS,
  });
  const added = observed - plain;
  console.log(
    `A handled message takes ${plain.toFixed(1)} µs, with OpenTelemetry ${observed.toFixed(1)} µs: ${added.toFixed(1)} µs more`,
  );
  expect(added).toBeGreaterThan(0);
  expect(added).toBeLessThanOrEqual(MOST);
});
