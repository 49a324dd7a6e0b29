import { describe, expect, test } from '@jest/globals';
import type { DelayQueueProducer } from '../../lib/index.js';
import type { GroupOptions } from '../support/of-group.js';
import { offerInParts } from '../support/offer-in-parts.js';
import { Scene } from '../support/scene.js';
import { until } from '../support/until.js';
import type { WorkerProcess } from '../support/worker/worker-process.js';
import type { Task } from '../support/worker/worker-settings.js';

const GROUPS = 1000;
/** The number of messages of the largest group. */
const MAX_SIZE = 3000;
/** The number of messages that a process handles at once. */
const CONCURRENCY = 16;
const PROCESSES = 2;
/** A round is a message of each of the other groups; what the processes are about to begin comes before, whoever is next. */
const MAX_ROUNDS = 1.1;
/** The few messages that a process has claimed and begins late, because it has to wait for the processor, are overtaken by those of the other. */
const MAX_ROUNDS_OF_ONE = 1.5;
const UNDER_WAY = 4 * PROCESSES * CONCURRENCY;

const WORK: Task = { do: 'work', ms: 1 };

interface Run {
  readonly group: string;
  readonly from: number;
  readonly to: number;
}

/** From when a group has a message that may be handled until that message begins. */
interface Wait {
  readonly group: string;
  /** The number of messages of other groups that began in the meantime. */
  readonly others: number;
  /** The number of other groups that had messages then. */
  readonly ready: number;
}

describe(`${GROUPS} groups with power-law sizes and ${PROCESSES} processes`, () => {
  const scene = new Scene({});

  /** Offers all messages, group by group, and lets all of them fall due before the first one is handled. */
  async function offerAll(producer: DelayQueueProducer, queue: string): Promise<number> {
    const offers = Array.from({ length: GROUPS }, (_, i) => {
      const size = Math.max(1, Math.round(MAX_SIZE / (i + 1)));
      return Array.from({ length: size }, (_, j) => ({ id: `${i}-${j}`, payload: WORK, delay: 0, group: `${i}` }));
    }).flat();
    await producer.pause(queue);
    await offerInParts(producer, queue, offers);
    return offers.length;
  }

  async function handleAll(groups: GroupOptions): Promise<Run[]> {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false, queues: { [queue]: { groups } } } });
    const count = await offerAll(producer, queue);
    const handler = { groups, concurrency: CONCURRENCY };
    const start = () => scene.startWorker({ queue, handler, quiet: true });
    const workers = await Promise.all(Array.from({ length: PROCESSES }, start));
    await until(async () => (await producer.counts(queue)).ready === count, { within: 60_000, every: 50 });
    await producer.resume(queue);
    const handled = () => workers.reduce((sum, { entries }) => sum + entries.length - 1, 0);
    await until(() => handled() >= count, { within: 120_000, every: 50 });
    const shares = workers.map((worker) => worker.of('end').length);
    expect(Math.min(...shares)).toBeGreaterThan(0);
    return runsOf(workers);
  }

  test.each<[GroupOptions['concurrency'], 'from' | 'to']>([
    // The next message of a group has to wait for the one before it.
    [1, 'to'],
    ['unlimited', 'from'],
  ])(
    'handle the next message of a group after about one message of each other ready group, with a concurrency of %s',
    async (concurrency, since) => {
      const runs = await handleAll({ concurrency });
      const waits = waitsOf(runs, since);
      const beyond = ({ others, ready }: Wait) => others - MAX_ROUNDS_OF_ONE * ready;
      const worst = waits.reduce((a, b) => (beyond(b) > beyond(a) ? b : a));
      const ofMany = waits.filter(({ ready }) => ready >= GROUPS / 4);
      const rounds = ofMany.map(({ others, ready }) => others / ready).sort((a, b) => a - b);
      const at = (share: number) => rounds[Math.min(rounds.length - 1, Math.floor(rounds.length * share))]!;
      const [p50, p99, most] = [at(0.5), at(0.99), at(1)].map((number) => number.toFixed(2));
      console.log(
        `concurrency ${concurrency}: ${runs.length} messages, ${ofMany.length} waits while a quarter of the groups was ready: ` +
          `p50 ${p50}, p99 ${p99}, at most ${most} rounds; the longest of all: ${worst.others} others while ` +
          `${worst.ready} groups were ready`,
      );
      expect(ofMany.length).toBeGreaterThan(GROUPS);
      expect(at(0.99)).toBeLessThanOrEqual(MAX_ROUNDS);
      expect(beyond(worst)).toBeLessThanOrEqual(UNDER_WAY);
    },
    300_000,
  );
});

/** In the order of their beginnings. */
function runsOf(workers: readonly WorkerProcess[]): Run[] {
  const ends = workers.flatMap((worker) => worker.of('end'));
  return ends
    .map(({ id, startedAt, endedAt }) => ({ group: id.split('-')[0]!, from: startedAt, to: endedAt }))
    .sort((a, b) => a.from - b.from);
}

/** @param since - whether the next message of a group may begin with the one before it, or when that has ended */
function waitsOf(runs: readonly Run[], since: 'from' | 'to'): Wait[] {
  const starts = runs.map(({ from }) => from);
  const lastOf = new Map(runs.map(({ group, from }) => [group, from]));
  const lasts = [...lastOf.values()].sort((a, b) => a - b);
  const before = new Map<string, Run>();
  return runs.map((run) => {
    const { group, from } = run;
    const last = before.get(group);
    before.set(group, run);
    const waitsSince = last?.[since] ?? -Infinity;
    // Without what was begun in its first or last millisecond: nobody knows what came before.
    const others = Math.max(0, countBelow(starts, from) - countBelow(starts, waitsSince + 1));
    return { group, others, ready: lasts.length - countBelow(lasts, waitsSince) - 1 };
  });
}

/** Counts the numbers of a sorted list that are less than `limit`. */
function countBelow(sorted: readonly number[], limit: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
