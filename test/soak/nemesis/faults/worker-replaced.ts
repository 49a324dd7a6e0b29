import type { Fault } from '../fault.js';

/** A deployment in the usual order: a new process starts, then the old one gets SIGTERM. */
export const workerReplaced: Fault = {
  kind: 'worker replaced',
  of: 'process',
  costsLeases: false,
  strike: async ({ fleet, open }, random) => {
    await fleet.withOne(
      random,
      ({ role, veteran }) => role === 'worker' && !veteran,
      async (berth) => {
        const old = berth.process;
        const close = open([old.index], `SIGTERM to worker ${old.index} after a new one started`);
        await fleet.replace(berth);
        await old.kill('SIGTERM');
        close();
      },
    );
  },
};
