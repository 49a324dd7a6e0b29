import { describe, expect, it } from '@jest/globals';
import { DelayQueueError } from '../../lib/message/delay-queue-errors.js';
import { MemoryMessageStore } from '../../lib/store/memory/memory-store.js';
import type { Reach } from '../../lib/redis/connection/redis-connection.js';
import { PatientReading, type Reached } from '../../lib/partitions/patient-reading.js';
import { FixedPartitions } from '../../lib/partitions/fixed-partitions.js';
import { PartitionRouter, stickyIds } from '../../lib/partitions/partition-router.js';
import { ManualClock } from '../support/manual-clock.js';

const LIMITS = { attempts: 3, maxDeadLetters: 10, maxMessages: null };
const notConnected = () => new DelayQueueError('NOT_CONNECTED', 'Redis is not reachable.');

/** A read of several partitions, each of which answers after the given time in ms, or fails. */
function readOf(partitions: readonly (number | Error)[], reaches: readonly Reach[] = []) {
  const clock = new ManualClock();
  const asked: number[] = [];
  const stores = partitions.map((behaviour, partition) => {
    const store = new MemoryMessageStore({ limits: LIMITS, clock });
    const status = store.status.bind(store);
    store.status = () => {
      asked.push(partition);
      return new Promise((resolve, reject) => {
        if (behaviour instanceof Error) reject(behaviour);
        else if (behaviour === 0) resolve(status());
        else clock.schedule(() => resolve(status()), behaviour);
      });
    };
    return store;
  });
  const reading = new PatientReading(stores, { clock, reachOf: (partition) => reaches[partition] ?? 'ready' });
  return { clock, asked, reading, answers: reading.all((store) => store.status()) };
}

describe('a read of several partitions', () => {
  it('skips partitions that have not responded for half a second, if others have', async () => {
    const { clock, reading, answers } = readOf([0, 10_000, 400]);
    await clock.advance(499);
    expect(reading.missing).toEqual([]);
    await clock.advance(1);
    expect(await answers).toHaveLength(2);
    expect(reading.missing).toEqual([1]);
  });

  it('does not ask a partition whose connection is lost, and waits only briefly for an unresponsive one', async () => {
    const { clock, asked, reading, answers } = readOf([0, 10_000, 10_000], ['ready', 'lost', 'silent']);
    await clock.advance(50);
    expect(await answers).toHaveLength(1);
    expect(reading.missing).toEqual([1, 2]);
    expect(asked).toEqual([0, 2]);
  });

  it('waits as long as necessary if all partitions are slow', async () => {
    const { clock, reading, answers } = readOf([3000, 3000, 3000]);
    await clock.advance(3000);
    expect(await answers).toHaveLength(3);
    expect(reading.missing).toEqual([]);
  });

  it.each([{ reaches: [] }, { reaches: ['lost', 'lost', 'lost'] as const }])(
    'fails if no partition responds ($reaches)',
    async ({ reaches }) => {
      const { answers } = readOf([notConnected(), notConnected(), notConnected()], reaches);
      await expect(answers).rejects.toMatchObject({ code: 'NOT_CONNECTED', message: 'Redis is not reachable.' });
    },
  );

  it('reports whether it has asked all partitions', async () => {
    const noted: Reached[] = [];
    const { reading, answers } = readOf([0, notConnected(), 0]);
    await answers;
    const note = (reached: Reached) => void noted.push(reached);
    const part = new PatientReading(reading.stores, { clock: new ManualClock(), reachOf: () => 'ready', note });
    await part.one(0, (store) => store.status());
    part.end();
    const whole = new PatientReading(reading.stores, { clock: new ManualClock(), reachOf: () => 'ready', note });
    await whole.all((store) => store.status());
    whole.end();
    expect(noted).toEqual([
      { missing: [], hasAskedAll: false },
      { missing: [1], hasAskedAll: true },
    ]);
  });

  it('fails if a partition rejects it', async () => {
    const { answers } = readOf([0, new DelayQueueError('STORE_REFUSED', 'WRONGTYPE'), 0]);
    await expect(answers).rejects.toMatchObject({ code: 'STORE_REFUSED' });
  });
});

it('a read spends at most 50 ms checking for changed partitions if partition 0 does not respond', async () => {
  const clock = new ManualClock();
  const partitions = new (class extends FixedPartitions {
    override reachOf(partition?: number): Reach {
      return partition === 0 ? 'silent' : 'ready';
    }
    override read(): PatientReading {
      return new PatientReading(this.stores, { clock, reachOf: (partition) => this.reachOf(partition) });
    }
    override refresh(): Promise<never> {
      return new Promise(() => undefined);
    }
  })([0, 1].map(() => new MemoryMessageStore({ limits: LIMITS, clock })));
  const router = new PartitionRouter(partitions, stickyIds());
  const answer = router.read((reading) =>
    reading.all((store) => store.status()).then((all) => ({ count: all.length })),
  );
  let isAnswered = false;
  void answer.then(() => (isAnswered = true));
  await clock.advance(49);
  expect(isAnswered).toBe(false);
  await clock.advance(1);
  expect(await answer).toEqual({ count: 2 });
});
