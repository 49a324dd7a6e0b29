import type { Fault } from '../fault.js';

/** In order, as a deployment does it: a new process starts, and the old one gets SIGTERM. */
export const workerReplaced: Fault = {
  kind: 'worker replaced',
  of: 'process',
  strike: async ({ fleet, log }, random) => {
    await fleet.withOne(
      random,
      ({ role, veteran }) => role === 'worker' && !veteran,
      async (berth) => {
        const old = berth.process;
        const close = log.open(
          'worker replaced',
          [old.index],
          `SIGTERM to worker ${old.index} after a new one started`,
        );
        await fleet.replace(berth);
        await old.kill('SIGTERM');
        close();
      },
    );
  },
};
