import { describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DelayQueueProducer } from '../../lib/index.js';
import type { GroupOptions } from '../support/of-group.js';
import { offerInParts } from '../support/offer-in-parts.js';
import { Scene } from '../support/scene.js';
import { until } from '../support/until.js';
import type { WorkerProcess } from '../support/worker/worker-process.js';
import type { Task } from '../support/worker/worker-settings.js';

/** The number of ready messages of the large group. */
const BACKLOG = Number(process.env.GROUP_BACKLOG ?? 100_000);
const SMALL_GROUPS = 200;
/** Messages of small groups in each measurement, and how many each second. */
const MESSAGES = 1000;
const RATE = 200;
/** The number of messages that the process handles at once: without round-robin, the backlog would precede the others for a minute. */
const CONCURRENCY = 32;
const WORK: Task = { do: 'work', ms: 10 };
/** The maximum delay of messages of other groups because of the backlog, ms at p99, and in the median. */
const MAX_DELAY = 50;
const MAX_MEDIAN_DELAY = 25;
/** The backlog causes its delays in every round, a busy machine does not. */
const ROUNDS = 3;

/** Where messages are offered, and what their ids begin with. */
interface Place {
  readonly queue: string;
  readonly round: string;
}

interface Lateness {
  /** ms. */
  readonly p50: number;
  readonly p99: number;
}

const isSmall = ({ p50, p99 }: Lateness) => p50 <= MAX_MEDIAN_DELAY && p99 <= MAX_DELAY;

describe(`a group with ${BACKLOG.toLocaleString('en')} ready messages`, () => {
  const scene = new Scene({});

  async function offerSteadily(producer: DelayQueueProducer, { queue, round }: Place): Promise<void> {
    const start = performance.now();
    const offers: Promise<unknown>[] = [];
    for (let i = 0; i < MESSAGES; i++) {
      const wait = start + (i * 1000) / RATE - performance.now();
      if (wait > 1) await sleep(wait);
      const options = { id: `${round}-${i}`, group: `small-${i % SMALL_GROUPS}` };
      offers.push(producer.offer(queue, WORK, 200, options));
    }
    await Promise.all(offers);
  }

  /** How late the messages of small groups begin. */
  async function measure(producer: DelayQueueProducer, worker: WorkerProcess, at: Place): Promise<Lateness> {
    const { round } = at;
    await offerSteadily(producer, at);
    const ends = () => worker.of('end').filter(({ id }) => id.startsWith(`${round}-`));
    await until(() => ends().length === MESSAGES, { within: 60_000, every: 100 });
    const late = ends()
      .map((end) => end.late)
      .sort((a, b) => a - b);
    return { p50: late[late.length >> 1]!, p99: late[Math.floor(late.length * 0.99)]! };
  }

  async function fill(producer: DelayQueueProducer, queue: string): Promise<void> {
    await producer.pause(queue);
    const messages = Array.from({ length: BACKLOG }, () => ({ payload: WORK, delay: 0, group: 'large' }));
    await offerInParts(producer, queue, messages);
    await until(async () => (await producer.counts(queue)).ready === BACKLOG, { within: 300_000, every: 100 });
    await producer.resume(queue);
  }

  test.each<GroupOptions['concurrency']>([1, 'unlimited'])(
    `delays messages of other groups by at most ${MAX_DELAY} ms (p99), with a concurrency of %s`,
    async (concurrency) => {
      const queue = scene.newQueue();
      const groups: GroupOptions = { concurrency };
      const { producer } = await scene.startApp({ module: { consume: false, queues: { [queue]: { groups } } } });
      const worker = await scene.startWorker({ queue, handler: { groups, concurrency: CONCURRENCY }, quiet: true });
      const delays: Lateness[] = [];
      while (delays.length < ROUNDS && !delays.some(isSmall)) {
        const without = await measure(producer, worker, { queue, round: `without${delays.length}` });
        await fill(producer, queue);
        const beside = await measure(producer, worker, { queue, round: `beside${delays.length}` });
        const { ready } = await producer.counts(queue);
        await producer.clear(queue);
        const show = ({ p50, p99 }: Lateness) => `p50 ${p50}, p99 ${p99} ms late`;
        console.log(
          `concurrency ${concurrency}: alone ${show(without)}; beside ${BACKLOG} to ${ready} ready messages ${show(beside)}`,
        );
        // The backlog was there all the time.
        expect(ready).toBeGreaterThan(BACKLOG / 10);
        delays.push({ p50: beside.p50 - without.p50, p99: beside.p99 - without.p99 });
      }
      expect(Math.min(...delays.map(({ p50 }) => p50))).toBeLessThanOrEqual(MAX_MEDIAN_DELAY);
      expect(Math.min(...delays.map(({ p99 }) => p99))).toBeLessThanOrEqual(MAX_DELAY);
    },
    900_000,
  );
});
