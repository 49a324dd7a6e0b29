import { expect, test } from '@jest/globals';
import type { HandlingCost } from '../support/otel/handling-cost.js';
import { runProgram } from '../support/run-program.js';
import { Scene } from '../support/scene.js';

const MESSAGES = 10_000;
const ROUNDS = 9;

/** Three to four is usual: besides the SDK there are the headers, the context of the handler, and what the observers are told. */
const MAX_FACTOR = 6;

const scene = new Scene();

test(`OpenTelemetry costs a handled message at most ${MAX_FACTOR} times what the SDK takes for a span and three measurements`, async () => {
  const { plain, observed, sdk } = await runProgram<HandlingCost>('./otel/handling-cost.ts', {
    module: { connection: scene.url, prefix: scene.prefix },
    queue: scene.newQueue(),
    messages: MESSAGES,
    rounds: ROUNDS,
  });
  const added = observed - plain;
  const show = (time: number) => `${time.toFixed(1)} µs`;
  console.log(
    `of the processor, a handled message takes ${show(plain)}, with OpenTelemetry ${show(observed)}: ${show(added)} more; ` +
      `the SDK alone ${show(sdk)}`,
  );
  expect(added).toBeGreaterThan(0);
  expect(added / sdk).toBeLessThanOrEqual(MAX_FACTOR);
});
