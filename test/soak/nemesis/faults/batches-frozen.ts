import { LEASE } from '../../workload/message-plan.js';
import type { Fault } from '../fault.js';

const TIMES = 3;
/** The time for which it may go on in between, ms: long enough to claim, short enough that batches are waiting when it is frozen again. */
const AWAKE = 60;

/** A worker frozen several times in a row, each time while messages wait for their batch, and for longer than their leases. */
export const batchesFrozen: Fault = {
  kind: 'batches frozen',
  of: 'process',
  costsLeases: true,
  strike: async ({ fleet, open, wait }, random) => {
    await fleet.withOne(
      random,
      ({ role }) => role === 'worker',
      async ({ process }) => {
        const close = open([process.index], `SIGSTOP to worker ${process.index}, ${TIMES} times for a lease`);
        for (let time = 0; time < TIMES; time++) {
          process.freeze();
          await wait(LEASE + random.int(300, 1000));
          process.thaw();
          await wait(random.int(1, AWAKE));
        }
        close();
      },
    );
  },
};
