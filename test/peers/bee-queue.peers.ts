import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { Latch } from '../support/latch.js';
import { randomName } from '../support/random-name.js';
import { until } from '../support/until.js';
import { type BeeQueue, connection, loadBeeQueue, setClockForward } from './peers.js';

const HOUR = 3_600_000;

const Bee = loadBeeQueue();
const open: BeeQueue[] = [];

function openQueue(settings: object = {}): BeeQueue {
  const queue = new Bee(randomName('bee'), { redis: connection(), ...settings });
  open.push(queue);
  return queue;
}

afterEach(async () => {
  jest.restoreAllMocks();
  for (const each of open.splice(0)) await each.close();
});

describe('a bee-queue job', () => {
  test('falls due only where a queue activates delayed jobs, by the clock of that process', async () => {
    expect(openQueue().settings.activateDelayedJobs).toBe(false);
    const queue = openQueue({ activateDelayedJobs: true });
    await queue
      .createJob({})
      .delayUntil(Date.now() + HOUR)
      .save();
    const done = new Latch();
    setClockForward(2 * HOUR);
    queue.process(() => Promise.resolve(done.open()));
    await expect(done.opened).resolves.toBeUndefined();
  });

  test('is removed by id', async () => {
    const queue = openQueue({ isWorker: false });
    const { id } = await queue
      .createJob({})
      .delayUntil(Date.now() + HOUR)
      .save();
    await queue.removeJob(id);
    expect(await queue.getJob(id)).toBeNull();
  });

  test('is retried, and is kept as failed once its retries are used up', async () => {
    const queue = openQueue();
    const handler = jest.fn<() => Promise<void>>().mockRejectedValue(new Error('no'));
    queue.process(handler);
    await queue.createJob({}).retries(1).save();
    await until(async () => (await queue.checkHealth()).failed === 1);
    expect(handler).toHaveBeenCalledTimes(2);
  });
});
