import { NestFactory } from '@nestjs/core';
import { setTimeout as sleep } from 'node:timers/promises';
import { DelayQueueModule, DelayQueueProducer } from '../../../../lib/index.js';
import { hasCode } from '../../../../lib/message/failure.js';
import { startRedis } from '../../../support/redis/start-redis.js';
import type { Berth } from '../../processes/fleet.js';
import type { Fault } from '../fault.js';

/** More partitions than these would prove nothing more. */
const MAX_PARTITIONS = 16;

/** How soon a process that another fault uses is tried again, ms. */
const PAUSE = 100;

/**
 * A rolling deployment of workers with twice as many partitions. The veterans and the producers learn of it while they run. Once
 * there are enough partitions, nothing happens any more.
 */
export const grown: Fault = {
  kind: 'grown',
  of: 'process',
  costsLeases: false,
  maxPartitions: MAX_PARTITIONS,
  isPossible: canGrow,
  strike: async ({ fleet, open }, random) => {
    if (fleet.partitions >= MAX_PARTITIONS) return;
    fleet.growTo(2 * fleet.partitions);
    const close = open('all', `a rolling deployment of workers with ${fleet.partitions} partitions`);
    const isOutdated = ({ role, veteran, process }: Berth) =>
      role === 'worker' && !veteran && process.settings.partitions < fleet.partitions;
    while (fleet.berths.some(isOutdated)) {
      await fleet.withOne(random, isOutdated, async (berth) => {
        const old = berth.process;
        await fleet.replace(berth);
        await old.kill('SIGTERM');
      });
      await sleep(PAUSE);
    }
    close();
  },
};

class Prober {}

/** True if a process can start with more partitions than a queue has that is not empty. */
async function canGrow(): Promise<boolean> {
  const redis = await startRedis();
  try {
    for (const partitions of [1, 2]) await offerTo(redis.url, partitions);
    return true;
  } catch (error) {
    if (hasCode(error, 'INVALID_OPTION')) return false;
    throw error;
  } finally {
    await redis.stop();
  }
}

async function offerTo(connection: string, partitions: number): Promise<void> {
  const options = { connection, consume: false, queues: { probe: { partitions } } };
  const app = await NestFactory.createApplicationContext(
    { module: Prober, imports: [DelayQueueModule.forRoot(options)] },
    { logger: false, abortOnError: false },
  );
  try {
    await app.get(DelayQueueProducer, { strict: false }).offer('probe', null, '1h');
  } finally {
    await app.close();
  }
}
