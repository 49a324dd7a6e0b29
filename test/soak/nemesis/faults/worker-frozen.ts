import { LEASE } from '../../workload/message-plan.js';
import type { Fault } from '../fault.js';

/** Frozen for longer than its lease: others take over, and what it settles afterwards must be refused. */
export const workerFrozen: Fault = {
  kind: 'worker frozen',
  of: 'process',
  costsLeases: true,
  strike: async ({ fleet, open, wait }, random) => {
    const length = LEASE + random.int(300, 2000);
    await fleet.withOne(
      random,
      ({ role }) => role === 'worker',
      async ({ process }) => {
        const close = open([process.index], `SIGSTOP to worker ${process.index} for ${length} ms`);
        process.freeze();
        await wait(length);
        process.thaw();
        close();
      },
    );
  },
};
