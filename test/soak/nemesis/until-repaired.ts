import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../support/until.js';
import type { Random } from '../random.js';
import type { FaultContext } from './fault.js';

/** The time for which the administrator waits for a repair by itself before restarting workers, ms. */
const MAX_PATIENCE = 8000;

/** The time that a started worker has for the repair before another one is started, ms. */
const REPAIR_TIME = 3000;

/** The number of workers that the administrator starts before giving up. */
const MAX_STARTS = 10;

const POLL_INTERVAL = 100;

/** Restarts a worker, unless a queue is repaired before by itself: every worker repairs its queues at its start and every five minutes. */
export async function untilRepaired(
  context: FaultContext,
  random: Random,
  isRepaired: () => Promise<boolean>,
): Promise<void> {
  let isPatient = true;
  void context.wait(random.int(0, MAX_PATIENCE)).then(() => (isPatient = false));
  while (isPatient && !(await isRepaired())) await sleep(POLL_INTERVAL);
  for (let starts = 0; starts < MAX_STARTS && !(await isRepaired()); starts++) {
    await restartWorker(context, random);
    await until(isRepaired, { within: REPAIR_TIME, every: POLL_INTERVAL }).catch(() => undefined);
  }
}

async function restartWorker({ fleet }: FaultContext, random: Random): Promise<void> {
  await fleet.withOne(
    random,
    ({ role, veteran }) => role === 'worker' && !veteran,
    async (berth) => {
      const old = berth.process;
      await fleet.replace(berth);
      await old.kill('SIGTERM');
    },
  );
}
