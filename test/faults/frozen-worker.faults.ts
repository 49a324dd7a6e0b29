import { describe, expect, test } from '@jest/globals';
import { Scene } from '../support/scene.js';
import { until } from '../support/until.js';
import type { Task } from '../support/worker/worker-settings.js';

const BATCH = 4;
/** One claim takes a batch that is full, and messages that wait for the next one. */
const MESSAGES = BATCH + 3;
/** Longer than a busy machine takes to freeze a process whose batch waits. */
const LEASE = 6000;
/** Shorter than the time after which a lease is extended: on thawing, the batch is due before anything else. */
const BATCH_WAIT = LEASE / 3 - 500;

describe('a worker that is frozen while messages wait for their batch', () => {
  const scene = new Scene();

  test('does not handle those messages after another worker has done so', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    const handler = { lease: LEASE, batch: BATCH, batchWait: BATCH_WAIT, concurrency: 2 };
    const frozen = await scene.startWorker({ queue, handler });
    const payload: Task = { do: 'work', ms: 1000, firstAttemptOnly: true };
    await producer.offerMany(
      queue,
      Array.from({ length: MESSAGES }, () => ({ payload, delay: 0 })),
    );
    await until(() => frozen.of('start').length === BATCH);
    // A second claim may take the messages that are to wait.
    await until(async () => (await producer.counts(queue)).active === MESSAGES);
    frozen.freeze();
    expect((await producer.counts(queue)).active).toBe(MESSAGES);
    const other = await scene.startWorker({ queue, handler });
    await until(() => other.of('end').length === MESSAGES, { within: 30_000 });
    await other.end('SIGTERM');

    frozen.thaw();
    // Its next message shows that it has continued.
    await producer.offer(queue, null, 0, { id: 'next' });
    await until(() => frozen.of('end').some(({ id }) => id === 'next'), { within: 30_000 });
    expect(frozen.of('start').slice(BATCH)).toMatchObject([{ id: 'next' }]);
    expect(other.of('start').every(({ attempt }) => attempt === 2)).toBe(true);
  });
});
